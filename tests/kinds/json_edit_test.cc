#include "common/json_edit.h"

#include <doctest/doctest.h>

#include "common/json.h"

namespace sessiond {
namespace {

json::value parse(std::string_view text) { return parse_json(text).value(); }

TEST_CASE("merge patch follows the examples of RFC 7396") {
  struct Row {
    std::string_view target, patch, result;
  };
  const Row rows[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", "null", "null"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.target);
    CAPTURE(row.patch);
    json::value target = parse(row.target);
    merge_patch(target, parse(row.patch));
    CHECK(to_json_text(target) == row.result);
  }
}

TEST_CASE("merge patch keeps the order of the members that stay") {
  json::value target = parse(R"({"a":1,"b":2,"c":3,"d":4})");
  merge_patch(target, parse(R"({"b":null,"c":5})"));
  CHECK(to_json_text(target) == R"({"a":1,"c":5,"d":4})");
}

TEST_CASE("pointers find what RFC 6901 says") {
  const json::value value =
      parse(R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})");
  const std::pair<std::string_view, std::string_view> rows[] = {{"/foo", R"(["bar","baz"])"},
                                                                {"/foo/0", R"("bar")"},
                                                                {"/", "0"},
                                                                {"/a~1b", "1"},
                                                                {"/c%d", "2"},
                                                                {"/i\\j", "5"},
                                                                {"/k\"l", "6"},
                                                                {"/ ", "7"},
                                                                {"/m~0n", "8"}};
  for (const auto& row : rows) {
    const std::string_view pointer = row.first, expected = row.second;
    CAPTURE(pointer);
    const auto found = pointer_get(value, pointer);
    REQUIRE(found.ok());
    CHECK(to_json_text(**found) == expected);
  }
  CHECK(*pointer_get(value, "") == &value);
}

TEST_CASE("a pointer that names nothing says so") {
  const json::value value = parse(R"({"foo":["bar"],"n":1})");
  for (const std::string_view pointer : {"/bar", "/foo/1", "/foo/00", "/foo/-", "/foo/x", "/n/1"}) {
    CAPTURE(pointer);
    const auto found = pointer_get(value, pointer);
    REQUIRE(!found.ok());
    CHECK(found.error().code == ErrorCode::not_found);
  }
  for (const std::string_view pointer : {"foo", "/f~2", "/f~"}) {
    CAPTURE(pointer);
    CHECK(pointer_get(value, pointer).error().code == ErrorCode::invalid_params);
  }
  CHECK(pointer_get(value, "/bar").error().message == R"(pointer "/bar": there is no "bar" at that place)");
}

TEST_CASE("names in pointers are escaped") {
  CHECK(pointer_escaped("a/b~c") == "a~1b~0c");
  CHECK(pointer_to("/a", "b/c") == "/a/b~1c");
  CHECK(pointer_to("", "") == "/");
}

TEST_CASE("typed members: another type counts as missing") {
  const json::value value = parse(
      R"({"s":"text","i":5,"u":18446744073709551615,"d":1.5,"whole":5.0,"b":true,"o":{"x":1},"a":[1],"n":null})");
  const json::object& object = value.get_object();
  CHECK(string_or(object, "s", "-") == "text");
  CHECK(string_or(object, "i", "-") == "-");
  CHECK(int_or(object, "i", 0) == 5);
  CHECK(int_or(object, "whole", 7) == 7);
  CHECK(!int_member(object, "u"));
  CHECK(*number_member(object, "i") == 5.0);
  CHECK(*number_member(object, "d") == 1.5);
  CHECK(!number_member(object, "s"));
  CHECK(bool_or(object, "b", false));
  CHECK(!bool_or(object, "i", false));
  CHECK(object_member(object, "o") != nullptr);
  CHECK(object_member(object, "a") == nullptr);
  CHECK(array_member(object, "a") != nullptr);
  CHECK(member(object, "n") == nullptr);
  CHECK(member(object, "missing") == nullptr);
}

TEST_CASE("places to write to are made when they are not there") {
  json::object object;
  object_at(object, "o")["x"] = 1;
  array_at(object, "a").push_back(1);
  object["wrong"] = 5;
  object_at(object, "wrong")["y"] = 2;
  CHECK(to_json_text(object) == R"({"o":{"x":1},"a":[1],"wrong":{"y":2}})");
}

}  // namespace
}  // namespace sessiond
