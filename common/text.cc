#include "common/text.h"

#include <algorithm>
#include <array>

#include "common/utf8.h"

namespace sessiond {
namespace {

constexpr std::size_t longest_compared = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`, case ignored.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, longest_compared + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[1][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& before = rows[(i + 2) % 3];
    auto& above = rows[i % 3];
    auto& row = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return rows[(a.size() + 1) % 3][b.size()];
}

void append_escaped(std::string& out, unsigned char byte) {
  static constexpr char digits[] = "0123456789abcdef";
  out += "\\x";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

// Appends the character at the front of `text`, escaped if it is a control character or invalid UTF-8; its
// length.
std::size_t append_visible(std::string& out, std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0x80 ? 2 : 1;
  // U+0080 to U+009F are control characters too.
  const bool high_control = byte == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0;
  if (byte >= 0x20 && byte != 0x7F && !high_control && is_utf8(text.substr(0, length))) {
    out += text.substr(0, length);
    return length;
  }
  append_escaped(out, byte);
  return 1;
}

template <class Parts>
std::string join_parts(const Parts& parts, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) out += separator;
    out += part;
    first = false;
  }
  return out;
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.empty() || name.size() > longest_compared) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > longest_compared) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  const auto near = nearest(name, candidates);
  return near ? " (did you mean '" + std::string(*near) + "'?)" : "";
}

std::string printable(std::string_view text, std::size_t max) {
  std::string out;
  std::size_t shown = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    if (shown++ == max) return out + "...";
    const char c = text[i];
    if (c == '\n' || c == '\t' || c == '"' || c == '\\') {
      (out += '\\') += c == '\n' ? 'n' : c == '\t' ? 't' : c;
      ++i;
    } else {
      i += append_visible(out, text.substr(i));
    }
  }
  return out;
}

std::string for_terminal(std::string_view text) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] == '\n' || text[i] == '\t')
      out += text[i++];
    else
      i += append_visible(out, text.substr(i));
  }
  return out;
}

std::string quoted(std::string_view text, std::size_t max) { return '"' + printable(text, max) + '"'; }

std::string one_line(std::string_view text, std::size_t max) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are two bytes, the first of them 0xC2.
    const bool high_control =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (high_control) ++i;
    if (!high_control && byte > 0x20 && byte != 0x7F)
      out += text[i];
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  if (!is_utf8(out)) return printable(out, max);
  if (code_points(out) <= max) return out;
  return std::string(code_point_prefix(out, max)) + "...";
}

std::string join(std::span<const std::string_view> parts, std::string_view separator) {
  return join_parts(parts, separator);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return join_parts(parts, separator);
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace sessiond
