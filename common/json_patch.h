// RFC 6902 patches: the changes between two values, and applying them.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sessiond {

// The operations (add, remove, replace) that turn `from` into `to`. Deterministic; an array that grew or
// shrank in one place gives only the items of that place.
json::array json_diff(const json::value& from, const json::value& to);
json::array json_diff(const json::object& from, const json::object& to);

// Applies operations made by json_diff, or any RFC 6902 patch of add, remove, replace and test. On an error
// the value is left half changed: apply to a copy.
Status apply_json_patch(json::value& value, const json::array& operations);
// The same for a value that is an object before and after.
Status apply_json_patch(json::object& object, const json::array& operations);

}  // namespace sessiond
