// Describes the structs that travel over the wire: each struct lists its fields once, and decoding, encoding
// and the JSON Schema all walk that list.
//
//   struct Params {
//     std::string workflow_type;
//     std::optional<std::int64_t> starting_phase;
//     static constexpr auto fields() {
//       return std::array{field<&Params::workflow_type>("workflow_type", "which workflow this runs"),
//                         field<&Params::starting_phase>("starting_phase", "0 or 1", between(0, 1))};
//     }
//   };
//
// A std::optional member may be missing or null; any other member is required. Decoding never throws and
// names the place and the value: `params.total_phases: expected a whole number >= 1, got "six"`.
#pragma once

#include <array>
#include <boost/json.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/json.h"
#include "common/result.h"

namespace sessiond {

// Where a value stands, as a chain of stack frames; made into text only for an error. The first one has no
// parent and may have no name. An item of an array has a default-made name, which is not the name "".
struct Where {
  const Where* parent = nullptr;
  std::string_view name;
  std::size_t index = 0;
  std::string text() const;
};

// What a field's values must satisfy beyond their type. The defaults allow everything.
struct Rules {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  std::size_t length_min = 0;  // code points of a string, items of an array
  std::size_t length_max = std::numeric_limits<std::size_t>::max();
  std::span<const std::string_view> values;  // an enumeration
};

constexpr Rules between(std::int64_t min, std::int64_t max) { return {.min = min, .max = max}; }
constexpr Rules at_least(std::int64_t min) { return {.min = min}; }
constexpr Rules length(std::size_t min, std::size_t max) { return {.length_min = min, .length_max = max}; }
constexpr Rules one_of(std::span<const std::string_view> values) { return {.values = values}; }

// JSON text that is already serialized, placed into a reply as it is.
struct RawJson {
  std::string text = "null";
};

struct Field {
  std::string_view name;
  std::string_view about;
  Rules rules;
  bool required;
  Status (*decode)(void* object, const json::value& value, const Where& where, const Rules& rules);
  bool (*present)(const void* object);
  void (*write)(const void* object, std::string& out);
  json::object (*schema)(const Rules& rules);
};

using Fields = std::span<const Field>;

// Several structs may be read from one object (a method's own parameters and those of every write).
struct Target {
  Fields fields;
  void* object;
};

// Reads the members of `value` (an object, or null for no members) into the targets. A member that no target
// knows is refused with the nearest known name.
Status decode_fields(std::span<const Target> targets, const json::value& value, const Where& where);
void write_fields(Fields fields, const void* object, std::string& out);
json::object fields_schema(std::span<const Fields> groups);

template <class T>
concept Described = requires {
  T::fields();
};

// The list of T's fields, kept for the whole run of the program.
template <Described T>
Fields fields_of() {
  static constexpr auto list = T::fields();
  return list;
}

template <class T>
struct Codec;

Error expected(const Where& where, std::string_view what, const json::value& got);
// The single place where each scalar is checked, so that the messages are the same everywhere.
Status decode_string(std::string& out, const json::value& value, const Where& where, const Rules& rules);
Status decode_whole(std::int64_t& out, const json::value& value, const Where& where, const Rules& rules);
Status decode_real(double& out, const json::value& value, const Where& where, const Rules& rules);
Status check_items(std::size_t count, const Where& where, const Rules& rules);
json::object string_schema(const Rules& rules);
json::object number_schema(std::string_view type, const Rules& rules);

template <>
struct Codec<std::string> {
  static Status decode(std::string& out, const json::value& v, const Where& w, const Rules& r) {
    return decode_string(out, v, w, r);
  }
  static void write(const std::string& v, std::string& out) { print_json_string(out, v); }
  static json::object schema(const Rules& r) { return string_schema(r); }
};

template <>
struct Codec<bool> {
  static Status decode(bool& out, const json::value& v, const Where& w, const Rules&) {
    if (!v.is_bool()) return expected(w, "true or false", v);
    out = v.get_bool();
    return {};
  }
  static void write(bool v, std::string& out) { out += v ? "true" : "false"; }
  static json::object schema(const Rules&) { return {{"type", "boolean"}}; }
};

template <>
struct Codec<std::int64_t> {
  static Status decode(std::int64_t& out, const json::value& v, const Where& w, const Rules& r) {
    return decode_whole(out, v, w, r);
  }
  static void write(std::int64_t v, std::string& out) { out += std::to_string(v); }
  static json::object schema(const Rules& r) { return number_schema("integer", r); }
};

template <>
struct Codec<double> {
  static Status decode(double& out, const json::value& v, const Where& w, const Rules& r) {
    return decode_real(out, v, w, r);
  }
  static void write(double v, std::string& out) { print_json_number(out, v); }
  static json::object schema(const Rules& r) { return number_schema("number", r); }
};

template <>
struct Codec<json::value> {
  static Status decode(json::value& out, const json::value& v, const Where&, const Rules&) {
    out = v;
    return {};
  }
  static void write(const json::value& v, std::string& out) { print_json(out, v); }
  static json::object schema(const Rules&) { return {}; }
};

template <>
struct Codec<json::object> {
  static Status decode(json::object& out, const json::value& v, const Where& w, const Rules&) {
    if (!v.is_object()) return expected(w, "an object", v);
    out = v.get_object();
    return {};
  }
  static void write(const json::object& v, std::string& out) { print_json(out, v); }
  static json::object schema(const Rules&) { return {{"type", "object"}}; }
};

template <>
struct Codec<RawJson> {
  static Status decode(RawJson& out, const json::value& v, const Where&, const Rules&) {
    out.text = to_json_text(v);
    return {};
  }
  static void write(const RawJson& v, std::string& out) { out += v.text; }
  static json::object schema(const Rules&) { return {}; }
};

template <class T>
struct Codec<std::vector<T>> {
  // The rules of an array are about its length; those of its items cannot be given (use a struct instead).
  static Status decode(std::vector<T>& out, const json::value& v, const Where& w, const Rules& r) {
    if (!v.is_array()) return expected(w, "an array", v);
    SESSIOND_TRY(check_items(v.get_array().size(), w, r));
    out.clear();
    for (const json::value& item : v.get_array()) {
      const Where at{&w, {}, out.size()};
      SESSIOND_TRY(Codec<T>::decode(out.emplace_back(), item, at, Rules{.values = r.values}));
    }
    return {};
  }
  static void write(const std::vector<T>& v, std::string& out) {
    out += '[';
    bool first = true;
    for (const T& item : v) {
      if (!first) out += ',';
      Codec<T>::write(item, out);
      first = false;
    }
    out += ']';
  }
  static json::object schema(const Rules& r) {
    json::object out{{"type", "array"}, {"items", Codec<T>::schema(Rules{.values = r.values})}};
    if (r.length_min > 0) out["minItems"] = r.length_min;
    if (r.length_max != Rules{}.length_max) out["maxItems"] = r.length_max;
    return out;
  }
};

template <class T>
struct Codec<std::map<std::string, T>> {
  static Status decode(std::map<std::string, T>& out, const json::value& v, const Where& w, const Rules&) {
    if (!v.is_object()) return expected(w, "an object", v);
    for (const auto& [name, member] : v.get_object()) {
      const Where at{&w, name};
      SESSIOND_TRY(Codec<T>::decode(out[std::string(name)], member, at, Rules{}));
    }
    return {};
  }
  static void write(const std::map<std::string, T>& v, std::string& out) {
    out += '{';
    bool first = true;
    for (const auto& [name, member] : v) {
      if (!first) out += ',';
      print_json_string(out, name);
      out += ':';
      Codec<T>::write(member, out);
      first = false;
    }
    out += '}';
  }
  static json::object schema(const Rules&) {
    return {{"type", "object"}, {"additionalProperties", Codec<T>::schema(Rules{})}};
  }
};

template <class T>
struct Codec<std::optional<T>> {
  static Status decode(std::optional<T>& out, const json::value& v, const Where& w, const Rules& r) {
    if (v.is_null()) return {};
    return Codec<T>::decode(out.emplace(), v, w, r);
  }
  static void write(const std::optional<T>& v, std::string& out) {
    if (v)
      Codec<T>::write(*v, out);
    else
      out += "null";
  }
  static json::object schema(const Rules& r) { return Codec<T>::schema(r); }
};

template <Described T>
struct Codec<T> {
  static Status decode(T& out, const json::value& v, const Where& w, const Rules&) {
    if (!v.is_object()) return expected(w, "an object", v);
    const Target target{fields_of<T>(), &out};
    return decode_fields({&target, 1}, v, w);
  }
  static void write(const T& v, std::string& out) { write_fields(fields_of<T>(), &v, out); }
  static json::object schema(const Rules&) {
    const Fields group = fields_of<T>();
    return fields_schema({&group, 1});
  }
};

namespace describe_detail {

template <class M>
struct MemberOf;
template <class C, class T>
struct MemberOf<T C::*> {
  using Class = C;
  using Type = T;
};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

}  // namespace describe_detail

template <auto Member>
constexpr Field field(std::string_view name, std::string_view about, Rules rules = {}) {
  using Class = typename describe_detail::MemberOf<decltype(Member)>::Class;
  using Type = typename describe_detail::MemberOf<decltype(Member)>::Type;
  constexpr bool optional = describe_detail::IsOptional<Type>::value;
  return Field{
      .name = name,
      .about = about,
      .rules = rules,
      .required = !optional,
      .decode =
          [](void* object, const json::value& value, const Where& where, const Rules& r) {
            return Codec<Type>::decode(static_cast<Class*>(object)->*Member, value, where, r);
          },
      .present =
          [](const void* object) {
            if constexpr (optional)
              return (static_cast<const Class*>(object)->*Member).has_value();
            else
              return object != nullptr;
          },
      .write = [](const void* object,
                  std::string& out) { Codec<Type>::write(static_cast<const Class*>(object)->*Member, out); },
      .schema = [](const Rules& r) { return Codec<Type>::schema(r); },
  };
}

// For a method without parameters.
struct Nothing {
  static constexpr std::array<Field, 0> fields() { return {}; }
};

}  // namespace sessiond
