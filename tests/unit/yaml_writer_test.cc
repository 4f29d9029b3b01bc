#include "common/yaml_writer.h"

#include <doctest/doctest.h>
#include <yaml-cpp/yaml.h>

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

// The text as yaml-cpp understands it by itself: strings are marked as quoted, so that no reader takes them
// for something else; all other scalars are plain.
void check_foreign(const YAML::Node& node, const json::value& value) {
  if (const json::object* object = value.if_object()) {
    REQUIRE(node.IsMap());
    REQUIRE(node.size() == object->size());
    auto member = object->begin();
    for (const auto& pair : node) {
      CHECK(pair.first.Scalar() == std::string(member->key()));
      check_foreign(pair.second, (member++)->value());
    }
  } else if (const json::array* array = value.if_array()) {
    REQUIRE(node.IsSequence());
    REQUIRE(node.size() == array->size());
    for (std::size_t i = 0; i < array->size(); ++i) check_foreign(node[i], (*array)[i]);
  } else if (const json::string* text = value.if_string()) {
    CHECK(node.Tag() == "!");
    CHECK(node.Scalar() == std::string(*text));
  } else if (value.is_null()) {
    CHECK(node.IsNull());
  } else {
    CHECK(node.Tag() == "?");
    CHECK(node.Scalar() == to_json_text(value));
  }
}

// Values whose strings are made of what YAML gives a meaning to.
class Awkward {
 public:
  explicit Awkward(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    static constexpr const char* pieces[] = {
        "1",          "-",     "- ", "0x1F", "1e5",  ".inf", "true",   "No",     "null", "~",
        "2026-02-14", "12:30", ":",  ": ",   "#",    " #",   "'",      "\"",     "\\",   "\n",
        "\n\n",       "\t",    "\r", " ",    "  ",   "{",    "}",      "[",      "]",    ",",
        "&a",         "*a",    "!t", "|",    ">",    "%",    "@",      "`",      "---",  "...",
        "<<",         "=",     "? ", "é",    "日本", "😀",    "\u0085", "\u2028", "a",    "word"};
    std::string out;
    for (std::uint64_t left = random_.below(5); left > 0; --left)
      out += pieces[random_.below(std::size(pieces))];
    return out;
  }

  json::value value(std::size_t depth) {
    switch (random_.below(depth == 0 ? 4 : 7)) {
      case 0:
        return nullptr;
      case 1:
        return static_cast<std::int64_t>(random_.below(100));
      case 2:
      case 3:
        return json::value(text());
      case 4: {
        json::array out;  // empty ones included
        for (std::uint64_t left = random_.below(4); left > 0; --left) out.push_back(value(depth - 1));
        return out;
      }
      default: {
        json::object out;
        for (std::uint64_t left = random_.below(4); left > 0; --left) out[text()] = value(depth - 1);
        return out;
      }
    }
  }

 private:
  RandomJson random_;
};

}  // namespace

TEST_CASE("yaml writer: awkward strings and nested empties, as our reader and as yaml-cpp read them") {
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    const json::value value = {{"root", Awkward(seed).value(5)}};
    const std::string text = to_yaml_text(value);
    CAPTURE(seed);
    CAPTURE(text);
    REQUIRE(outcome(parse_yaml(text)) == to_json_text(value));
    check_foreign(YAML::Load(text), value);
  }
}

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
