// Errors as values. An ErrorCode names what went wrong; one table gives each code its JSON-RPC number, its
// name and text on the wire, and the exit status of the client. Only the dispatcher turns an Error into a
// reply.
#pragma once

#include <boost/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace sessiond {

namespace json = boost::json;

enum class ErrorCode {
  // JSON-RPC 2.0's own.
  parse_error,
  invalid_request,
  method_not_found,
  invalid_params,
  internal,
  // Limits and access.
  frame_too_large,
  limit_exceeded,
  access_denied,
  shutting_down,
  // Sessions.
  not_found,
  ambiguous,
  already_exists,
  revision_conflict,
  claimed,
  locked,
  refused,
  // Storage.
  damaged,
  storage_full,
  storage_error,
  outcome_unknown,
  read_only,
  unsupported,
  // Seen by a client only.
  no_daemon,
  usage,
};

struct ErrorInfo {
  ErrorCode code;
  int number;             // JSON-RPC error.code
  std::string_view name;  // error.data.error: stable, for programs
  std::string_view text;  // what it means, for PROTOCOL.md and discovery
  int exit_status;        // of sessiond-client
};

// The whole table, one row per code, in the order of the enum.
std::span<const ErrorInfo> error_table();
const ErrorInfo& error_info(ErrorCode code);
// The row with this JSON-RPC number, or the one of `internal`.
const ErrorInfo& error_info_by_number(std::int64_t number);

// `message` says what is wrong and where, in one sentence for a person. `data` holds facts for programs
// (field, file, revision ...) and, under `next`, what the caller can do.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  json::object data;

  Error(ErrorCode c, std::string m) : code(c), message(std::move(m)) {}
  Error(ErrorCode c, std::string m, json::object d) : code(c), message(std::move(m)), data(std::move(d)) {}

  template <class T>
  Error&& with(std::string_view key, T&& value) && {
    data[key] = json::value(std::forward<T>(value));
    return std::move(*this);
  }
  Error&& next(std::string_view what_to_do) && { return std::move(*this).with("next", what_to_do); }
};

}  // namespace sessiond
