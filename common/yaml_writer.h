// JSON values as YAML text for people: block style, two spaces a level, every string in double quotes. What
// is written, parse_yaml reads back as the same value, and so does any reader of YAML 1.2: nothing depends on
// how a reader guesses the type of a plain word.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "common/error.h"

namespace sessiond {

// The whole text, with its last newline. Preconditions as for print_json: doubles are finite and strings
// valid UTF-8.
std::string to_yaml_text(const json::value& value);
std::string to_yaml_text(const json::object& object);  // without the copy that making a value costs

}  // namespace sessiond
