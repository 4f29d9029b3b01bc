#include "common/yaml_writer.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/json.h"
#include "common/text.h"

namespace sessiond {
namespace {

// A reader may refuse a key of more than 1,024 characters unless it is marked as one with "? ".
constexpr std::size_t plain_key_bytes_max = 1'000;

struct CodePoint {
  std::uint32_t value;
  std::size_t bytes;
};

// Precondition: `text` starts with a well-formed code point.
CodePoint first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  std::uint32_t value = byte(0) & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) value = (value << 6) | (byte(i) & 0x3FU);
  return {value, bytes};
}

// What YAML does not count as printable, and what it takes for a line break or a byte order mark.
bool needs_number(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x2028 || point == 0x2029 ||
         point == 0xFEFF || point == 0xFFFE || point == 0xFFFF;
}

void add_hex(std::string& out, std::uint32_t number, int digits) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
    out += "0123456789abcdef"[(number >> shift) & 15];
}

void add_escaped(std::string& out, std::uint32_t point) {
  constexpr std::array<std::pair<std::uint32_t, char>, 5> short_forms{
      {{'\n', 'n'}, {'\t', 't'}, {'\r', 'r'}, {'"', '"'}, {'\\', '\\'}}};
  out += '\\';
  for (const auto& [from, to] : short_forms) {
    if (point != from) continue;
    out += to;
    return;
  }
  out += point < 0x100 ? 'x' : 'u';
  add_hex(out, point, point < 0x100 ? 2 : 4);
}

void add_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const CodePoint point = first_of(text);
    if (point.value == '"' || point.value == '\\' || needs_number(point.value))
      add_escaped(out, point.value);
    else
      out += text.substr(0, point.bytes);
    text.remove_prefix(point.bytes);
  }
  out += '"';
}

// A name that every reader takes for a string: a word, and none that some version of YAML gives a meaning.
bool is_word(std::string_view name) {
  constexpr std::array<std::string_view, 9> meanings{"null", "true", "false", "yes", "no",
                                                     "on",   "off",  "y",     "n"};
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  if (name.empty() || name.size() > plain_key_bytes_max || !letter(name.front())) return false;
  return std::all_of(name.begin(), name.end(), inner) &&
         std::none_of(meanings.begin(), meanings.end(),
                      [&](std::string_view meaning) { return equals_ignoring_case(name, meaning); });
}

std::string key_text(std::string_view name) {
  if (is_word(name)) return std::string(name);
  std::string out;
  add_string(out, name);
  return out;
}

bool is_block(const json::value& value) {
  return (value.is_object() && !value.get_object().empty()) ||
         (value.is_array() && !value.get_array().empty());
}

void add_flat(std::string& out, const json::value& value) {
  if (value.is_string())
    add_string(out, value.get_string());
  else
    print_json(out, value);  // numbers, true, false, null, [] and {} are spelled alike
  out += '\n';
}

void add_block(std::string& out, const json::value& value, std::size_t indent);

// A member's value after its colon: behind it when it is flat, else on the lines below.
void add_member_value(std::string& out, const json::value& value, std::size_t indent) {
  if (!is_block(value)) {
    out += ' ';
    add_flat(out, value);
    return;
  }
  out += '\n';
  out.append(indent + 2, ' ');
  add_block(out, value, indent + 2);
}

void add_object(std::string& out, const json::object& object, std::size_t indent) {
  bool first = true;
  for (const auto& [name, member] : object) {
    if (!first) out.append(indent, ' ');
    first = false;
    const std::string key = key_text(name);
    if (key.size() > plain_key_bytes_max) {
      out += "? " + key + '\n';
      out.append(indent, ' ');
    } else {
      out += key;
    }
    out += ':';
    add_member_value(out, member, indent);
  }
}

// Writes from the current place, which is `indent` columns into its line.
void add_block(std::string& out, const json::value& value, std::size_t indent) {
  if (const json::object* object = value.if_object()) return add_object(out, *object, indent);
  bool first = true;
  for (const json::value& item : value.get_array()) {
    if (!first) out.append(indent, ' ');
    first = false;
    out += "- ";
    if (is_block(item))
      add_block(out, item, indent + 2);
    else
      add_flat(out, item);
  }
}

}  // namespace

std::string to_yaml_text(const json::value& value) {
  std::string out;
  if (is_block(value))
    add_block(out, value, 0);
  else
    add_flat(out, value);
  return out;
}

std::string to_yaml_text(const json::object& object) {
  if (object.empty()) return "{}\n";
  std::string out;
  add_object(out, object, 0);
  return out;
}

}  // namespace sessiond
