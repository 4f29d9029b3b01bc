// Results as text, so that a table of a test can state them and a failure shows them.
#pragma once

#include <string>

#include "common/json.h"
#include "common/result.h"

namespace sessiond {

// The message of the error, or "(accepted)".
template <class T>
std::string refusal(const Result<T>& result) {
  return result.ok() ? "(accepted)" : result.error().message;
}

// The value as JSON, or "error: " and the message.
inline std::string outcome(const Result<json::value>& result) {
  return result.ok() ? to_json_text(*result) : "error: " + result.error().message;
}

}  // namespace sessiond
