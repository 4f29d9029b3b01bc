// Turns `name=value ...` of a command line into a method's parameters, by the types in its OpenRPC
// description.
//
//   name=text     as the parameter's type says: a number, true or false, a list (a,b,c), an object (JSON)
//                 or text
//   name:=JSON    exactly this JSON
//   name=@FILE    the file's content as text; @- is standard input; @@ at the start means a plain @
//   {...}         all parameters as one JSON object, alone
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "common/result.h"

namespace sessiond {

// `method` is one entry of "methods" of an OpenRPC document. Unknown names are refused here with the nearest
// one; everything else is checked by the daemon.
Result<json::object> parse_arguments(const json::object& method, const std::vector<std::string>& words);

}  // namespace sessiond
