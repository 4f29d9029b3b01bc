// A session at one revision. SessionState is a plain value that the strand works on; a Snapshot is what
// readers see: immutable, shared, published by the strand.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/json.h"
#include "daemon/kinds/kind.h"
#include "daemon/store/history_file.h"

namespace sessiond {

struct SessionState {
  Document document;
  std::int64_t revision = 0;
  std::int64_t seq = 0;                        // of the last line in the history
  std::int64_t base = 0;                       // seq of the last line with the whole document
  std::shared_ptr<const HistoryFile> history;  // null while there is none
  std::int64_t history_length = 0;             // bytes of it up to here
  TimePoint last_stamp;                        // the session's time never runs back behind this
  std::string last_activity;
  json::object meta;                  // what the history keeps beside the document
  std::vector<std::string> warnings;  // what every reply about the session repeats
  std::string read_only;              // not empty: why it cannot be changed
};

struct Snapshot : SessionState {
  Snapshot() = default;
  explicit Snapshot(SessionState state) : SessionState(std::move(state)) {}

  // The document as JSON text, made once, when somebody asks.
  const std::string& text() const {
    std::call_once(text_made_, [this] { print_json(text_, document); });
    return text_;
  }

 private:
  mutable std::once_flag text_made_;
  mutable std::string text_;
};

}  // namespace sessiond
