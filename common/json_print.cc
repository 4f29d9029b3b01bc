// Printing of JSON; see json.h for what is promised.
#include <charconv>
#include <cstdint>
#include <cstring>

#include "common/json.h"
#include "common/utf8.h"

namespace sessiond {
namespace {

// Bytes that a JSON string need not escape.
bool plain(unsigned char byte) { return byte >= 0x20 && byte != '"' && byte != '\\'; }

// The same for eight at once. The well-known test for a zero byte, once for each of the three reasons; it may
// call a plain byte behind one that is not so, never the other way round.
bool all_plain(const char* bytes) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highs = 0x8080808080808080;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  const std::uint64_t quote = word ^ (ones * '"');
  const std::uint64_t backslash = word ^ (ones * '\\');
  const std::uint64_t control = (word - ones * 0x20) & ~word;
  return ((control | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash)) & highs) == 0;
}

void append_escape(std::string& out, unsigned char byte) {
  static constexpr char digits[] = "0123456789abcdef";
  switch (byte) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default:
      (out += "\\u00") += digits[byte >> 4];
      out += digits[byte & 15];
  }
}

template <class Integer>
void append_integer(std::string& out, Integer number) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  out.append(buffer, end);
}

void append_scalar(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      return;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case json::kind::int64:
      append_integer(out, value.get_int64());
      return;
    case json::kind::uint64:
      append_integer(out, value.get_uint64());
      return;
    case json::kind::double_:
      print_json_number(out, value.get_double());
      return;
    default:
      print_json_string(out, value.get_string());
      return;
  }
}

bool scalar(const json::value& value) { return !value.is_array() && !value.is_object(); }

bool fits_one_line(const json::array& array) {
  constexpr std::size_t width = 80;
  std::size_t used = 0;
  for (const json::value& item : array) {
    if (!scalar(item)) return false;
    used += item.is_string() ? item.get_string().size() + 4 : 8;
  }
  return used <= width;
}

void append_pretty(std::string& out, const json::value& value, std::size_t indent);

void append_pretty_array(std::string& out, const json::array& array, std::size_t indent) {
  const bool one_line = fits_one_line(array);
  out += '[';
  bool first = true;
  for (const json::value& item : array) {
    if (!first) out += one_line ? ", " : ",";
    if (!one_line) out.append(1, '\n').append(indent + 2, ' ');
    append_pretty(out, item, indent + 2);
    first = false;
  }
  if (!one_line) out.append(1, '\n').append(indent, ' ');
  out += ']';
}

void append_pretty_object(std::string& out, const json::object& object, std::size_t indent) {
  if (object.empty()) {
    out += "{}";
    return;
  }
  out += '{';
  bool first = true;
  for (const auto& [name, member] : object) {
    out += first ? "\n" : ",\n";
    out.append(indent + 2, ' ');
    print_json_string(out, name);
    out += ": ";
    append_pretty(out, member, indent + 2);
    first = false;
  }
  out.append(1, '\n').append(indent, ' ');
  out += '}';
}

void append_pretty(std::string& out, const json::value& value, std::size_t indent) {
  if (const json::array* array = value.if_array()) return append_pretty_array(out, *array, indent);
  if (const json::object* object = value.if_object()) return append_pretty_object(out, *object, indent);
  append_scalar(out, value);
}

}  // namespace

void print_json_number(std::string& out, double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  out += text;
  // Keeps a double a double: 1.0 must not come back as the integer 1.
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void print_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    while (i + 8 < text.size() && all_plain(text.data() + i)) i += 8;
    const auto byte = static_cast<unsigned char>(text[i]);
    if (plain(byte)) continue;
    out.append(text, start, i - start);
    append_escape(out, byte);
    start = i + 1;
  }
  out.append(text, start, std::string_view::npos);
  out += '"';
}

void print_json(std::string& out, const json::array& array) {
  char separator = '[';
  for (const json::value& item : array) {
    out += separator;
    print_json(out, item);
    separator = ',';
  }
  out += array.empty() ? "[]" : "]";
}

void print_json(std::string& out, const json::object& object) {
  char separator = '{';
  for (const auto& [name, member] : object) {
    out += separator;
    print_json_string(out, name);
    out += ':';
    print_json(out, member);
    separator = ',';
  }
  out += object.empty() ? "{}" : "}";
}

void print_json(std::string& out, const json::value& value) {
  if (const json::array* array = value.if_array()) return print_json(out, *array);
  if (const json::object* object = value.if_object()) return print_json(out, *object);
  append_scalar(out, value);
}

std::string to_json_text(const json::value& value) {
  std::string out;
  print_json(out, value);
  return out;
}

std::string to_pretty_json(const json::value& value) {
  std::string out;
  append_pretty(out, value, 0);
  return out;
}

std::string to_pretty_json(const json::object& object) {
  std::string out;
  append_pretty_object(out, object, 0);
  return out;
}

std::string brief(const json::value& value, std::size_t max) {
  std::string text = to_json_text(value);
  const std::string_view prefix = code_point_prefix(text, max);
  if (prefix.size() == text.size()) return text;
  return std::string(prefix) + "...";
}

}  // namespace sessiond
