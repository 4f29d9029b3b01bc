// Printing of JSON, and the promise that what is printed is read back as the same value.
#include <doctest/doctest.h>

#include <bit>
#include <limits>

#include "common/json.h"
#include "support/outcome.h"
#include "support/random_json.h"

using namespace sessiond;

namespace {

// Equal in kind and, for real numbers, in every bit; json's own == takes 1 for 1u and 0.0 for -0.0.
bool same(const json::value& a, const json::value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_double())
    return std::bit_cast<std::uint64_t>(a.get_double()) == std::bit_cast<std::uint64_t>(b.get_double());
  if (a.is_array())
    return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(),
                      same);
  if (!a.is_object()) return a == b;
  return std::equal(
      a.get_object().begin(), a.get_object().end(), b.get_object().begin(), b.get_object().end(),
      [](const auto& x, const auto& y) { return x.key() == y.key() && same(x.value(), y.value()); });
}

}  // namespace

TEST_CASE("json print: 200,000 random doubles come back bit by bit") {
  RandomJson random(1);
  for (int round = 0; round < 200; ++round) {
    json::array numbers;
    for (int i = 0; i < 1'000; ++i) numbers.emplace_back(random.real());
    const Result<json::value> back = parse_json(to_json_text(numbers));
    REQUIRE(back);
    REQUIRE(same(*back, numbers));
  }
}

TEST_CASE("json print: special doubles come back bit by bit") {
  using Limits = std::numeric_limits<double>;
  for (double number : {0.0,
                        -0.0,
                        1.0,
                        -1.0,
                        0.1,
                        1e15,
                        1e16,
                        1e17,
                        1e21,
                        1e22,
                        1e23,
                        9007199254740993.0,
                        18446744073709551616.0,
                        5e-324,
                        -5e-324,
                        2.2250738585072011e-308,
                        Limits::min(),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::epsilon(),
                        1e-5,
                        123456.789}) {
    CAPTURE(number);
    CHECK(same(*parse_json(to_json_text(number)), number));
  }
}

TEST_CASE("json print: a double never looks like an integer") {
  CHECK(to_json_text(1.0) == "1.0");
  CHECK(to_json_text(-0.0) == "-0.0");
  CHECK(to_json_text(12345.0) == "12345.0");
  CHECK(to_json_text(100000.0) == "1e+05");
  CHECK(to_json_text(1e22) == "1e+22");
}

TEST_CASE("json print: integers at their limits") {
  CHECK(to_json_text(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(to_json_text(std::numeric_limits<std::int64_t>::max()) == "9223372036854775807");
  CHECK(to_json_text(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
}

TEST_CASE("json print: every control character is escaped and comes back") {
  for (char c = 0; c < 0x20; ++c) {
    const std::string text = std::string("<") + c + ">";
    const std::string printed = to_json_text(json::value(text));
    CAPTURE(printed);
    CHECK(std::none_of(printed.begin(), printed.end(), [](char p) { return p >= 0 && p < 0x20; }));
    CHECK(parse_json(printed)->get_string() == text);
  }
  CHECK(to_json_text("\b\f\n\r\t\x01\x1f\x7f") == "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
  CHECK(to_json_text("a\"b\\c/") == R"("a\"b\\c/")");
}

TEST_CASE("json print: letters of every length stay as they are") {
  for (const char* text : {"é", "€", "😀", "日本語 👩‍👩‍👧", "\xf4\x8f\xbf\xbf"}) {
    CHECK(to_json_text(json::value(text)) == std::string("\"") + text + "\"");
    CHECK(parse_json(to_json_text(json::value(text)))->get_string() == text);
  }
}

TEST_CASE("json print: random values come back equal, compact and pretty") {
  RandomJson random(2);
  for (int i = 0; i < 3'000; ++i) {
    const json::value value = random.value(5);
    CAPTURE(i);
    const Result<json::value> compact = parse_json(to_json_text(value));
    const Result<json::value> pretty = parse_json(to_pretty_json(value));
    REQUIRE(compact);
    REQUIRE(pretty);
    REQUIRE(same(*compact, value));
    REQUIRE(same(*pretty, value));
  }
}

TEST_CASE("json print: the pretty form is for people") {
  const json::value value = *parse_json(R"({"a":1,"list":[1,2],"none":[],"empty":{},"deep":[{"b":null}]})");
  CHECK(to_pretty_json(value) ==
        "{\n"
        "  \"a\": 1,\n"
        "  \"list\": [1, 2],\n"
        "  \"none\": [],\n"
        "  \"empty\": {},\n"
        "  \"deep\": [\n"
        "    {\n"
        "      \"b\": null\n"
        "    }\n"
        "  ]\n"
        "}");
  const json::value long_list = json::array{std::string(50, 'x'), std::string(50, 'y')};
  CHECK(to_pretty_json(long_list) ==
        "[\n  \"" + std::string(50, 'x') + "\",\n  \"" + std::string(50, 'y') + "\"\n]");
  CHECK(to_pretty_json(json::value("alone")) == "\"alone\"");
}

TEST_CASE("json print: brief shortens by letters, not bytes") {
  CHECK(brief(json::value("six")) == "\"six\"");
  CHECK(brief(json::array{1, 2}) == "[1,2]");
  CHECK(brief(json::value("ééééé"), 4) == "\"ééé...");
  CHECK(brief(json::value(std::string(58, 'x'))) == '"' + std::string(58, 'x') + '"');
  CHECK(brief(json::value(std::string(59, 'x'))) == '"' + std::string(59, 'x') + "...");
}
