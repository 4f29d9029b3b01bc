// Hostile names through every method that takes one, and hostile things at every name that the daemon makes.
#include "tests/session/session_support.h"

namespace sessiond {
namespace {

// What is outside: a file and a directory with known content.
struct Outside {
  TempDir place;
  std::string file = place.write("victim", "precious");
  std::string dir = place.path() + "/victims";
  Outside() { fs::create_directory(dir); }
  bool untouched() const {
    std::size_t entries = 0;
    for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(place.path())) ++entries;
    return read_text(file) == "precious" && entries == 2;
  }
};

std::vector<std::string> hostile_names() {
  std::vector<std::string> names{"..",
                                 ".",
                                 "",
                                 "/",
                                 "//",
                                 "../x",
                                 "../../etc/passwd",
                                 "/etc/passwd",
                                 "a/b",
                                 "a/../b",
                                 "./a",
                                 "a/",
                                 "a//b",
                                 "..\\x",
                                 ".hidden",
                                 ".lock",
                                 ".new-x",
                                 ".archive",
                                 ".trash",
                                 ".stage-x",
                                 "~",
                                 "~root",
                                 "$HOME",
                                 "`id`",
                                 "$(id)",
                                 ";ls",
                                 "|x",
                                 "*",
                                 "?",
                                 "history.jsonl",
                                 "session.json",
                                 "session.json.bak",
                                 "session.json.tmp",
                                 "quarantine",
                                 "x.bak",
                                 "x.tmp",
                                 "x.repair",
                                 "state.yaml",
                                 "CON",
                                 "NUL",
                                 "-rf",
                                 "--",
                                 "a b",
                                 " a",
                                 "a ",
                                 "\t",
                                 "a\nb",
                                 "a\rb",
                                 "%2e%2e%2f",
                                 "..%00",
                                 "....",
                                 "...",
                                 std::string("a\0b", 3),
                                 std::string("\0", 1),
                                 "\x01",
                                 "\x1b[31m",
                                 "\x7f",
                                 "\xc0\xae\xc0\xae",
                                 "\xff\xfe",
                                 "\xed\xa0\x80",
                                 "\u202egnp.exe",
                                 "\u200b",
                                 "\ufeffx",
                                 "e\u0301",
                                 "a\\b",
                                 "\"quoted\"",
                                 "'",
                                 "<script>",
                                 "workflow/..",
                                 "workflow/../x",
                                 "workflow/",
                                 "/workflow/x",
                                 "workflow//x",
                                 "workflow/.archive",
                                 "workflow/.new-x",
                                 "workflow/./x"};
  for (int c = 1; c < 0x20; ++c) names.push_back(std::string("c") + static_cast<char>(c));
  for (const std::size_t length : {127, 128, 129, 200, 201, 255, 256, 512, 513, 4096, 65536})
    for (const char c : {'a', '.', '/', '\0'}) names.push_back(std::string(length, c));
  for (int depth = 1; depth <= 50; ++depth) {
    std::string path;
    for (int i = 0; i < depth; ++i) path += "../";
    names.push_back(path + "victim");
  }
  return names;
}

std::string quoted_json(const std::string& text) {
  std::string out;
  print_json_string(out, text);
  return out;
}

}  // namespace

TEST_CASE("hostile names through every method") {
  Sessions s;
  s.create("demo", 2);
  s.put("demo", "note.md", "mine");
  Outside outside;
  const std::vector<std::string> templates{
      R"("session.get","params":{"session_id":@})",
      R"("session.context","params":{"session_id":@})",
      R"("session.history","params":{"session_id":@})",
      R"("session.diff","params":{"session_id":@,"from":1})",
      R"("session.validate","params":{"session_id":@})",
      R"("session.pause","params":{"session_id":@})",
      R"("session.resume","params":{"session_id":@})",
      R"("session.complete","params":{"session_id":@})",
      R"("session.abort","params":{"session_id":@})",
      R"("session.update","params":{"session_id":@,"changes":{"metadata":{}}})",
      R"("session.revert","params":{"session_id":@,"revision":1})",
      R"("session.fork","params":{"session_id":@})",
      R"("session.migrate","params":{"session_id":@})",
      R"("session.archive","params":{"session_id":@})",
      R"("session.restore","params":{"session_id":@})",
      R"("session.delete","params":{"session_id":@,"confirm":@})",
      R"("artifact.put","params":{"session_id":@,"name":"a","text":"b"})",
      R"("artifact.get","params":{"session_id":@,"name":"a"})",
      R"("artifact.list","params":{"session_id":@})",
      R"("workflow.complete_phase","params":{"session_id":@,"phase":0})",
      R"("workflow.retry_phase","params":{"session_id":@,"phase":0})",
      R"("workflow.rollback","params":{"session_id":@,"to_phase":0})",
      R"("workflow.record_error","params":{"session_id":@,"message":"m"})",
      R"("workflow.get_errors","params":{"session_id":@})",
      R"("artifact.get","params":{"session_id":"demo","name":@})",
      R"("artifact.put","params":{"session_id":"demo","name":@,"text":"b"})",
      R"("workflow.create","params":{"session_id":@,"workflow_type":"t","target_file":"f","total_phases":1})",
      R"("workflow.create","params":{"session_id":"n","root":@,"workflow_type":"t","target_file":"f","total_phases":1})",
      R"("session.fork","params":{"session_id":"demo","new_session_id":@})",
      R"("root.remove","params":{"name":@})",
      R"("root.scan","params":{"name":@})",
      R"("root.add","params":{"path":@,"kind":"workflow","name":"never"})",
      R"("root.add","params":{"path":"/nowhere","kind":"workflow","name":@})",
      R"("session.list","params":{"cursor":@})"};
  const std::vector<std::string> names = hostile_names();
  std::size_t tried = 0;
  std::size_t accepted = 0;
  for (const std::string& name : names) {
    for (std::string text : templates) {
      for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at))
        at += text.replace(at, 1, quoted_json(name)).size() * 0 + quoted_json(name).size();
      const std::string reply = s.ask(R"({"jsonrpc":"2.0","id":1,"method":)" + text + "}");
      REQUIRE(!reply.empty());
      REQUIRE(reply.find("-32603") == std::string::npos);
      accepted += reply.find("\"result\"") != std::string::npos;
      ++tried;
    }
  }
  CHECK(names.size() >= 200);
  CHECK(outside.untouched());
  CHECK(s.artifact("demo", "note.md") == "mine");
  // Everything that was made is a plain name below the root or the session.
  for (const auto& entry : fs::directory_iterator(s.root())) CHECK(fs::is_directory(entry.symlink_status()));
  CHECK(s.status("demo") == "active");
  MESSAGE(names.size() << " names, " << tried << " calls, " << accepted << " of them harmless and accepted");
}

TEST_CASE("planted things at every name the daemon makes") {
  std::size_t cases = 0;
  for (const std::string name :
       {"session.json", "session.json.tmp", "session.json.bak", "history.jsonl", ".lock", "quarantine",
        "note.md", "note.v1.md", ".sync-failed", "history.jsonl.repair"}) {
    for (const std::string what :
         {"symlink", "dangling", "dirlink", "fifo", "directory", "full", "hardlink"}) {
      for (const bool loaded : {true, false}) {
        CAPTURE(name);
        CAPTURE(what);
        CAPTURE(loaded);
        Outside outside;
        Sessions s;
        s.create("demo", 9);
        s.complete("demo", 0);
        s.put("demo", "note.md", "first");
        const json::value before = s.document("demo");
        s.pool.wait_idle();
        const fs::path place = s.dir("demo") / name;
        fs::remove_all(place);
        if (what == "symlink") fs::create_symlink(outside.file, place);
        if (what == "dangling") fs::create_symlink(outside.place.path() + "/new", place);
        if (what == "dirlink") fs::create_directory_symlink(outside.dir, place);
        if (what == "fifo") REQUIRE(mkfifo(place.c_str(), 0600) == 0);
        if (what == "directory") fs::create_directory(place);
        if (what == "full") fs::create_directory(place), write_text(place / "inside", "kept");
        if (what == "hardlink") fs::create_hard_link(outside.file, place);
        std::optional<Sessions> second;
        Sessions& d = loaded ? s : second.emplace(s.state_dir);
        // Enough changes for every exchange of names to come round, and reads.
        for (int i = 1; i < 5; ++i) {
          const json::object reply = d.complete("demo", i);
          if (reply.contains("error")) CHECK(reply.at("error").at("message").as_string().size() > 10);
          d.put("demo", "note.md", "content " + std::to_string(i));
          d.call("artifact.get", Sessions::of("demo", R"("name":"note.md")"));
          d.call("artifact.get", Sessions::of("demo", R"("name":"note.md","version":1)"));
        }
        d.call("artifact.list", Sessions::of("demo"));
        const std::string got = to_json_text(d.call("session.get", Sessions::of("demo")));
        CHECK(got.find("precious") == std::string::npos);
        CHECK(outside.untouched());
        d.pool.wait_idle();
        ++cases;
        // What only stood in the way of a state file is put aside, and the state file follows again.
        if (name.starts_with("session.json")) {
          CHECK(d.document("demo").at("current_phase") == 5);
          CHECK(read_text(s.dir("demo") / "session.json").find("\"current_phase\": 5") != std::string::npos);
        }
      }
    }
  }
  MESSAGE(cases << " planted things");
}

TEST_CASE("a damaged state file is not replaced while it cannot be kept") {
  Sessions s;
  s.create("demo", 3);
  s.complete("demo", 0);
  s.pool.wait_idle();
  Outside outside;
  fs::create_directory_symlink(outside.dir, s.dir("demo") / "quarantine");
  write_text(s.dir("demo") / "session.json", "{ broken");
  Sessions again(s.state_dir);
  CHECK(again.document("demo").at("current_phase") == 1);
  CHECK(!again.result("session.get", Sessions::of("demo")).at("session").at("warnings").as_array().empty());
  CHECK(again.outcome("workflow.complete_phase", Sessions::of("demo", R"("phase":1)")) == "storage_error");
  CHECK(read_text(s.dir("demo") / "session.json") == "{ broken");
  CHECK(outside.untouched());
  fs::remove(s.dir("demo") / "quarantine");
  CHECK(again.complete("demo", 1).contains("result"));
  CHECK(read_text(s.dir("demo") / "session.json").find("\"current_phase\": 2") != std::string::npos);
}

}  // namespace sessiond
