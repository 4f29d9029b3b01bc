#include "client/render.h"

#include <doctest/doctest.h>

#include "common/json.h"
#include "proto/discover.h"

using namespace sessiond;

namespace {

json::object object(std::string_view text) { return parse_json(text)->as_object(); }

}  // namespace

TEST_CASE("render: members are aligned, nested ones indented") {
  CHECK(render_members(object(R"({"a":1,"long_name":"text","é":true,"list":[1,"x"],"none":null,"empty":{},
                                  "inner":{"x":1.5,"deeper":{"y":"z"}}})")) ==
        "a          1\n"
        "long_name  text\n"
        "é          true\n"
        "list       [1,\"x\"]\n"
        "none       null\n"
        "empty      {}\n"
        "inner\n"
        "  x       1.5\n"
        "  deeper\n"
        "    y  z\n");
  CHECK(render_members({}) == "");
}

TEST_CASE("render: an error and what to do next") {
  CHECK(render_error(Error(ErrorCode::refused, "no")) == "error: no\n");
  CHECK(render_error(Error(ErrorCode::refused, "no").next("wait")) == "error: no\nnext:  wait\n");
  CHECK(render_error(Error(ErrorCode::refused, "no").with("next", 5)) == "error: no\n");
}

TEST_CASE("render: one line per method") {
  CHECK(render_method_list(object(R"({"methods":[{"name":"a.b","summary":"One"},
                                                 {"name":"long.name","summary":"Two"}]})")) ==
        "a.b        One\n"
        "long.name  Two\n");
  CHECK(render_method_list({}) == "");
}

TEST_CASE("render: the help page of a method") {
  CHECK(render_method(object(R"({"name":"work.start","summary":"Starts work","params":[
      {"name":"title","description":"a title","required":true,"schema":{"type":"string","maxLength":9}},
      {"name":"n","description":"a number","required":false,
       "schema":{"type":"integer","minimum":1,"maximum":5}},
      {"name":"mode","description":"how","schema":{"type":"string","enum":["fast","slow"]}},
      {"name":"tags","description":"tags","schema":{"type":"array","items":{"type":"string"}}},
      {"name":"any","description":"anything","schema":{}}],
      "result":{"schema":{"properties":{"id":{"description":"its id"},"revision":{"description":"its revision"}}}}})")) ==
        "work.start: Starts work\n"
        "\n"
        "Parameters:\n"
        "  title  string of at most 9 characters, required\n"
        "         a title\n"
        "  n      integer >= 1 <= 5\n"
        "         a number\n"
        "  mode   one of fast, slow\n"
        "         how\n"
        "  tags   array of string\n"
        "         tags\n"
        "  any    any JSON\n"
        "         anything\n"
        "\n"
        "Result:\n"
        "  id        its id\n"
        "  revision  its revision\n");
  CHECK(render_method(object(R"({"name":"a.b","summary":"S","params":[]})")) ==
        "a.b: S\n\nParameters:\n  none\n");
}

TEST_CASE("render: every method of ours has a page without gaps") {
  const json::object document = discover_document();
  const std::string list = render_method_list(document);
  for (const json::value& method : document.at("methods").as_array()) {
    const std::string name(method.at("name").as_string());
    CAPTURE(name);
    CHECK(list.find(name) != std::string::npos);
    const std::string page = render_method(method.as_object());
    CHECK(page.starts_with(name + ": "));
    CHECK(page.ends_with('\n'));
    for (const json::value& parameter : method.at("params").as_array())
      CHECK(page.find(parameter.at("description").as_string().c_str()) != std::string::npos);
  }
}

TEST_CASE("render: JSON for people holds no control character and is still the same JSON") {
  const json::value value = *parse_json("{\"t\":\"a\x7f\xc2\x9b\xc2\xa0é\\u001b\"}");
  const std::string text = render_json(value);
  CHECK(text == "{\n  \"t\": \"a\\u007f\\u009b\xc2\xa0é\\u001b\"\n}");
  CHECK(*parse_json(text) == value);
}
