// history.jsonl: append-only, the truth about a session. Appending and syncing belong to the session's
// strand; reading old lines may happen on any thread, because lines never change.
//
// The end of the file is enough to load a session: its last line says what the session is, and `base` in it
// names the line with the whole document from which the changes lead to now. A line in the middle is found by
// bisection, so the length of a history does not matter.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/env.h"
#include "daemon/store/history_line.h"

namespace sessiond {

// Bytes of one line: the largest document, twice, and room for the rest.
inline constexpr std::size_t history_line_bytes_max = 64UL * 1024 * 1024;
// A whole document at least every so many lines, so that this many changes are the most to apply.
inline constexpr std::int64_t snapshot_interval = 256;

// What the end of a history says.
struct HistoryTail {
  std::optional<HistoryLine> last;       // none: no line of ours
  std::optional<json::object> document;  // after the last line
  std::vector<HistoryLine> recent;       // from the base on, oldest first
  std::int64_t good_length = 0;          // where the next line goes
  bool needs_newline = false;            // the last line is whole but not terminated
  std::string torn;                      // bytes behind good_length that belong to no finished write
  std::string damage;  // not empty: what is wrong before good_length; the file must not be changed
  std::int64_t foreign_lines = 0;  // seen on the way
};

class HistoryFile {
 public:
  HistoryFile(Env& env, Open file) : env_(&env), file_(std::move(file)) {}

  Handle handle() const { return file_.get(); }
  Result<HistoryTail> read_tail() const;

  // The newest line of ours, without looking at what lies before it; none when there is none.
  Result<std::optional<HistoryLine>> last_line() const;

  // The document and line of this revision, or not_found. `length` bounds what is looked at.
  struct AtRevision {
    HistoryLine line;
    json::object document;
  };
  Result<AtRevision> at_revision(std::int64_t revision, std::int64_t length) const;

  // Gives lines as they stand, foreign and bad ones included, to `visit` until it returns false: from the
  // first of ours with seq >= `from` on, or from the start of the file when `from` is 0.
  Status each_line(std::int64_t from, std::int64_t length,
                   const std::function<bool(std::string& text)>& visit) const;
  // The same, at most `limit` of them.
  Result<std::vector<std::string>> lines_from(std::int64_t from, std::size_t limit,
                                              std::int64_t length) const;

  // Whether any line recorded this hash for the state file `name`. Reads backwards, all of it if need be.
  Result<bool> recorded(const std::string& name, const std::string& hash, std::int64_t length) const;

 private:
  struct Located {
    std::int64_t offset = 0;
    std::int64_t next = 0;  // offset of the following line
    HistoryLine line;
  };
  // The line that starts at `offset`, without its newline; none at `length`.
  Result<std::optional<std::string>> line_at(std::int64_t offset, std::int64_t length) const;
  // The first line of ours that starts at or after the first line boundary >= `offset`.
  Result<std::optional<Located>> ours_from(std::int64_t offset, std::int64_t length, bool at_boundary) const;
  // The first line of ours for which `key` is >= `wanted`; keys never fall along the file.
  template <class Key>
  Result<std::optional<Located>> bisect(Key key, std::int64_t wanted, std::int64_t length) const;

  Env* env_;
  Open file_;
};

}  // namespace sessiond
