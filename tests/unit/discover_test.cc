#include "proto/discover.h"

#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "common/json.h"
#include "proto/methods.h"

using namespace sessiond;

namespace {

// Every object below `schema` that describes a field.
void each_property(const json::value& schema,
                   const std::function<void(std::string_view, const json::object&)>& visit) {
  const json::object* object = schema.if_object();
  if (object == nullptr) return;
  if (const json::value* properties = object->if_contains("properties"))
    for (const auto& [name, property] : properties->as_object()) {
      visit(name, property.as_object());
      each_property(property, visit);
    }
  for (const char* below : {"items", "additionalProperties"})
    if (const json::value* inner = object->if_contains(below)) each_property(*inner, visit);
}

}  // namespace

TEST_CASE("discover: every method has a summary and every field a description") {
  std::size_t fields = 0;
  const auto described = [&](std::string_view name, const json::object& property) {
    CAPTURE(name);
    ++fields;
    const json::value* about = property.if_contains("description");
    REQUIRE(about != nullptr);
    CHECK_FALSE(about->as_string().empty());
  };
  const json::object document = discover_document();
  for (const json::value& entry : document.at("methods").as_array()) {
    const json::object& method = entry.as_object();
    CAPTURE(method.at("name").as_string());
    CHECK_FALSE(method.at("summary").as_string().empty());
    for (const json::value& parameter : method.at("params").as_array()) {
      described(parameter.at("name").as_string(), parameter.as_object());
      each_property(parameter.at("schema"), described);
    }
    each_property(method.at("result").at("schema"), described);
  }
  CHECK(fields > 30);
}

TEST_CASE("discover: the document lists every method and every error, in order") {
  const json::object document = discover_document();
  CHECK(document.at("openrpc") == "1.2.6");
  CHECK(document.at("info").at("title") == "sessiond");
  CHECK(document.at("info").at("version") == SESSIOND_VERSION);
  const json::array& methods = document.at("methods").as_array();
  REQUIRE(methods.size() == all_methods().size());
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const MethodInfo& info = all_methods()[i];
    CHECK(methods[i].at("name").as_string() == info.name);
    CHECK(methods[i].at("summary").as_string() == info.summary);
    CHECK(methods[i].at("paramStructure") == "by-name");
    CHECK(methods[i].at("x-access") == (info.access == Access::read ? "read" : "write"));
    CHECK(methods[i].at("params").as_array().size() >= info.params.size());
  }
  const json::array& errors = document.at("x-errors").as_array();
  REQUIRE(errors.size() == error_table().size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    CHECK(errors[i].at("code") == error_table()[i].number);
    CHECK(errors[i].at("data").as_string() == error_table()[i].name);
  }
}

TEST_CASE("discover: a method's entry is what OpenRPC asks for") {
  const json::object document = discover_document();
  const json::array& methods = document.at("methods").as_array();
  const auto found = std::find_if(methods.begin(), methods.end(),
                                  [](const json::value& m) { return m.at("name") == "daemon.stats"; });
  REQUIRE(found != methods.end());
  CHECK(to_json_text(found->at("params")) ==
        R"([{"name":"format","description":"json (default) or prometheus","required":false,)"
        R"("schema":{"type":"string","enum":["json","prometheus"]}}])");
  CHECK(found->at("result").at("name") == "result");
  CHECK(found->at("result").at("schema").at("properties").as_object().contains("requests_by_method"));
}

TEST_CASE("discover: the document survives its own printing") {
  const json::object document = discover_document();
  const Result<json::value> back = parse_json(to_json_text(document));
  REQUIRE(back);
  CHECK(to_json_text(*back) == to_json_text(document));
}

TEST_CASE("discover: the tables name every method, field and error") {
  const std::string tables = protocol_tables();
  const auto mentions = [&](std::string text) { return tables.find(text) != std::string::npos; };
  for (const MethodInfo& method : all_methods()) {
    CAPTURE(method.name);
    const std::size_t at = tables.find("| `" + std::string(method.name) + "` | ");
    REQUIRE(at != std::string::npos);
    const std::string row = tables.substr(at, tables.find('\n', at) - at);
    CHECK(row.find(method.summary) != std::string::npos);
    CHECK(std::count(row.begin(), row.end(), '|') == 5);
    for (Fields group : {method.params, method.reply})
      for (const Field& field : group) CHECK(row.find(field.name) != std::string::npos);
  }
  for (const ErrorInfo& error : error_table())
    CHECK(mentions("| " + std::to_string(error.number) + " | `" + std::string(error.name) + "` | " +
                   std::string(error.text) + " | " + std::to_string(error.exit_status) + " |\n"));
  CHECK(mentions("| format? |"));
}

TEST_CASE("discover: PROTOCOL.md ends with the tables as they are now") {
  std::ifstream file(SESSIOND_SOURCE_DIR "/proto/PROTOCOL.md");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  INFO("to bring it up to date: tests/update_protocol");
  CHECK(page.ends_with("-->\n\n" + protocol_tables()));
}
