#include "common/utf8.h"

#include <doctest/doctest.h>

#include <string>

using namespace sessiond;

namespace {

std::string encode(std::uint32_t point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xC0 | point >> 6), byte(0x80 | (point & 63))};
  if (point < 0x10000)
    return {byte(0xE0 | point >> 12), byte(0x80 | (point >> 6 & 63)), byte(0x80 | (point & 63))};
  return {byte(0xF0 | point >> 18), byte(0x80 | (point >> 12 & 63)), byte(0x80 | (point >> 6 & 63)),
          byte(0x80 | (point & 63))};
}

}  // namespace

TEST_CASE("utf8: every code point is valid but the surrogates and what is above U+10FFFF") {
  std::uint32_t wrong = 0;
  for (std::uint32_t point = 0; point < 0x120000; ++point) {
    const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
    if (is_utf8(encode(point)) != (!surrogate && point <= 0x10FFFF)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("utf8: the first bad byte is found") {
  struct Row {
    std::string_view text;
    std::size_t valid;
  };
  const Row rows[] = {
      {"", 0},
      {"abc", 3},
      {"é€😀", 9},
      {"a\x80", 1},                 // continuation without a start
      {"a\xc3", 1},                 // cut short
      {"a\xe2\x82", 1},             //
      {"a\xf0\x9f\x98", 1},         //
      {"a\xc3z", 1},                // not continued
      {"\xc0\x80", 0},              // overlong zero
      {"\xc1\xbf", 0},              // overlong
      {"\xe0\x9f\xbf", 0},          // overlong
      {"\xf0\x8f\xbf\xbf", 0},      // overlong
      {"é\xed\xa0\x80", 2},         // surrogate
      {"\xf4\x90\x80\x80", 0},      // above U+10FFFF
      {"\xf5\x80\x80\x80", 0},      //
      {"\xfe", 0},                  //
      {"ok\xff", 2},                //
      {"\xf8\x88\x80\x80\x80", 0},  // five bytes
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(utf8_valid_prefix(row.text) == row.valid);
    CHECK(is_utf8(row.text) == (row.valid == row.text.size()));
  }
}

TEST_CASE("utf8: lengths and prefixes count code points") {
  struct Row {
    std::string_view text;
    std::size_t count;
    std::string_view prefix;
  };
  const Row rows[] = {{"abc", 2, "ab"},   {"é€😀x", 0, ""},     {"é€😀x", 1, "é"},
                      {"é€😀x", 3, "é€😀"}, {"é€😀x", 4, "é€😀x"}, {"é€😀x", 99, "é€😀x"}};
  for (const Row& row : rows) CHECK(code_point_prefix(row.text, row.count) == row.prefix);
  CHECK(code_points("") == 0);
  CHECK(code_points("abc") == 3);
  CHECK(code_points("é€😀x") == 4);
}
