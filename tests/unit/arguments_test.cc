#include "client/arguments.h"

#include <doctest/doctest.h>

#include <iostream>
#include <sstream>

#include "support/environment.h"
#include "support/outcome.h"

using namespace sessiond;

namespace {

const json::object& method() {
  static const json::object made = parse_json(R"({"name":"work.start","params":[
      {"name":"title","schema":{"type":"string"}},
      {"name":"phases","schema":{"type":"integer"}},
      {"name":"ratio","schema":{"type":"number"}},
      {"name":"force","schema":{"type":"boolean"}},
      {"name":"tags","schema":{"type":"array","items":{"type":"string"}}},
      {"name":"extra","schema":{"type":"object"}},
      {"name":"any","schema":{}}]})")
                                       ->as_object();
  return made;
}

// The parameters as JSON, or "error: ...".
std::string parsed(const std::vector<std::string>& words) {
  const Result<json::object> result = parse_arguments(method(), words);
  return result ? to_json_text(*result) : "error: " + result.error().message;
}

}  // namespace

TEST_CASE("arguments: text becomes what the parameter's type says") {
  struct Row {
    std::vector<std::string> words;
    std::string_view params;
  };
  const Row rows[] = {
      {{}, "{}"},
      {{"title=six"}, R"({"title":"six"})"},
      {{"title=6"}, R"({"title":"6"})"},
      {{"title=true"}, R"({"title":"true"})"},
      {{"title="}, R"({"title":""})"},
      {{"title=a=b"}, R"({"title":"a=b"})"},
      {{"title={\"a\":1}"}, R"({"title":"{\"a\":1}"})"},
      {{"phases=6"}, R"({"phases":6})"},
      {{"phases=six"}, R"({"phases":"six"})"},  // the daemon says what is wrong
      {{"phases="}, R"({"phases":""})"},
      {{"ratio=0.5"}, R"({"ratio":0.5})"},
      {{"force=true", "phases=2"}, R"({"force":true,"phases":2})"},
      {{"tags=a, b,c"}, R"({"tags":["a","b","c"]})"},
      {{"tags=a"}, R"({"tags":["a"]})"},
      {{"tags="}, R"({"tags":[]})"},
      {{"tags=[\"a,b\"]"}, R"({"tags":["a,b"]})"},
      {{"extra={\"a\":[1]}"}, R"({"extra":{"a":[1]}})"},
      {{"any=5"}, R"({"any":5})"},
      {{"any=word"}, R"({"any":"word"})"},
      {{"title:=5"}, R"({"title":5})"},
      {{"tags:=null"}, R"({"tags":null})"},
      {{"title=@@home"}, R"({"title":"@home"})"},
      {{R"({"anything": [1, {}]})"}, R"({"anything":[1,{}]})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.params);
    CHECK(parsed(row.words) == row.params);
  }
}

TEST_CASE("arguments: what cannot be meant is refused") {
  struct Row {
    std::vector<std::string> words;
    std::string_view message;
  };
  const Row rows[] = {
      {{"word"}, "error: expected name=value, name:=JSON or one JSON object, got \"word\""},
      {{"=5"}, "error: expected name=value, name:=JSON or one JSON object, got \"=5\""},
      {{"titel=x"},
       "error: work.start has no parameter \"titel\" (did you mean 'title'?); it takes title, phases, ratio, "
       "force, tags, extra, any"},
      {{":=5"},
       "error: work.start has no parameter \"\"; it takes title, phases, ratio, force, tags, extra, any"},
      {{"title=a", "title=b"}, "error: parameter \"title\" is given twice"},
      {{"extra=x"}, "error: extra: expected JSON, got \"x\""},
      {{"tags=[1"}, "error: tags: expected JSON, got \"[1\""},
      {{"title:={"}, "error: title: not valid JSON at byte 1: incomplete JSON"},
      {{"{\"a\":1"}, "error: not valid JSON at byte 6: incomplete JSON"},
      {{"{}", "title=x"}, "error: expected name=value, name:=JSON or one JSON object, got \"{}\""},
      {{"title=@/no/such/file"}, "error: title: cannot read \"/no/such/file\""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.message);
    CHECK(parsed(row.words) == row.message);
  }
  CHECK(parse_arguments(method(), {"word"}).error().code == ErrorCode::usage);
}

TEST_CASE("arguments: a method without parameters says so") {
  const Result<json::object> result = parse_arguments({{"name", "daemon.ping"}}, {"a=1"});
  CHECK(refusal(result) == "daemon.ping has no parameter \"a\"; it takes none");
}

TEST_CASE("arguments: a file's content is the value") {
  const TempDir dir;
  const std::string text = dir.write("text", "two\nlines\n");
  const std::string list = dir.write("list", R"(["x","y"])");
  CHECK(parsed({"title=@" + text}) == R"({"title":"two\nlines\n"})");
  CHECK(parsed({"tags=@" + list}) == R"({"tags":["x","y"]})");
  CHECK(parsed({"title=@" + dir.path()}) == "error: title: cannot read \"" + dir.path() + "\"");
}

TEST_CASE("arguments: @- is standard input") {
  std::istringstream text("from a pipe");
  std::streambuf* const before = std::cin.rdbuf(text.rdbuf());
  const std::string result = parsed({"title=@-"});
  std::cin.rdbuf(before);
  CHECK(result == R"({"title":"from a pipe"})");
}
