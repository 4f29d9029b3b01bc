#include "daemon/rpc/history_page.h"

#include "common/json.h"
#include "common/text.h"
#include "daemon/store/history_line.h"

namespace sessiond {

bool HistoryPage::add(std::string& text, std::int64_t last) {
  const ReadLine read = read_history_line(text);
  if (read.state == LineState::ours) {
    if (read.line.seq > last) return false;
    if (!newest_ && lines_ >= limit_) {
      next_ = read.line.seq;
      return false;
    }
    begin_group(read.line.seq);
  } else if (groups_.empty()) {
    groups_.emplace_back();
  } else if (groups_.back().lines.size() > limit_) {
    // A tool that floods the file must not fill our memory.
    ++groups_.back().left_out;
    return true;
  }
  // A line that is damaged or foreign and no JSON at all is shown as a string.
  if (read.state == LineState::bad && !parse_json(text))
    text = to_json_text(json::value(printable(text, 1'000)));
  groups_.back().lines.push_back(std::move(text));
  ++lines_;
  if (newest_) drop_oldest();
  return true;
}

void HistoryPage::begin_group(std::int64_t seq) {
  if (groups_.empty() || groups_.back().seq != 0) groups_.emplace_back();
  groups_.back().seq = seq;
}

void HistoryPage::drop_oldest() {
  while (groups_.size() > 1 && lines_ - groups_.front().lines.size() >= limit_) {
    lines_ -= groups_.front().lines.size();
    next_ = groups_.front().seq;
    groups_.pop_front();
  }
}

std::vector<std::string> HistoryPage::take(std::optional<std::int64_t>& next) {
  std::vector<std::string> out;
  for (Group& group : groups_) {
    for (std::string& line : group.lines) out.push_back(std::move(line));
    if (group.left_out > 0)
      out.push_back(to_json_text(json::value("(" + std::to_string(group.left_out) +
                                             " more lines of other tools in history.jsonl)")));
  }
  next = next_;
  return out;
}

}  // namespace sessiond
