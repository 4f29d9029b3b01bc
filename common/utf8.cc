#include "common/utf8.h"

namespace sessiond {
namespace {

bool continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// The length of the well-formed sequence at `text[i]`, or 0.
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const auto at = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = at(i);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || text.size() - i < length) return 0;
  for (std::size_t k = 1; k < length; ++k)
    if (!continuation(at(i + k))) return 0;
  const unsigned char second = at(i + 1);
  if (first == 0xE0 && second < 0xA0) return 0;  // overlong
  if (first == 0xED && second > 0x9F) return 0;  // surrogates
  if (first == 0xF0 && second < 0x90) return 0;  // overlong
  if (first == 0xF4 && second > 0x8F) return 0;  // above U+10FFFF
  return length;
}

}  // namespace

std::size_t utf8_valid_prefix(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = sequence_length(text, i);
    if (length == 0) return i;
    i += length;
  }
  return i;
}

bool is_utf8(std::string_view text) { return utf8_valid_prefix(text) == text.size(); }

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (char c : text)
    if (!continuation(static_cast<unsigned char>(c))) ++count;
  return count;
}

std::string_view code_point_prefix(std::string_view text, std::size_t count) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (continuation(static_cast<unsigned char>(text[i]))) continue;
    if (count-- == 0) return text.substr(0, i);
  }
  return text;
}

}  // namespace sessiond
