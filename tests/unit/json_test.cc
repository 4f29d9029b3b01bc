#include "common/json.h"

#include <doctest/doctest.h>

#include "common/limits.h"
#include "support/outcome.h"

using namespace sessiond;

namespace {

std::string nested(std::size_t depth, const char* open, const char* close, const char* core = "") {
  std::string out;
  for (std::size_t i = 0; i < depth; ++i) out += open;
  out += core;
  for (std::size_t i = 0; i < depth; ++i) out += close;
  return out;
}

}  // namespace

TEST_CASE("json: accepted texts keep their values") {
  struct Row {
    std::string_view text, printed;
  };
  const Row rows[] = {
      {"null", "null"},
      {" \t\r\n true \n", "true"},
      {"false", "false"},
      {"0", "0"},
      {"-1", "-1"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775808", "9223372036854775808"},
      {"18446744073709551615", "18446744073709551615"},
      {"1.0", "1.0"},
      {"-0.0", "-0.0"},
      {"1e2", "100.0"},
      {"1E+2", "100.0"},
      {"0.1", "0.1"},
      {"123456789012345678901234567890.0", "1.2345678901234568e+29"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"5e-324", "5e-324"},
      {"0e400", "0.0"},
      {R"("")", R"("")"},
      {R"("a\/b\u0041\ud83d\ude00")", "\"a/bA😀\""},
      {R"("\u0000\u001f")", R"("\u0000\u001f")"},
      {R"("\b\f\n\r\t\"\\")", R"("\b\f\n\r\t\"\\")"},
      {"\"\x7f é € 😀\"", "\"\x7f é € 😀\""},
      {"[]", "[]"},
      {"{}", "{}"},
      {R"( { "b" : [ 1 , { } ] , "a" : null } )", R"({"b":[1,{}],"a":null})"},
      {R"({"":0,"A":1,"a":2})", R"({"":0,"A":1,"a":2})"},
      {R"([{"a":1},{"a":2}])", R"([{"a":1},{"a":2}])"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(outcome(parse_json(row.text)) == row.printed);
  }
}

TEST_CASE("json: an integer, a large integer and a real number stay apart") {
  CHECK(parse_json("1")->is_int64());
  CHECK(parse_json("-9223372036854775808")->is_int64());
  CHECK(parse_json("9223372036854775808")->is_uint64());
  CHECK(parse_json("1.0")->is_double());
  CHECK(parse_json("1e0")->is_double());
  CHECK(std::signbit(parse_json("-0.0")->get_double()));
}

TEST_CASE("json: every refusal names the byte and the reason") {
  struct Row {
    std::string_view text, message;
  };
  const Row rows[] = {
      {"", "not valid JSON at byte 0: incomplete JSON"},
      {"  ", "not valid JSON at byte 2: incomplete JSON"},
      {"[1,", "not valid JSON at byte 3: incomplete JSON"},
      {R"({"a":"b)", "not valid JSON at byte 7: incomplete JSON"},
      {"tru", "not valid JSON at byte 3: incomplete JSON"},
      {"1 2", "not valid JSON at byte 2: extra data"},
      {"{}x", "not valid JSON at byte 2: extra data"},
      {"[1,]", "not valid JSON at byte 3: syntax error"},
      {"{'a':1}", "not valid JSON at byte 1: syntax error"},
      {"{1:1}", "not valid JSON at byte 1: syntax error"},
      {"// x\n1", "not valid JSON at byte 0: syntax error"},
      {"NaN", "not valid JSON at byte 0: syntax error"},
      {"Infinity", "not valid JSON at byte 0: syntax error"},
      {"01", "not valid JSON at byte 1: extra data"},
      {"+1", "not valid JSON at byte 0: syntax error"},
      {".5", "not valid JSON at byte 0: syntax error"},
      {"1.", "not valid JSON at byte 2: syntax error"},
      {"\"\n\"", "not valid JSON at byte 1: syntax error"},
      {R"("\x")", "not valid JSON at byte 2: syntax error"},
      {R"("\ud800")", "not valid JSON at byte 7: syntax error"},
      {R"("\ude00")", "not valid JSON at byte 7: illegal trailing surrogate"},
      {"\"\xff\"", "not valid JSON at byte 1: syntax error"},
      {"\"\xc0\x80\"", "not valid JSON at byte 1: syntax error"},
      {"\"\xed\xa0\x80\"", "not valid JSON at byte 1: syntax error"},
      {"\"\xe2\x82", "not valid JSON at byte 3: incomplete JSON"},
      {R"({"a":1,"a":2})", R"(not valid JSON at byte 12: the name "a" stands twice in one object)"},
      {R"({"a":{},"\u0061":[]})", R"(not valid JSON at byte 17: the name "a" stands twice in one object)"},
      {R"({"b":{"a":1,"a":2}})", R"(not valid JSON at byte 17: the name "a" stands twice in one object)"},
      {"1e309", "not valid JSON at byte 5: the number 1e309 is out of range"},
      {"-1e309", "not valid JSON at byte 6: the number -1e309 is out of range"},
      {"[1e-400]", "not valid JSON at byte 7: the number 1e-400 is out of range"},
      {"[1e5000]", "not valid JSON at byte 7: the number 1e5000 is out of range"},
      {"1e99999999999", "not valid JSON at byte 11: exponent overflow"},
      {"\xef\xbb\xbf{}", "not valid JSON at byte 0: syntax error"},
      {"18446744073709551616",
       "not valid JSON at byte 20: the integer 18446744073709551616 does not fit 64 bits"},
      {"-9223372036854775809",
       "not valid JSON at byte 20: the integer -9223372036854775809 does not fit 64 bits"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Result<json::value> result = parse_json(row.text);
    CHECK(refusal(result) == row.message);
    if (result) continue;
    CHECK(result.error().code == ErrorCode::parse_error);
    CHECK(result.error().data.contains("offset"));
  }
}

TEST_CASE("json: a zero byte ends nothing") {
  CHECK(refusal(parse_json(std::string_view("1\0", 2))) == "not valid JSON at byte 1: extra data");
  CHECK_FALSE(parse_json(std::string_view("\"\0\"", 3)));
}

TEST_CASE("json: 64 levels are read, 65 refused") {
  CHECK(json_depth_max == 64);
  CHECK(parse_json(nested(64, "[", "]")));
  CHECK(parse_json(nested(64, R"({"a":)", "}", "1")));
  CHECK(parse_json(nested(32, R"({"a":[)", "]}")));
  const std::string message = ": nested deeper than 64 levels";
  for (const std::string& text :
       {nested(65, "[", "]"), nested(65, R"({"a":)", "}", "1"), nested(33, R"({"a":[)", "]}")}) {
    CAPTURE(text);
    CHECK(refusal(parse_json(text)).ends_with(message));
  }
}

TEST_CASE("json: a megabyte of brackets is refused, not a crash") {
  for (const std::string& text :
       {std::string(1 << 20, '['), nested(1 << 17, R"({"a":)", ""), std::string(1 << 20, '{')})
    CHECK_FALSE(parse_json(text));
}

TEST_CASE("json: long strings, names and numbers are taken whole") {
  const std::string text(100'000, 'x');
  const std::string escaped = text + "\\n" + text;
  CHECK(parse_json('"' + escaped + '"')->get_string() == text + "\n" + text);
  CHECK(parse_json("{\"" + escaped + "\":1}")->get_object().contains(text + "\n" + text));
  CHECK(parse_json("1." + std::string(5'000, '0'))->get_double() == 1.0);
  CHECK(parse_json("0." + std::string(300, '0') + "1")->get_double() == 1e-301);
}

TEST_CASE("json: the value may outlive the text and lives in the storage given") {
  unsigned char buffer[4096];
  json::monotonic_resource memory(buffer, sizeof buffer);
  std::string text = R"({"a":["long enough not to be kept inside the value itself"]})";
  const Result<json::value> value = parse_json(text, &memory);
  std::fill(text.begin(), text.end(), '?');
  REQUIRE(value);
  CHECK(value->storage().get() == &memory);
  CHECK(value->at("a").storage().get() == &memory);
  CHECK(value->at("a").at(0) == "long enough not to be kept inside the value itself");
}

TEST_CASE("json: type names are for sentences") {
  struct Row {
    std::string_view text, name;
  };
  const Row rows[] = {{"null", "null"},        {"true", "a boolean"},
                      {"1", "a whole number"}, {"18446744073709551615", "a whole number"},
                      {"1.5", "a number"},     {"\"\"", "a string"},
                      {"[]", "an array"},      {"{}", "an object"}};
  for (const Row& row : rows) CHECK(type_name(*parse_json(row.text)) == row.name);
}
