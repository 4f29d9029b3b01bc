#include "client/render.h"

#include <algorithm>

#include "common/json.h"
#include "common/text.h"
#include "common/utf8.h"

namespace sessiond {
namespace {

std::string_view text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

const json::array& list_of(const json::object& object, std::string_view name) {
  static const json::array none;
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

void append_padded(std::string& out, std::string_view text, std::size_t width) {
  out += text;
  const std::size_t shown = code_points(text);
  out.append(width > shown ? width - shown : 0, ' ');
}

void append_members(std::string& out, const json::object& object, std::size_t indent) {
  std::size_t width = 0;
  for (const auto& [name, value] : object) width = std::max(width, code_points(name));
  for (const auto& [name, value] : object) {
    out.append(indent, ' ');
    if (const json::object* nested = value.if_object(); nested != nullptr && !nested->empty()) {
      (out += name) += '\n';
      append_members(out, *nested, indent + 2);
      continue;
    }
    append_padded(out, name, width + 2);
    if (value.is_string())
      out += value.get_string();
    else
      print_json(out, value);
    out += '\n';
  }
}

// "string", "integer >= 1", "one of a, b", "array of strings".
std::string describe_type(const json::object& schema) {
  if (const json::array& values = list_of(schema, "enum"); !values.empty()) {
    std::string out = "one of ";
    for (const json::value& value : values) {
      if (out.size() > 7) out += ", ";
      out += value.is_string() ? std::string(value.get_string()) : to_json_text(value);
    }
    return out;
  }
  const std::string_view type = text_of(schema, "type");
  if (type.empty()) return "any JSON";
  if (type == "array") {
    const json::value* items = schema.if_contains("items");
    return items != nullptr && items->is_object() ? "array of " + describe_type(items->get_object())
                                                  : "array";
  }
  std::string out(type);
  if (const json::value* min = schema.if_contains("minimum")) out += " >= " + to_json_text(*min);
  if (const json::value* max = schema.if_contains("maximum")) out += " <= " + to_json_text(*max);
  if (const json::value* max = schema.if_contains("maxLength"))
    out += " of at most " + to_json_text(*max) + " characters";
  return out;
}

void append_parameter(std::string& out, const json::object& parameter, std::size_t width) {
  const json::value* required = parameter.if_contains("required");
  const bool needed = required != nullptr && required->is_bool() && required->get_bool();
  const json::value* schema = parameter.if_contains("schema");
  out += "  ";
  append_padded(out, text_of(parameter, "name"), width + 2);
  out += schema != nullptr && schema->is_object() ? describe_type(schema->get_object()) : "any JSON";
  out += needed ? ", required\n" : "\n";
  out.append(width + 4, ' ');
  (out += text_of(parameter, "description")) += '\n';
}

void append_result(std::string& out, const json::object& method) {
  const json::value* result = method.if_contains("result");
  if (result == nullptr || !result->is_object()) return;
  const json::value* schema = result->get_object().if_contains("schema");
  if (schema == nullptr || !schema->is_object()) return;
  const json::value* properties = schema->get_object().if_contains("properties");
  if (properties == nullptr || !properties->is_object()) return;
  out += "\nResult:\n";
  std::size_t width = 0;
  for (const auto& [name, property] : properties->get_object()) width = std::max(width, name.size());
  for (const auto& [name, property] : properties->get_object()) {
    out += "  ";
    append_padded(out, name, width + 2);
    if (property.is_object()) out += text_of(property.get_object(), "description");
    out += '\n';
  }
}

}  // namespace

// JSON escapes control characters below U+0020 only; the others can move a terminal's cursor just as well.
std::string render_json(const json::value& value) {
  std::string out;
  const std::string text = to_pretty_json(value);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    constexpr std::string_view digits = "0123456789abcdef";
    if (byte == 0x7F)
      out += "\\u007f";
    else if (byte == 0xC2 && next < 0xA0)
      ((out += "\\u00") += digits[next >> 4]) += digits[next & 15], ++i;
    else
      out += text[i];
  }
  return out;
}

std::string render_members(const json::object& object) {
  std::string out;
  append_members(out, object, 0);
  return out;
}

std::string render_error(const Error& error) {
  std::string out = "error: " + error.message + "\n";
  if (const std::string_view next = text_of(error.data, "next"); !next.empty()) (out += "next:  ") += next;
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

std::string render_method_list(const json::object& document) {
  std::string out;
  std::size_t width = 0;
  for (const json::value& method : list_of(document, "methods"))
    width = std::max(width, text_of(method.get_object(), "name").size());
  for (const json::value& method : list_of(document, "methods")) {
    append_padded(out, text_of(method.get_object(), "name"), width + 2);
    (out += text_of(method.get_object(), "summary")) += '\n';
  }
  return out;
}

std::string render_method(const json::object& method) {
  std::string out(text_of(method, "name"));
  ((out += ": ") += text_of(method, "summary")) += "\n\nParameters:\n";
  const json::array& params = list_of(method, "params");
  std::size_t width = 0;
  for (const json::value& parameter : params)
    width = std::max(width, text_of(parameter.get_object(), "name").size());
  for (const json::value& parameter : params) append_parameter(out, parameter.get_object(), width);
  if (params.empty()) out += "  none\n";
  append_result(out, method);
  return out;
}

}  // namespace sessiond
