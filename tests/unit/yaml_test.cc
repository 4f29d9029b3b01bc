#include "common/yaml.h"

#include <doctest/doctest.h>

#include <ctime>

#include "common/limits.h"
#include "support/outcome.h"

using namespace sessiond;

namespace {

std::string repeated(std::string_view piece, std::size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

std::string megabyte_of(std::string_view piece) { return repeated(piece, (1 << 20) / piece.size()); }

}  // namespace

TEST_CASE("yaml: plain scalars follow the core schema") {
  struct Row {
    std::string_view text, value;
  };
  const Row rows[] = {
      {"", "null"},
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"nULL", R"("nULL")"},
      {"true", "true"},
      {"True", "true"},
      {"FALSE", "false"},
      {"yes", R"("yes")"},
      {"no", R"("no")"},
      {"on", R"("on")"},
      {"off", R"("off")"},
      {"y", R"("y")"},
      {"0", "0"},
      {"-0", "0"},
      {"42", "42"},
      {"-42", "-42"},
      {"+42", "42"},
      {"012", "12"},
      {"0o17", "15"},
      {"0x1F", "31"},
      {"0xff", "255"},
      {"0b11", R"("0b11")"},
      {"1_000", R"("1_000")"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551615", "18446744073709551615"},
      {"0xFFFFFFFFFFFFFFFF", "18446744073709551615"},
      {"0x", R"("0x")"},
      {"0x-5", R"("0x-5")"},
      {"0o-7", R"("0o-7")"},
      {"-0x5", R"("-0x5")"},
      {"+0x5", R"("+0x5")"},
      {"+-5", R"("+-5")"},
      {"++5", R"("++5")"},
      {"+", R"("+")"},
      {"1.0", "1.0"},
      {"1.", "1.0"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"+.5", "0.5"},
      {"+1.5", "1.5"},
      {"1e3", "1000.0"},
      {"1E-2", "0.01"},
      {"-0.0", "-0.0"},
      {".", R"(".")"},
      {"e3", R"("e3")"},
      {"1e", R"("1e")"},
      {"1.2.3", R"("1.2.3")"},
      {"inf", R"("inf")"},
      {"nan", R"("nan")"},
      {"2026-01-17", R"("2026-01-17")"},
      {"12:30", R"("12:30")"},
      {"a b c", R"("a b c")"},
      {"é 😀", "\"é 😀\""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(outcome(parse_yaml("a: " + std::string(row.text))) == "{\"a\":" + std::string(row.value) + "}");
  }
}

TEST_CASE("yaml: quoted and block scalars stay strings") {
  for (const char* text : {"null", "true", "42", "1.5", "0x1F", "~", ".inf", "1e999"}) {
    const std::string expected = "{\"a\":\"" + std::string(text) + "\"}";
    CHECK(outcome(parse_yaml("a: '" + std::string(text) + "'")) == expected);
    CHECK(outcome(parse_yaml("a: \"" + std::string(text) + "\"")) == expected);
    CHECK(outcome(parse_yaml("a: |-\n  " + std::string(text))) == expected);
  }
  CHECK(outcome(parse_yaml("a: ''")) == R"({"a":""})");
  CHECK(outcome(parse_yaml(R"(a: "tab\tnul\0 \u00e9 \U0001F600")")) == R"({"a":"tab\tnul\u0000 é 😀"})");
}

TEST_CASE("yaml: documents of every shape") {
  struct Row {
    std::string_view text, value;
  };
  const Row rows[] = {
      {"", "null"},
      {"# only a comment\n", "null"},
      {"---\n", "null"},
      {"plain", R"("plain")"},
      {"- 1\n- [2, 3]\n- {a: 4}\n", R"([1,[2,3],{"a":4}])"},
      {"a:\n  b:\n    - c: 1\n      d: 2\n    - e\n", R"({"a":{"b":[{"c":1,"d":2},"e"]}})"},
      {"---\na: 1\n...\n", R"({"a":1})"},
      {"a:\nb: []\nc: {}\n", R"({"a":null,"b":[],"c":{}})"},
      {"a: |\n  two\n  lines\nb: >\n  one\n  line\n", R"({"a":"two\nlines\n","b":"one line\n"})"},
      {"1: a\ntrue: b\n'': c\n", R"({"1":"a","true":"b","":"c"})"},
      {R"({"json": ["is", "YAML", 1, null, true, 1.5]})", R"({"json":["is","YAML",1,null,true,1.5]})"},
      {"a: 1\r\nb: 2\r\n", R"({"a":1,"b":2})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(outcome(parse_yaml(row.text)) == row.value);
  }
}

TEST_CASE("yaml: the line of every member and item is known") {
  LineMap lines;
  REQUIRE(parse_yaml("a: 1\nb:\n  - x\n  - c: 2\n\n  - [3,\n     4]\nd: {e: 5}\n", &lines));
  const LineMap expected{{"/a", 1},   {"/b", 2},     {"/b/0", 3},   {"/b/1", 4}, {"/b/1/c", 4},
                         {"/b/2", 6}, {"/b/2/0", 6}, {"/b/2/1", 7}, {"/d", 8},   {"/d/e", 8}};
  CHECK(lines == expected);
}

TEST_CASE("yaml: every refusal names the line and the reason") {
  struct Row {
    std::string text, message;
  };
  const Row rows[] = {
      {"a: 1\nb: &x 2", "not valid YAML at line 2: anchors are not accepted"},
      {"a: &a [*a]", "not valid YAML at line 1: anchors are not accepted"},
      {"a: &a {b: 1}", "not valid YAML at line 1: anchors are not accepted"},
      {"&k a: 1", "not valid YAML at line 1: anchors are not accepted"},
      {"a: !!str 5", "not valid YAML at line 1: tags are not accepted"},
      {"a: !mine {b: 1}", "not valid YAML at line 1: tags are not accepted"},
      {"- 1\n- !!seq [1]", "not valid YAML at line 2: tags are not accepted"},
      {"a: 1\nb: 2\na: 3", "not valid YAML at line 3: the key \"a\" stands twice"},
      {"{a: 1, 'a': 2}", "not valid YAML at line 1: the key \"a\" stands twice"},
      {"a: 1\n---\nb: 2", "not valid YAML at line 2: a second document follows"},
      {"a: 1\n...\n---\n", "not valid YAML at line 3: a second document follows"},
      {"a: 1\nb: .inf", "not valid YAML at line 2: the number .inf is not finite"},
      {"a: -.INF", "not valid YAML at line 1: the number -.INF is not finite"},
      {"a: +.Inf", "not valid YAML at line 1: the number +.Inf is not finite"},
      {"a: .nan", "not valid YAML at line 1: the number .nan is not finite"},
      {"a: 1e309", "not valid YAML at line 1: the number 1e309 is out of range"},
      {"a: 18446744073709551616",
       "not valid YAML at line 1: the integer 18446744073709551616 does not fit 64 bits"},
      {"a: -9223372036854775809",
       "not valid YAML at line 1: the integer -9223372036854775809 does not fit 64 bits"},
      {"a: 0x10000000000000000",
       "not valid YAML at line 1: the integer 0x10000000000000000 does not fit 64 bits"},
      {"? [a]\n: 1", "not valid YAML at line 1: a key must be a scalar"},
      {"a: 1\n{b: c}: 1", "not valid YAML at line 2: a key must be a scalar"},
      {"~: 1", "not valid YAML at line 1: a key must not be null"},
      {"null: 1", "not valid YAML at line 1: a key must not be null"},
      {"a: 1\nb: \xff", "not valid YAML at line 2: the text is not UTF-8"},
      {std::string("a: 1\nb: \0", 9), "not valid YAML at line 2: the text holds a zero byte"},
      {repeated("[", 65) + repeated("]", 65), "not valid YAML at line 1: nested deeper than 64 levels"},
      {"a: 1\nb: " + repeated("[", 5'000), "not valid YAML at line 2: too many brackets"},
      {"[" + repeated("1,", 100'000) + "]", "not valid YAML at line 1: more than 100000 values"},
      {"a: *x", "not valid YAML at line 1: the referenced anchor is not defined"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text.substr(0, 60));
    const Result<json::value> result = parse_yaml(row.text);
    CHECK(refusal(result) == row.message);
    if (!result) CHECK(result.error().code == ErrorCode::parse_error);
  }
}

TEST_CASE("yaml: what yaml-cpp itself refuses is an error too") {
  for (const char* text : {"a: [1", "a: {b", "a: 'open", "a: \"open", "a: b: c", "a:\n\t- b", "- a\nb: c",
                           "a: @x", "%YAML 3.0\n---\na: 1", "a: ]", "? ", "\"\\q\""}) {
    CAPTURE(text);
    const Result<json::value> result = parse_yaml(text);
    CHECK(refusal(result).starts_with("not valid YAML at line "));
  }
}

TEST_CASE("yaml: 64 levels are read, 65 refused, in both styles") {
  std::string block;
  for (std::size_t i = 0; i < 64; ++i) block += std::string(i, ' ') + "a:\n";
  CHECK(json_depth_max == 64);
  CHECK(parse_yaml(repeated("[", 64) + repeated("]", 64)));
  CHECK(parse_yaml(block));
  CHECK(refusal(parse_yaml(block + std::string(64, ' ') + "a: 1")) ==
        "not valid YAML at line 65: nested deeper than 64 levels");
}

TEST_CASE("yaml: up to 100,000 values are read") {
  CHECK(parse_yaml("[" + repeated("1,", 99'999) + "]")->get_array().size() == 99'999);
}

TEST_CASE("yaml: a hostile megabyte takes less than two seconds of work") {
  struct Bomb {
    std::string text;
    bool refused = true;  // otherwise it is only long
  };
  const Bomb bombs[] = {
      {megabyte_of("[")},         {megabyte_of("{")},
      {megabyte_of("{a: ")},      {megabyte_of(R"(["]", )")},  // the closing brackets are only text
      {megabyte_of("[}")},        {megabyte_of("- ")},
      {megabyte_of("? ")},        {megabyte_of(": ")},
      {megabyte_of("a: ")},       {megabyte_of("!")},
      {megabyte_of("---\n")},     {"[" + megabyte_of("a,")},
      {"[" + megabyte_of("[],")}, {"\"" + megabyte_of("\\u00e9")},
      {megabyte_of("\"")},        {megabyte_of("'"), false},
      {megabyte_of("a,"), false}, {"a: |\n" + megabyte_of("  x\n"), false},
  };
  for (const Bomb& bomb : bombs) {
    CAPTURE(bomb.text.substr(0, 20));
    const std::clock_t start = std::clock();  // of this process: other load does not count
    const Result<json::value> result = parse_yaml(bomb.text);
    CHECK(std::clock() - start < 2 * CLOCKS_PER_SEC);
    CHECK(result.ok() == !bomb.refused);
  }
}
