#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/digest.h"
#include "support/test_dispatcher.h"

using namespace sessiond;

namespace {

std::string text_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A session with three revisions and an artifact.
std::string make_demo(TestDispatcher& daemon) {
  const json::object made = daemon.result(
      "workflow.create", R"({"session_id":"demo","workflow_type":"w","target_file":"t","total_phases":3})");
  daemon.result("workflow.complete_phase", R"({"session_id":"demo","phase":0})");
  daemon.result("artifact.put", R"({"session_id":"demo","name":"notes.md","text":"hello"})");
  return std::string(made.at("session").at("directory").as_string());
}

std::string pointer(TestDispatcher& daemon, const std::string& id, const std::string& where) {
  return to_json_text(
      daemon.result("session.get", R"({"session_id":")" + id + R"(","pointer":")" + where + "\"}")
          .at("document"));
}

}  // namespace

TEST_CASE("session.export and import: a copy has the history, the state and the artifacts") {
  TestDispatcher daemon;
  make_demo(daemon);
  const std::string file = daemon.directory.path() + "/demo.tar";
  const json::object exported =
      daemon.result("session.export", R"({"session_id":"demo","path":")" + file + "\"}");
  CHECK(exported.at("sha256").as_string() == sha256_hex(text_of(file)));
  CHECK(daemon.error("session.export", R"({"session_id":"demo","path":")" + file + "\"}").at("code") ==
        -32022);

  CHECK(daemon.error("session.import", R"({"path":")" + file + "\"}").at("code") == -32012);
  const json::object copied =
      daemon.result("session.import", R"({"session_id":"copy","path":")" + file + "\"}");
  CHECK(copied.at("session").at("revision") == 4);
  CHECK(pointer(daemon, "copy", "/session_id") == "\"copy\"");
  CHECK(pointer(daemon, "copy", "/current_phase") == "1");
  CHECK(daemon.result("artifact.get", R"({"session_id":"copy","name":"notes.md"})").at("text") == "hello");
  CHECK(daemon.result("session.get", R"({"session_id":"copy","at_revision":1,"pointer":"/current_phase"})")
            .at("document") == 0);
  // Both go on for themselves.
  daemon.result("workflow.complete_phase", R"({"session_id":"copy","phase":1})");
  CHECK(pointer(daemon, "demo", "/current_phase") == "1");
}

TEST_CASE("session.export: the content comes in the reply when no path is given") {
  TestDispatcher daemon;
  make_demo(daemon);
  const json::object exported = daemon.result("session.export", R"({"session_id":"demo"})");
  const std::string base64(exported.at("base64").as_string());
  CHECK(daemon.result("session.import", R"({"session_id":"again","base64":")" + base64 + "\"}")
            .at("session")
            .at("kind") == "workflow");
  const json::object state = daemon.result("session.export", R"({"session_id":"demo","format":"state"})");
  const std::string text = *from_base64(std::string(state.at("base64").as_string()));
  CHECK(parse_json(text)->at("session_id") == "demo");
  const json::object plain = daemon.result(
      "session.import", R"({"session_id":"plain","kind":"workflow","base64":")" + to_base64(text) + "\"}");
  CHECK(plain.at("session").at("revision") == 1);
  CHECK(pointer(daemon, "plain", "/current_phase") == "1");
}

TEST_CASE("session.import: what cannot be used is refused and leaves nothing") {
  TestDispatcher daemon;
  make_demo(daemon);
  std::string bytes = *from_base64(
      std::string(daemon.result("session.export", R"({"session_id":"demo"})").at("base64").as_string()));
  bytes[bytes.find("hello")] = 'H';
  const auto import = [&](std::string_view content, std::string_view more) {
    return daemon.error("session.import", R"({"session_id":"new","base64":")" + to_base64(content) + "\"" +
                                              std::string(more) + "}");
  };
  CHECK(import(bytes, "").at("data").at("error") == "damaged");
  CHECK(import("{}", "").at("data").at("field") == "params.kind");
  CHECK(import("{", R"(,"kind":"workflow")").at("data").at("error") == "parse_error");
  CHECK(import("{}", R"(,"kind":"nothing")").at("data").at("error") == "unsupported");
  CHECK(daemon.error("session.import", R"({"path":"relative"})").at("data").at("field") == "params.path");
  CHECK(daemon.error("session.import", R"({"path":"/dev/null"})").at("data").at("error") == "storage_error");
  CHECK(daemon.result("session.list").at("total") == 1);
}

TEST_CASE("session.import: somebody else than the daemon's user cannot name files") {
  TestDispatcher daemon;
  make_demo(daemon);
  daemon.caller.uid = 4711;
  CHECK(daemon.error("session.import", R"({"path":"/etc/passwd"})").at("data").at("error") ==
        "access_denied");
  CHECK(daemon.error("session.export", R"({"session_id":"demo","path":"/tmp/x"})").at("data").at("error") ==
        "access_denied");
  CHECK(daemon.error("session.get", R"({"session_id":"demo"})").at("data").at("error") == "not_found");
}

TEST_CASE("session.recover: a history that is damaged in the middle") {
  TestDispatcher daemon;
  const std::string directory = make_demo(daemon);
  daemon.result("session.export", R"({"session_id":"demo"})");  // unloads it
  const std::string file = directory + "/history.jsonl";
  std::string history = text_of(file);
  history[history.find("complete_phase") + 1] = 'X';
  write_text(file, history);

  // Served up to the damage, read-only.
  CHECK(pointer(daemon, "demo", "/current_phase") == "0");
  CHECK(
      daemon.error("workflow.complete_phase", R"({"session_id":"demo","phase":0})").at("data").at("error") ==
      "read_only");
  const char* from = nullptr;
  std::string phase;
  SUBCASE("from the history up to there") {
    from = "history";
    phase = "0";
  }
  SUBCASE("from the state file") {
    from = "state";
    phase = "1";
  }
  SUBCASE("from the backup") {
    from = "backup";
    phase = "1";
  }
  const json::object recovered =
      daemon.result("session.recover", R"({"session_id":"demo","from":")" + std::string(from) + "\"}");
  CHECK(recovered.at("recovery").at("source") == from);
  CHECK(pointer(daemon, "demo", "/current_phase") == phase);
  CHECK(daemon.result("workflow.complete_phase", R"({"session_id":"demo","phase":)" + phase + "}")
            .at("workflow_completed") == false);
  // The damaged original is kept.
  bool kept = false;
  for (const auto& entry : std::filesystem::directory_iterator(directory + "/quarantine"))
    kept = kept || text_of(entry.path().string()) == history;
  CHECK(kept);
}

TEST_CASE("session.recover: nothing readable is left") {
  TestDispatcher daemon;
  const std::string directory = make_demo(daemon);
  daemon.result("session.export", R"({"session_id":"demo"})");
  for (const char* name : {"history.jsonl", "session.json", "session.json.bak"})
    write_text(directory + "/" + name, "\x01garbage");
  const json::object lost = daemon.error("session.get", R"({"session_id":"demo"})");
  CHECK(lost.at("data").at("error") == "damaged");
  CHECK(lost.at("data").at("level") == 3);
  CHECK(daemon.error("session.recover", R"({"session_id":"demo","from":"history"})").at("code") != 0);
  CHECK(daemon.error("session.recover", R"({"session_id":"demo","from":"fresh"})").at("data").at("field") ==
        "params.directions");
  CHECK(
      daemon.error("session.recover", R"({"session_id":"demo","from":"artifacts"})").at("data").at("error") ==
      "unsupported");
  daemon.result("workflow.create",
                R"({"session_id":"model","workflow_type":"w","target_file":"t","total_phases":2})");
  const std::string document =
      to_json_text(daemon.result("session.get", R"({"session_id":"model"})").at("document"));
  daemon.result("session.recover", R"({"session_id":"demo","from":"fresh","directions":)" + document + "}");
  CHECK(daemon.result("workflow.complete_phase", R"({"session_id":"demo","phase":0})").at("current_phase") ==
        1);
}
