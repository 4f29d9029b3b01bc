#include "proto/describe.h"

#include <cmath>

#include "common/text.h"
#include "common/utf8.h"

namespace sessiond {
namespace {

constexpr auto no_max = std::numeric_limits<std::int64_t>::max();
constexpr auto no_min = std::numeric_limits<std::int64_t>::min();
constexpr auto no_length = std::numeric_limits<std::size_t>::max();

std::string range_text(const Rules& rules) {
  if (rules.min != no_min && rules.max != no_max)
    return " from " + std::to_string(rules.min) + " to " + std::to_string(rules.max);
  if (rules.min != no_min) return " >= " + std::to_string(rules.min);
  if (rules.max != no_max) return " <= " + std::to_string(rules.max);
  return "";
}

std::string length_text(const Rules& rules, std::string_view unit) {
  if (rules.length_max == no_length)
    return "at least " + std::to_string(rules.length_min) + " " + std::string(unit);
  return std::to_string(rules.length_min) + " to " + std::to_string(rules.length_max) + " " +
         std::string(unit);
}

const Field* find_field(std::span<const Target> targets, std::string_view name) {
  for (const Target& target : targets)
    for (const Field& field : target.fields)
      if (field.name == name) return &field;
  return nullptr;
}

Error unknown_member(std::span<const Target> targets, std::string_view name, const Where& where) {
  std::vector<std::string_view> known;
  for (const Target& target : targets)
    for (const Field& field : target.fields) known.push_back(field.name);
  const Where at{&where, name};
  std::string message = at.text() + ": not a known name" + did_you_mean(name, known);
  if (known.empty())
    message += "; none are taken here";
  else if (!nearest(name, known))
    message += "; known are " + join(known, ", ");
  return Error(ErrorCode::invalid_params, message).with("field", at.text());
}

Error missing_member(const Field& field, const Where& where) {
  const Where at{&where, field.name};
  return Error(ErrorCode::invalid_params,
               at.text() + ": required but missing (" + std::string(field.about) + ")")
      .with("field", at.text());
}

}  // namespace

std::string Where::text() const {
  if (parent == nullptr) return std::string(name);
  const std::string before = parent->text();
  if (name.data() == nullptr) return before + "[" + std::to_string(index) + "]";
  return before + (before.empty() ? "" : ".") + (name.empty() ? quoted(name) : printable(name, 64));
}

Error expected(const Where& where, std::string_view what, const json::value& got) {
  const std::string at = where.text();
  std::string message =
      at + (at.empty() ? "" : ": ") + "expected " + std::string(what) + ", got " + brief(got);
  return Error(ErrorCode::invalid_params, std::move(message)).with("field", at);
}

Status decode_string(std::string& out, const json::value& value, const Where& where, const Rules& rules) {
  if (!rules.values.empty()) {
    const std::string what = "one of " + join(rules.values, ", ");
    if (!value.is_string()) return expected(where, what, value);
    const std::string_view text = value.get_string();
    if (std::find(rules.values.begin(), rules.values.end(), text) == rules.values.end()) {
      Error error = expected(where, what, value);
      error.message += did_you_mean(text, rules.values);
      return error;
    }
  }
  if (!value.is_string()) return expected(where, "a string", value);
  const std::string_view text = value.get_string();
  if (text.size() < rules.length_min || text.size() > rules.length_max || rules.length_min > 0) {
    const std::size_t points = code_points(text);
    if (points < rules.length_min || points > rules.length_max) {
      Error error = expected(where, "a string of " + length_text(rules, "characters"), value);
      error.message += " (" + std::to_string(points) + " characters)";
      return error;
    }
  }
  out = text;
  return {};
}

Status decode_whole(std::int64_t& out, const json::value& value, const Where& where, const Rules& rules) {
  const std::int64_t* number = value.if_int64();
  if (number == nullptr || *number < rules.min || *number > rules.max)
    return expected(where, "a whole number" + range_text(rules), value);
  out = *number;
  return {};
}

Status decode_real(double& out, const json::value& value, const Where& where, const Rules& rules) {
  double number = 0;
  if (value.is_double())
    number = value.get_double();
  else if (value.is_int64())
    number = static_cast<double>(value.get_int64());
  else if (value.is_uint64())
    number = static_cast<double>(value.get_uint64());
  else
    return expected(where, "a number" + range_text(rules), value);
  if ((rules.min != no_min && number < static_cast<double>(rules.min)) ||
      (rules.max != no_max && number > static_cast<double>(rules.max)))
    return expected(where, "a number" + range_text(rules), value);
  out = number;
  return {};
}

Status check_items(std::size_t count, const Where& where, const Rules& rules) {
  if (count >= rules.length_min && count <= rules.length_max) return {};
  return Error(ErrorCode::invalid_params, where.text() + ": expected an array of " +
                                              length_text(rules, "items") + ", got " + std::to_string(count))
      .with("field", where.text());
}

json::object string_schema(const Rules& rules) {
  json::object out{{"type", "string"}};
  if (rules.length_min > 0) out["minLength"] = rules.length_min;
  if (rules.length_max != no_length) out["maxLength"] = rules.length_max;
  if (!rules.values.empty()) {
    json::array values;
    for (std::string_view value : rules.values) values.emplace_back(value);
    out["enum"] = std::move(values);
  }
  return out;
}

json::object number_schema(std::string_view type, const Rules& rules) {
  json::object out{{"type", type}};
  if (rules.min != no_min) out["minimum"] = rules.min;
  if (rules.max != no_max) out["maximum"] = rules.max;
  return out;
}

Status decode_fields(std::span<const Target> targets, const json::value& value, const Where& where) {
  static const json::object no_members;
  const json::object* object = value.is_null() ? &no_members : value.if_object();
  if (object == nullptr) return expected(where, "an object", value);
  std::size_t known = 0;
  for (const Target& target : targets) {
    for (const Field& field : target.fields) {
      const json::value* member = object->if_contains(field.name);
      if (member != nullptr) ++known;
      if (member == nullptr || (member->is_null() && !field.required)) {
        if (field.required) return missing_member(field, where);
        continue;
      }
      const Where at{&where, field.name};
      SESSIOND_TRY(field.decode(target.object, *member, at, field.rules));
    }
  }
  if (known == object->size()) return {};
  for (const auto& [name, member] : *object)
    if (find_field(targets, name) == nullptr) return unknown_member(targets, name, where);
  return {};
}

void write_fields(Fields fields, const void* object, std::string& out) {
  char separator = '{';
  for (const Field& field : fields) {
    if (!field.present(object)) continue;
    out += separator;
    separator = ',';
    print_json_string(out, field.name);
    out += ':';
    field.write(object, out);
  }
  out += separator == '{' ? "{}" : "}";
}

json::object fields_schema(std::span<const Fields> groups) {
  json::object properties;
  json::array required;
  for (Fields group : groups) {
    for (const Field& field : group) {
      json::object schema = field.schema(field.rules);
      schema["description"] = field.about;
      properties[field.name] = std::move(schema);
      if (field.required) required.emplace_back(field.name);
    }
  }
  json::object out{
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) out["required"] = std::move(required);
  return out;
}

}  // namespace sessiond
