// JSON-RPC 2.0 messages: what a frame holds, and how replies are spelled. No I/O.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/result.h"

namespace sessiond {

// One request as it stands in its frame; the views are valid while the parsed frame is.
struct Call {
  const json::value* id = nullptr;  // null for a notification; a JSON null is an id like any other
  std::string_view method;
  const json::value* params = nullptr;
  bool notification() const { return id == nullptr; }
};

// Checks one member of a batch, or a frame that is no batch. On an error, `id` (when it could be read) is
// where the reply goes; otherwise the reply carries a null id, as the specification asks.
struct CallError {
  Error error;
  const json::value* id = nullptr;
};
std::variant<Call, CallError> read_call(const json::value& message);

// An empty batch or one that is too long is refused as a whole.
Status check_batch(const json::array& batch);

// Appends {"jsonrpc":"2.0","id":...,"result": up to where the result's text goes; close with end_reply().
void begin_result(std::string& out, const json::value* id);
void end_reply(std::string& out);
// Appends a whole error reply; `data.error` is the name of the code, the rest of `data` comes from the error.
void write_error(std::string& out, const json::value* id, const Error& error);
void write_notification(std::string& out, std::string_view method, std::string_view params_text);
// Appends a request, for clients.
void write_request(std::string& out, std::int64_t id, std::string_view method, std::string_view params_text);

}  // namespace sessiond
