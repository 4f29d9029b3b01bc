#include "daemon/store/history_file.h"

#include "common/json_patch.h"

namespace sessiond {
namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;

Error damaged(std::string what) { return Error(ErrorCode::damaged, "history.jsonl: " + std::move(what)); }

// Gives the lines of a file from its end to its start.
class BackwardLines {
 public:
  BackwardLines(Env& env, Handle file, std::int64_t length) : env_(env), file_(file), start_(length) {}

  struct Line {
    std::int64_t offset = 0;
    std::string text;
    bool terminated = true;
  };

  // None when the start of the file is reached.
  Result<std::optional<Line>> previous() {
    std::optional<Line> none;
    bool terminated = false;
    if (first_) {
      first_ = false;
      SESSIOND_TRY(load());
      terminated = buffer_.ends_with('\n');
    } else {
      terminated = true;
    }
    if (start_ == 0 && buffer_.empty()) return none;
    if (terminated) buffer_.pop_back();
    std::size_t searched = 0;
    for (;;) {
      const std::size_t end = buffer_.size() - searched;
      const std::size_t newline = end == 0 ? std::string::npos : buffer_.rfind('\n', end - 1);
      if (newline != std::string::npos) return cut(newline + 1, terminated);
      if (start_ == 0) return cut(0, terminated);
      if (buffer_.size() > history_line_bytes_max)
        return damaged("a line is longer than any that is written");
      searched = buffer_.size();
      SESSIOND_TRY(load());
    }
  }

 private:
  std::optional<Line> cut(std::size_t from, bool terminated) {
    Line line{start_ + static_cast<std::int64_t>(from), buffer_.substr(from), terminated};
    buffer_.resize(from);
    return line;
  }

  // One more chunk in front of the buffer.
  Status load() {
    const std::int64_t size = std::min<std::int64_t>(start_, static_cast<std::int64_t>(chunk_bytes));
    SESSIOND_ASSIGN(const std::string chunk, env_.read(file_, start_ - size, static_cast<std::size_t>(size)));
    if (static_cast<std::int64_t>(chunk.size()) != size)
      return damaged("it became shorter while it was read");
    buffer_.insert(0, chunk);
    start_ -= size;
    return {};
  }

  Env& env_;
  Handle file_;
  std::int64_t start_;  // offset of buffer_ in the file
  std::string buffer_;
  bool first_ = true;
};

// Collects lines from the end until the base of the last one, and decides what is torn and what is damage.
// The last write is read to its start even when the base lies inside it: a line before the base may be torn.
class TailReader {
 public:
  TailReader(Env& env, Handle file, std::int64_t length) : lines_(env, file, length) {
    tail_.good_length = length;
  }

  Result<HistoryTail> read() {
    for (;;) {
      SESSIOND_ASSIGN(std::optional<BackwardLines::Line> line, lines_.previous());
      if (!line) break;
      const std::int64_t offset = line->offset;
      take(*line);
      if (from_base_ > 0 && offset <= backwards_.front().batch_at) break;
    }
    finish();
    return std::move(tail_);
  }

 private:
  void take(BackwardLines::Line& line) {
    ReadLine read = read_history_line(line.text);
    if (read.state == LineState::bad) return take_bad_end(line, read.why);
    if (!line.terminated) tail_.needs_newline = true;
    if (read.state == LineState::foreign) {
      ++tail_.foreign_lines;
      return;
    }
    if (!backwards_.empty() && backwards_.back().seq != read.line.seq + 1) return take_gap(line, read.line);
    keep(std::move(read.line));
  }

  void keep(HistoryLine line) {
    backwards_.push_back(std::move(line));
    if (backwards_.back().document && backwards_.back().seq == backwards_.front().base)
      from_base_ = backwards_.size();
  }

  // A write behind a line without a newline begins with that newline. If its block was never written, zeros
  // stand there, and the line before them is whole all the same.
  void take_bad_end(BackwardLines::Line& line, std::string_view why) {
    const std::size_t zeros = line.text.find('\0');
    if (zeros == std::string::npos || zeros == 0 ||
        read_history_line(std::string_view(line.text).substr(0, zeros)).state == LineState::bad)
      return take_bad(line, why);
    take_bad({line.offset + static_cast<std::int64_t>(zeros), "", true}, why);
    line.text.resize(zeros);
    line.terminated = false;
    take(line);
  }

  // Whatever was written together with a torn line was never acknowledged: one sync serves a whole write.
  void take_bad(const BackwardLines::Line& line, std::string_view why) {
    for (const HistoryLine& later : backwards_) {
      if (later.batch_at <= line.offset) continue;
      if (tail_.damage.empty())
        tail_.damage = "a bad line at byte " + std::to_string(line.offset) + ": " + std::string(why);
      break;
    }
    forget_from(line.offset);
  }

  void take_gap(const BackwardLines::Line& line, HistoryLine& earlier) {
    tail_.damage = "line " + std::to_string(earlier.seq) + " is followed by line " +
                   std::to_string(backwards_.back().seq);
    forget_from(line.offset + static_cast<std::int64_t>(line.text.size()) + 1);
    keep(std::move(earlier));
  }

  void forget_from(std::int64_t offset) {
    backwards_.clear();
    from_base_ = 0;
    tail_.good_length = offset;
    tail_.needs_newline = false;
  }

  void finish() {
    if (backwards_.empty()) return;
    if (from_base_ == 0 && tail_.damage.empty()) tail_.damage = "the line with the whole document is missing";
    if (from_base_ == 0) return;
    backwards_.resize(from_base_);
    tail_.recent.assign(std::make_move_iterator(backwards_.rbegin()),
                        std::make_move_iterator(backwards_.rend()));
    json::value document = *tail_.recent.front().document;
    for (std::size_t i = 1; i < tail_.recent.size(); ++i) {
      if (Status applied = apply_json_patch(document, tail_.recent[i].changes); !applied) {
        tail_.damage =
            "line " + std::to_string(tail_.recent[i].seq) + " does not fit: " + applied.error().message;
        return;
      }
    }
    tail_.last = tail_.recent.back();
    tail_.document = std::move(document.as_object());
  }

  BackwardLines lines_;
  HistoryTail tail_;
  std::vector<HistoryLine> backwards_;  // newest first
  std::size_t from_base_ = 0;  // so many of them lead to the document; 0: the base is not reached yet
};

}  // namespace

Result<HistoryTail> HistoryFile::read_tail() const {
  SESSIOND_ASSIGN(const FileInfo info, env_->info(file_.get()));
  TailReader reader(*env_, file_.get(), info.size);
  SESSIOND_ASSIGN(HistoryTail tail, reader.read());
  if (tail.good_length < info.size && tail.damage.empty()) {
    const auto size = std::min<std::int64_t>(info.size - tail.good_length, history_line_bytes_max);
    SESSIOND_ASSIGN(tail.torn, env_->read(file_.get(), tail.good_length, static_cast<std::size_t>(size)));
  }
  return tail;
}

Result<std::optional<HistoryLine>> HistoryFile::last_line() const {
  SESSIOND_ASSIGN(const FileInfo info, env_->info(file_.get()));
  BackwardLines lines(*env_, file_.get(), info.size);
  for (;;) {
    SESSIOND_ASSIGN(const std::optional<BackwardLines::Line> line, lines.previous());
    if (!line) return std::optional<HistoryLine>();
    ReadLine read = read_history_line(line->text);
    if (read.state == LineState::ours) return std::optional<HistoryLine>(std::move(read.line));
  }
}

Result<bool> HistoryFile::recorded(const std::string& name, const std::string& hash,
                                   std::int64_t length) const {
  BackwardLines lines(*env_, file_.get(), length);
  for (;;) {
    SESSIOND_ASSIGN(const std::optional<BackwardLines::Line> line, lines.previous());
    if (!line) return false;
    if (line->text.find(hash) == std::string::npos) continue;  // spares parsing what cannot match
    const ReadLine read = read_history_line(line->text);
    if (read.state != LineState::ours) continue;
    if (const auto found = read.line.files.find(name);
        found != read.line.files.end() && found->second == hash)
      return true;
  }
}

Result<std::optional<std::string>> HistoryFile::line_at(std::int64_t offset, std::int64_t length) const {
  if (offset >= length) return std::optional<std::string>();
  std::string text;
  std::size_t want = 4 * 1024;
  for (;;) {
    const std::int64_t at = offset + static_cast<std::int64_t>(text.size());
    const auto size = std::min<std::int64_t>(static_cast<std::int64_t>(want), length - at);
    if (size <= 0) return std::optional<std::string>(std::move(text));
    SESSIOND_ASSIGN(const std::string part, env_->read(file_.get(), at, static_cast<std::size_t>(size)));
    if (part.empty()) return damaged("it became shorter while it was read");
    const std::size_t newline = part.find('\n');
    text.append(part, 0, newline);
    if (newline != std::string::npos) return std::optional<std::string>(std::move(text));
    if (text.size() > history_line_bytes_max) return damaged("a line is longer than any that is written");
    want = chunk_bytes;
  }
}

Result<std::optional<HistoryFile::Located>> HistoryFile::ours_from(std::int64_t offset, std::int64_t length,
                                                                   bool at_boundary) const {
  if (!at_boundary && offset > 0) {
    SESSIOND_ASSIGN(const auto partial, line_at(offset - 1, length));
    if (!partial) return std::optional<Located>();
    offset += static_cast<std::int64_t>(partial->size());
  }
  for (;;) {
    SESSIOND_ASSIGN(const auto text, line_at(offset, length));
    if (!text) return std::optional<Located>();
    const std::int64_t next = offset + static_cast<std::int64_t>(text->size()) + 1;
    ReadLine read = read_history_line(*text);
    if (read.state == LineState::ours) return std::optional<Located>({offset, next, std::move(read.line)});
    offset = next;
  }
}

template <class Key>
Result<std::optional<HistoryFile::Located>> HistoryFile::bisect(Key key, std::int64_t wanted,
                                                                std::int64_t length) const {
  std::int64_t low = 0;        // every line of ours before `low` has a smaller key
  std::int64_t high = length;  // the first line at or after `high` has a key >= wanted, or there is none
  std::optional<Located> found;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    SESSIOND_ASSIGN(std::optional<Located> at, ours_from(middle, length, false));
    if (at && at->offset < high && key(at->line) < wanted) {
      low = at->next;
      continue;
    }
    if (at && key(at->line) >= wanted) found = std::move(at);
    high = middle;
  }
  if (!found) {
    SESSIOND_ASSIGN(found, ours_from(low, length, true));
    if (found && key(found->line) < wanted) found.reset();
  }
  return found;
}

Result<HistoryFile::AtRevision> HistoryFile::at_revision(std::int64_t revision, std::int64_t length) const {
  SESSIOND_ASSIGN(std::optional<Located> target,
                  bisect([](const HistoryLine& line) { return line.revision; }, revision, length));
  if (!target || target->line.revision != revision)
    return Error(ErrorCode::not_found, "there is no revision " + std::to_string(revision))
        .with("revision", revision);
  SESSIOND_ASSIGN(std::optional<Located> at,
                  bisect([](const HistoryLine& line) { return line.seq; }, target->line.base, length));
  if (!at || at->line.seq != target->line.base || !at->line.document)
    return damaged("the whole document before revision " + std::to_string(revision) + " is missing");
  json::value document = std::move(*at->line.document);
  while (at->line.seq < target->line.seq) {
    const std::int64_t seq = at->line.seq;
    SESSIOND_ASSIGN(at, ours_from(at->next, length, true));
    if (!at || at->line.seq != seq + 1) return damaged("line " + std::to_string(seq + 1) + " is missing");
    SESSIOND_TRY(apply_json_patch(document, at->line.changes));
  }
  return AtRevision{std::move(target->line), std::move(document.as_object())};
}

Status HistoryFile::each_line(std::int64_t from, std::int64_t length,
                              const std::function<bool(std::string& text)>& visit) const {
  std::int64_t offset = 0;
  if (from > 0) {
    SESSIOND_ASSIGN(const std::optional<Located> at,
                    bisect([](const HistoryLine& line) { return line.seq; }, from, length));
    if (!at) return {};
    offset = at->offset;
  }
  for (;;) {
    SESSIOND_ASSIGN(std::optional<std::string> text, line_at(offset, length));
    if (!text) return {};
    offset += static_cast<std::int64_t>(text->size()) + 1;
    if (!text->empty() && !visit(*text)) return {};
  }
}

Result<std::vector<std::string>> HistoryFile::lines_from(std::int64_t from, std::size_t limit,
                                                         std::int64_t length) const {
  std::vector<std::string> out;
  if (limit == 0) return out;
  SESSIOND_TRY(each_line(from, length, [&](std::string& text) {
    out.push_back(std::move(text));
    return out.size() < limit;
  }));
  return out;
}

}  // namespace sessiond
