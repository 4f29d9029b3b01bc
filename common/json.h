// Strict, bounded, exact JSON. Boost.JSON holds the values; reading and printing go through here, because
// Boost 1.81 accepts duplicate names and infinities and changes one double in ten on a round trip.
//
// Exact means: what print_json writes, parse_json reads as the same value, and the other way round for every
// accepted text up to white space and the spelling of numbers (an integer stays an integer, 1.0 stays 1.0).
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sessiond {

// Refuses, with the byte where it stopped: anything that is not one JSON text, nesting over json_depth_max,
// invalid UTF-8, a name twice in one object, integers outside 64 bits and numbers that are not finite.
// `text` may be freed afterwards; the value's memory comes from `storage`.
Result<json::value> parse_json(std::string_view text, json::storage_ptr storage = {});

// Containers have overloads of their own, because making a json::value of one copies it.
//
// Appends the compact form. Precondition: every double is finite and every string valid UTF-8, which holds
// for all that parse_json returned.
void print_json(std::string& out, const json::value& value);
void print_json(std::string& out, const json::object& object);
void print_json(std::string& out, const json::array& array);
void print_json_string(std::string& out, std::string_view text);
void print_json_number(std::string& out, double number);
std::string to_json_text(const json::value& value);

// The form for people and files: two spaces of indentation, a space after a colon, short arrays of scalars on
// one line. Ends without a newline.
std::string to_pretty_json(const json::value& value);
std::string to_pretty_json(const json::object& object);

// A short single-line rendering for messages: `"six"`, `[1,2]`, shortened to `max` code points.
std::string brief(const json::value& value, std::size_t max = 60);

// "null", "a boolean", "a whole number", "a number", "a string", "an array" or "an object".
std::string_view type_name(const json::value& value);

}  // namespace sessiond
