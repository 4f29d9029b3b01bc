// One line of history.jsonl: how it is spelled, and how it is read back. No I/O.
//
// A line is one JSON object. The binding contract's members come first (timestamp, command, arguments, model,
// agent, task_id, status, duration_ms, error), then ours, and last `crc`, the CRC-32C of every byte before
// it. A line without `seq` and `crc` is foreign: written by another tool, kept and skipped.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sessiond {

struct HistoryLine {
  // The contract's.
  std::string timestamp;
  std::string command;
  json::value arguments;
  std::optional<std::string> model;
  std::optional<std::string> agent;
  std::optional<std::string> task_id;
  bool success = true;
  std::int64_t duration_ms = 0;
  std::optional<std::string> error;
  // Ours.
  std::int64_t seq = 0;       // 1, 2, 3 ... of our lines in this file
  std::int64_t revision = 0;  // of the session after this line
  std::int64_t base = 0;      // seq of the newest line up to this one that carries the whole document
  std::int64_t batch_at = 0;  // offset in the file of the first line of the write that this line was part of
  json::array changes;        // RFC 6902, from the document before to the one after
  std::map<std::string, std::string> files;  // hash of each state file's new bytes
  json::array artifacts;                     // changes of artifact files that belong to this commit
  json::object meta;                         // what the session is after the line, beside the document
  std::optional<std::string> idempotency_key;
  std::optional<std::string> reply;  // JSON text, kept when there is a key
  std::optional<json::object> document;
};

// The line with its checksum and newline.
std::string build_history_line(const HistoryLine& line);

enum class LineState { ours, foreign, bad };
struct ReadLine {
  LineState state = LineState::bad;
  HistoryLine line;      // when ours
  json::value foreign;   // when foreign
  std::string_view why;  // when bad
};
// `text` without its newline. The values' memory comes from `storage`, which must outlive the result.
ReadLine read_history_line(std::string_view text, json::storage_ptr storage = {});

}  // namespace sessiond
