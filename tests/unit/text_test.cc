#include "common/text.h"

#include <doctest/doctest.h>

#include <array>
#include <random>

#include "common/utf8.h"

using namespace sessiond;

TEST_CASE("text: the nearest name is suggested only when it is near") {
  constexpr std::array<std::string_view, 4> names{"frame_bytes", "connections", "stall", "uid"};
  struct Row {
    std::string_view name, hint;
  };
  const Row rows[] = {
      {"frame_byte", " (did you mean 'frame_bytes'?)"},    // one missing
      {"frame_bytess", " (did you mean 'frame_bytes'?)"},  // one too many
      {"farme_bytes", " (did you mean 'frame_bytes'?)"},   // swapped
      {"FRAME_BYTES", " (did you mean 'frame_bytes'?)"},   // case
      {"frame_xxxes", " (did you mean 'frame_bytes'?)"},   // a third of the letters may differ
      {"frame_xxxxs", ""},                                 // more may not
      {"conections", " (did you mean 'connections'?)"},
      {"stahl", " (did you mean 'stall'?)"},
      {"uis", " (did you mean 'uid'?)"},
      {"uxy", ""},
      {"x", ""},
      {"", ""},
      {"something_else", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(did_you_mean(row.name, names) == row.hint);
  }
  CHECK_FALSE(nearest(std::string(65, 'a'), names));
  const std::string long_name(65, 'a');
  const std::array<std::string_view, 1> long_names{long_name};
  CHECK_FALSE(nearest(std::string(64, 'a'), long_names));
  CHECK_FALSE(nearest("stall", {}));
}

TEST_CASE("text: of equally near names the first wins") {
  constexpr std::array<std::string_view, 2> names{"abd", "abe"};
  CHECK(nearest("abc", names) == "abd");
}

TEST_CASE("text: foreign bytes are made harmless") {
  struct Row {
    std::string_view text, printed;
  };
  const Row rows[] = {
      {"plain", "plain"},
      {"a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
      {"\x1b[31m", "\\x1b[31m"},
      {"\x7f", "\\x7f"},
      {"say \"hi\" \\", "say \\\"hi\\\" \\\\"},
      {"é € 😀", "é € 😀"},
      {"\xff\xc3", "\\xff\\xc3"},
      {"\xc2\x9b"
       "31m",
       "\\xc2\\x9b31m"},         // U+009B starts a terminal sequence
      {"\xc2\xa0", "\xc2\xa0"},  // U+00A0 does not
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xc3\xa9\xa9", "é\\xa9"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(printable(row.text) == row.printed);
    CHECK(quoted(row.text) == '"' + std::string(row.printed) + '"');
  }
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("text: what people read keeps its lines and loses its terminal sequences") {
  CHECK(for_terminal("a\tb\n\"c\" \\ é\n") == "a\tb\n\"c\" \\ é\n");
  CHECK(for_terminal("\x1b[2J\r\xc2\x9b\x7f\xff") == "\\x1b[2J\\x0d\\xc2\\x9b\\x7f\\xff");
  CHECK(for_terminal("\xc2") == "\\xc2");
}

TEST_CASE("text: long text is shortened by code points") {
  CHECK(printable("éééé", 4) == "éééé");
  CHECK(printable("ééééé", 4) == "éééé...");
  CHECK(printable("\n\n\n", 2) == "\\n\\n...");
  CHECK(printable("abc", 0) == "...");
  CHECK(quoted(std::string(81, 'x')) == '"' + std::string(80, 'x') + "...\"");
}

TEST_CASE("text: any bytes become one line of valid UTF-8 without control characters") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (auto left = random() % 12; left > 0; --left) bytes += static_cast<char>(random());
    const std::string out = printable(bytes);
    const bool clean =
        std::none_of(out.begin(), out.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; });
    REQUIRE(clean);
    REQUIRE(is_utf8(out));
  }
}

TEST_CASE("text: join, trim and comparison") {
  constexpr std::array<std::string_view, 3> parts{"a", "b", "c"};
  CHECK(join(parts, ", ") == "a, b, c");
  CHECK(join(std::vector<std::string>{"a"}, ", ") == "a");
  CHECK(join(std::vector<std::string>{}, ", ") == "");
  CHECK(join(std::vector<std::string>{"", "b"}, ",") == ",b");
  CHECK(trim(" \t\r\n a b \r\n") == "a b");
  CHECK(trim(" \t") == "");
  CHECK(trim("") == "");
  CHECK(equals_ignoring_case("Content-Length", "content-LENGTH"));
  CHECK_FALSE(equals_ignoring_case("Content-Length", "Content-Lengt"));
  CHECK_FALSE(equals_ignoring_case("a", "b"));
}
