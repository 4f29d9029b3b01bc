// What people see: results as aligned lines, errors with what to do next, methods as help pages.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "common/error.h"

namespace sessiond {

// Indented JSON that is safe on a terminal and still the same JSON.
std::string render_json(const json::value& value);

// Members as "name  value" lines, nested objects indented below their name.
std::string render_members(const json::object& object);

// "error: ..." and, when the error knows it, "next: ...".
std::string render_error(const Error& error);

// One line per method of an OpenRPC document.
std::string render_method_list(const json::object& document);

// The help page of one method of an OpenRPC document.
std::string render_method(const json::object& method);

}  // namespace sessiond
