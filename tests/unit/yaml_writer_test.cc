#include "common/yaml_writer.h"

#include <doctest/doctest.h>

#include "common/json.h"
#include "common/yaml.h"
#include "support/outcome.h"
#include "support/random_json.h"

using namespace sessiond;

namespace {

void check_back(const json::value& value) {
  const std::string text = to_yaml_text(value);
  CAPTURE(text);
  CHECK(outcome(parse_yaml(text)) == to_json_text(value));
}

}  // namespace

TEST_CASE("yaml writer: block style, words as they are, strings quoted") {
  const json::value value = {
      {"pipeline_id", "essay-1"},
      {"current_stage", 1},
      {"score", 4.5},
      {"paused", nullptr},
      {"approved", false},
      {"none", json::array()},
      {"empty", json::object()},
      {"sections", json::array{{{"section_index", 1}, {"files", json::array{"a", "b"}}}, json::array{1, 2}}},
      {"two words", "x: y # z"}};
  CHECK(to_yaml_text(value) == R"(pipeline_id: "essay-1"
current_stage: 1
score: 4.5
paused: null
approved: false
none: []
empty: {}
sections:
  - section_index: 1
    files:
      - "a"
      - "b"
  - - 1
    - 2
"two words": "x: y # z"
)");
  CHECK(to_yaml_text("text") == "\"text\"\n");
  CHECK(to_yaml_text(json::object()) == "{}\n");
}

TEST_CASE("yaml writer: strings that look like something else read back as they were") {
  for (const char* text : {"",
                           "null",
                           "Null",
                           "~",
                           "true",
                           "False",
                           "yes",
                           "no",
                           "on",
                           "off",
                           "y",
                           "1",
                           "-1",
                           "0x1F",
                           "0o17",
                           "1e5",
                           "1.0",
                           ".5",
                           ".inf",
                           ".nan",
                           "1_000",
                           "12:30",
                           "2026-02-14",
                           "2026-02-14T14:30:22Z",
                           "a: b",
                           "a:",
                           ":",
                           "# no",
                           "a # b",
                           "- item",
                           "-",
                           "? key",
                           "[1, 2]",
                           "{a: 1}",
                           "&a",
                           "*a",
                           "!tag",
                           "%YAML",
                           "@at",
                           "`tick`",
                           "|",
                           ">",
                           "'q'",
                           "\"q\"",
                           "a\"b'c",
                           "\\",
                           "\\n",
                           "back\\slash\\",
                           " lead",
                           "trail ",
                           "  ",
                           "\t",
                           "a\tb",
                           "\n",
                           "a\nb",
                           "a\n\n b\n",
                           "\r\n",
                           "---",
                           "...",
                           "---\na",
                           "<<",
                           "=",
                           "😀",
                           "é€日本",
                           "\u0085",
                           "a\u0085b",
                           "\u2028",
                           "\u2029",
                           "\uFEFF",
                           "\u00A0",
                           "\uFFFE",
                           "\U0010FFFF",
                           "\x01\x1f",
                           "\x7f",
                           "\u0080",
                           "{path}",
                           "{session_dir}/x",
                           "100%",
                           "a, b",
                           "#"}) {
    check_back(text);
    check_back(json::value{{"name", text}, {text, "value"}});
    check_back(json::array{text, json::array{text}});
  }
  check_back(json::value(std::string("a\0b", 3)));
}

TEST_CASE("yaml writer: numbers are exact and keep their type") {
  for (const json::value& number :
       std::initializer_list<json::value>{0, -1, INT64_MAX, INT64_MIN, UINT64_MAX, 0.0, -0.0, 1.0, 0.1, 1e300,
                                          5e-324, 1.7976931348623157e308, 123456789.125, 1e21, -2.5e-10})
    check_back(json::array{number});
}

TEST_CASE("yaml writer: nested empties and deep nesting") {
  check_back(json::array{json::array{}, json::object{}, json::array{json::array{}}, nullptr});
  check_back(
      json::value{{"a", {{"b", json::object()}, {"c", json::array{json::object()}}}}, {"d", json::array{}}});
  json::value deep = json::array();
  for (int i = 0; i < 30; ++i) deep = json::array{json::object{{"k", std::move(deep)}}};
  check_back(deep);
}

TEST_CASE("yaml writer: keys of any length and content") {
  for (const std::size_t length : {990U, 1'000U, 1'023U, 1'024U, 1'025U, 5'000U}) {
    check_back(json::value{{std::string(length, 'k'), 1}, {"next", json::array{1}}});
    check_back(json::value{{"outer", {{std::string(length, ' '), {{"x", "y"}}}, {"next", nullptr}}}});
  }
  for (const char* word : {"null", "TRUE", "No", "y", "N", "off"}) check_back(json::value{{word, 1}});
}

TEST_CASE("yaml writer: random values read back identical") {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    CAPTURE(seed);
    check_back(RandomJson(seed).value(5));
  }
}
