// The OpenRPC document and the reference table, both made from the method list.
#pragma once

#include <boost/json.hpp>
#include <string>

namespace sessiond {

namespace json = boost::json;

// A valid OpenRPC 1.2.6 document.
json::object discover_document();

// The Markdown tables of PROTOCOL.md: methods, with parameters and results, and errors.
std::string protocol_tables();

}  // namespace sessiond
