#include "common/json_edit.h"

#include <charconv>

#include "common/text.h"

namespace sessiond {
namespace {

// One reference token of a pointer, unescaped; nothing for "~" followed by anything but 0 or 1.
std::optional<std::string> unescaped(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
      continue;
    }
    if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    out += token[i] == '0' ? '~' : '/';
  }
  return out;
}

// An array index as RFC 6901 writes it: decimal digits without leading zeros.
std::optional<std::size_t> array_index(std::string_view token) {
  if (token.empty() || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  std::size_t index = 0;
  const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (status != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return index;
}

const json::value* child(const json::value& value, std::string_view token) {
  if (const json::object* object = value.if_object()) return object->if_contains(token);
  const json::array* array = value.if_array();
  const auto index = array_index(token);
  if (array == nullptr || !index || *index >= array->size()) return nullptr;
  return &(*array)[*index];
}

Error pointer_error(ErrorCode code, std::string_view pointer, std::string_view what) {
  return Error(code, "pointer " + quoted(pointer) + ": " + std::string(what)).with("pointer", pointer);
}

}  // namespace

const json::value* member(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string_view string_or(const json::object& object, std::string_view name, std::string_view otherwise) {
  const json::value* value = member(object, name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : otherwise;
}

std::int64_t int_or(const json::object& object, std::string_view name, std::int64_t otherwise) {
  return int_member(object, name).value_or(otherwise);
}

bool bool_or(const json::object& object, std::string_view name, bool otherwise) {
  const json::value* value = member(object, name);
  return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
}

std::optional<std::int64_t> whole_number(const json::value& value) {
  if (const auto* number = value.if_int64()) return *number;
  if (const auto* number = value.if_uint64(); number != nullptr && std::in_range<std::int64_t>(*number))
    return static_cast<std::int64_t>(*number);
  return std::nullopt;
}

std::optional<std::int64_t> int_member(const json::object& object, std::string_view name) {
  const json::value* value = member(object, name);
  return value == nullptr ? std::nullopt : whole_number(*value);
}

std::optional<double> number_member(const json::object& object, std::string_view name) {
  const json::value* value = member(object, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  if (value->is_double()) return value->get_double();
  if (value->is_uint64()) return static_cast<double>(value->get_uint64());
  return static_cast<double>(value->get_int64());
}

const json::object* object_member(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}

const json::array* array_member(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr ? nullptr : value->if_array();
}

json::object& object_at(json::object& parent, std::string_view name) {
  json::value& value = parent[name];
  return value.is_object() ? value.get_object() : value.emplace_object();
}

json::array& array_at(json::object& parent, std::string_view name) {
  json::value& value = parent[name];
  return value.is_array() ? value.get_array() : value.emplace_array();
}

std::string pointer_escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string pointer_to(std::string_view pointer, std::string_view name) {
  return std::string(pointer) + "/" + pointer_escaped(name);
}

Result<const json::value*> pointer_get(const json::value& value, std::string_view pointer) {
  const json::value* at = &value;
  std::string_view rest = pointer;
  while (!rest.empty()) {
    if (rest.front() != '/')
      return pointer_error(ErrorCode::invalid_params, pointer, "must be empty or start with '/'");
    rest.remove_prefix(1);
    const std::string_view token = rest.substr(0, rest.find('/'));
    rest.remove_prefix(token.size());
    const auto name = unescaped(token);
    if (!name) return pointer_error(ErrorCode::invalid_params, pointer, "'~' must be followed by '0' or '1'");
    at = child(*at, *name);
    if (at == nullptr)
      return pointer_error(ErrorCode::not_found, pointer, "there is no " + quoted(*name) + " at that place");
  }
  return at;
}

void merge_patch(json::value& target, const json::value& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  json::object& object = target.get_object();
  for (const auto& [name, value] : patch.get_object()) {
    if (value.is_null())
      object.stable_erase(name);  // erase() would move the last member into the gap
    else
      merge_patch(object[name], value);
  }
}

}  // namespace sessiond
