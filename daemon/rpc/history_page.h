// One page of session.history. Pages are found by the `seq` of our lines; a line of another tool has none, so
// it belongs to the line of ours before it (or to the first) and is on the same page, whatever the limit.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace sessiond {

class HistoryPage {
 public:
  // With `newest`, the last lines that are added stay, else the first.
  HistoryPage(std::size_t limit, bool newest) : limit_(limit), newest_(newest) {}

  // Lines in the order of the file. False when no more are wanted, because the page is full or the line is
  // behind `last`.
  bool add(std::string& text, std::int64_t last);

  // The lines as JSON texts, oldest first, and the seq that the next page begins with.
  std::vector<std::string> take(std::optional<std::int64_t>& next);

 private:
  struct Group {
    std::int64_t seq = 0;  // of our line; 0: not seen yet
    std::vector<std::string> lines;
    std::size_t left_out = 0;
  };
  void begin_group(std::int64_t seq);
  void drop_oldest();

  std::size_t limit_;
  bool newest_;
  std::deque<Group> groups_;
  std::size_t lines_ = 0;
  std::optional<std::int64_t> next_;
};

}  // namespace sessiond
