#include "client/arguments.h"

#include <fstream>
#include <iostream>
#include <sstream>

#include "common/json.h"
#include "common/text.h"

namespace sessiond {
namespace {

Error usage(std::string message) { return Error(ErrorCode::usage, std::move(message)); }

std::string_view text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

const json::object* find_parameter(const json::object& method, std::string_view name,
                                   std::vector<std::string_view>& known) {
  const json::value* params = method.if_contains("params");
  if (params == nullptr || !params->is_array()) return nullptr;
  for (const json::value& param : params->get_array()) {
    if (!param.is_object()) continue;
    if (text_of(param.get_object(), "name") == name) return &param.get_object();
    known.push_back(text_of(param.get_object(), "name"));
  }
  return nullptr;
}

Result<std::string> read_input(const std::string& file) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
    return std::move(text).str();
  }
  std::ifstream in(file, std::ios::binary);
  in.peek();  // a directory can be opened, but not read
  if (!in.is_open() || in.bad()) return usage("cannot read " + quoted(file));
  text << in.rdbuf();
  return std::move(text).str();
}

json::array split_list(std::string_view text) {
  json::array items;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    items.emplace_back(trim(text.substr(0, comma)));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return items;
}

// What the schema's type makes of `text`. A text that does not fit is sent as a string: the daemon says why.
Result<json::value> typed(const json::object& parameter, const std::string& text) {
  const json::value* schema = parameter.if_contains("schema");
  const std::string_view type =
      schema != nullptr && schema->is_object() ? text_of(schema->get_object(), "type") : "";
  if (type == "string") return json::value(text);
  if (type == "array" && !text.starts_with('[')) return json::value(split_list(text));
  Result<json::value> parsed = parse_json(text);
  if (parsed) return std::move(*parsed);
  if (type == "object" || type == "array") return usage("expected JSON, got " + quoted(text));
  return json::value(text);
}

Result<json::value> value_of(const json::object& parameter, std::string_view text) {
  if (text.starts_with("@@")) return typed(parameter, std::string(text.substr(1)));
  if (!text.starts_with('@')) return typed(parameter, std::string(text));
  SESSIOND_ASSIGN(std::string content, read_input(std::string(text.substr(1))));
  return typed(parameter, content);
}

Status add_word(json::object& out, const json::object& method, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    return usage("expected name=value, name:=JSON or one JSON object, got " + quoted(word));
  const bool raw = word[equals - 1] == ':';
  const std::string name = word.substr(0, raw ? equals - 1 : equals);
  const std::string_view text = std::string_view(word).substr(equals + 1);
  std::vector<std::string_view> known;
  const json::object* parameter = find_parameter(method, name, known);
  if (parameter == nullptr) {
    const std::string list = known.empty() ? "it takes none" : "it takes " + join(known, ", ");
    return usage(std::string(text_of(method, "name")) + " has no parameter " + quoted(name) +
                 did_you_mean(name, known) + "; " + list);
  }
  if (out.contains(name)) return usage("parameter " + quoted(name) + " is given twice");
  Result<json::value> value = raw ? parse_json(text) : value_of(*parameter, text);
  if (!value) return usage(name + ": " + value.error().message);
  out[name] = std::move(*value);
  return {};
}

}  // namespace

Result<json::object> parse_arguments(const json::object& method, const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0].starts_with('{')) {
    SESSIOND_ASSIGN(json::value value, parse_json(words[0]));
    return std::move(value.get_object());
  }
  json::object out;
  for (const std::string& word : words) SESSIOND_TRY(add_word(out, method, word));
  return out;
}

}  // namespace sessiond
