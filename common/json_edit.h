// Reading and changing parts of JSON documents: typed members with defaults, JSON pointers (RFC 6901) and
// merge patches (RFC 7396). Nothing here throws; a member of another type counts as missing.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sessiond {

// The member, or nullptr when it is missing or null: documents say "not set" both ways.
const json::value* member(const json::object& object, std::string_view name);

std::string_view string_or(const json::object& object, std::string_view name, std::string_view otherwise);
std::int64_t int_or(const json::object& object, std::string_view name, std::int64_t otherwise);
bool bool_or(const json::object& object, std::string_view name, bool otherwise);

// A whole number that fits; 5.0 is not one.
std::optional<std::int64_t> whole_number(const json::value& value);
std::optional<std::int64_t> int_member(const json::object& object, std::string_view name);
std::optional<double> number_member(const json::object& object, std::string_view name);

const json::object* object_member(const json::object& object, std::string_view name);
const json::array* array_member(const json::object& object, std::string_view name);

// The member as an object or array to write to; made, or put in place of something else, when it is not one.
json::object& object_at(json::object& parent, std::string_view name);
json::array& array_at(json::object& parent, std::string_view name);

// "~" and "/" of a name as a pointer writes them.
std::string pointer_escaped(std::string_view name);
// `pointer` extended by one name: pointer_to("/a", "b/c") is "/a/b~1c".
std::string pointer_to(std::string_view pointer, std::string_view name);
// The part of `value` that `pointer` names. invalid_params for a malformed pointer, not_found otherwise; the
// message names the pointer. The value must outlive what is returned.
Result<const json::value*> pointer_get(const json::value& value, std::string_view pointer);

// Applies `patch`: null removes a member, an object merges, anything else replaces. The order of the members
// that stay is kept.
void merge_patch(json::value& target, const json::value& patch);

}  // namespace sessiond
