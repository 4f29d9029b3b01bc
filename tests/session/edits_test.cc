// Other programs and the session's files: edits by hand, legacy directories, artifacts, a foreign lock.
#include <sys/file.h>
#include <sys/wait.h>

#include "tests/session/session_support.h"

namespace sessiond {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::size_t in_quarantine(const fs::path& dir) {
  std::size_t count = 0;
  if (fs::exists(dir / "quarantine"))
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(dir / "quarantine")) ++count;
  return count;
}

// A child that holds flock on a file until it is let go.
class LockHolder {
 public:
  explicit LockHolder(const fs::path& file) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    REQUIRE(pipe(hold_) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      const int lock = open(file.c_str(), O_RDWR);
      const bool held = lock >= 0 && flock(lock, LOCK_EX) == 0;
      close(hold_[1]);
      char byte = held ? 'y' : 'n';
      if (write(ready[1], &byte, 1) != 1) _exit(1);
      (void)!read(hold_[0], &byte, 1);
      _exit(0);
    }
    char byte = 0;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    REQUIRE(byte == 'y');
    close(ready[0]);
    close(ready[1]);
  }
  ~LockHolder() { let_go(); }
  pid_t pid() const { return pid_; }
  void let_go() {
    if (pid_ <= 0) return;
    close(hold_[0]);
    close(hold_[1]);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  int hold_[2];
  pid_t pid_;
};

constexpr const char* legacy_file =
    R"({"session_id":"old","workflow_type":"spec_execution_v1","target_file":"specs/x","current_phase":1,
        "completed_phases":[0],"phase_artifacts":{},"checkpoints":{"0":"passed"},
        "created_at":"2025-10-01T10:00:00Z","updated_at":"2025-10-01T11:00:00Z",
        "metadata":{"total_phases":3}})";

// While the daemon has the session in memory, or before it loads it.
void edit_by_hand(bool loaded) {
  Sessions first;
  first.create("demo", 4);
  first.complete("demo", 0);
  first.complete("demo", 1);
  const fs::path file = first.dir("demo") / "session.json";
  const std::string good = read_text(file);
  const json::value document = first.document("demo");
  std::optional<Sessions> second;
  const auto daemon = [&]() -> Sessions& {
    if (loaded) return first;
    first.pool.wait_idle();
    return second.emplace(first.state_dir);
  };
  SUBCASE("valid: a revision of its own") {
    write_text(file, replaced(good, "\"target_file\": \"specs/demo\"", "\"target_file\": \"by hand\""));
    Sessions& s = daemon();
    CHECK(s.outcome("session.update", Sessions::of("demo", R"("changes":{"metadata":{"a":1}})")) == "ok");
    CHECK(s.revision("demo") == 5);
    CHECK(s.document("demo").at("target_file") == "by hand");
    CHECK(s.history("demo")[3].at("command") == "external.edit");
    CHECK(s.result("session.get", Sessions::of("demo", R"("at_revision":3)")).at("document") == document);
  }
  SUBCASE("invalid: kept in quarantine, recovered") {
    const std::string bad = "{ this is no JSON";
    write_text(file, bad);
    Sessions& s = daemon();
    CHECK(s.complete("demo", 2).contains("result"));
    CHECK(s.revision("demo") == 4);
    CHECK(s.history("demo")[3].at("command") == "session.recovered");
    CHECK(in_quarantine(s.dir("demo")) == 1);
    for (const auto& entry : fs::directory_iterator(s.dir("demo") / "quarantine"))
      CHECK(read_text(entry.path()) == bad);
  }
  SUBCASE("readable, but against the rules") {
    write_text(file, replaced(good, "\"current_phase\": 2", "\"current_phase\": 77"));
    Sessions& s = daemon();
    CHECK(s.complete("demo", 2).contains("result"));
    CHECK(s.document("demo").at("current_phase") == 3);
    CHECK(in_quarantine(s.dir("demo")) == 1);
  }
  for (const std::string how : {"missing", "empty", "cut", "older"}) {
    SUBCASE(how.c_str()) {
      const std::string older = read_text(file.string() + ".bak");
      if (how == "missing") fs::remove(file);
      if (how == "empty") write_text(file, "");
      if (how == "cut") write_text(file, good.substr(0, good.size() / 2));
      if (how == "older") write_text(file, older);
      Sessions& s = daemon();
      if (!loaded) {
        CHECK(s.document("demo") == document);
        CHECK(read_text(file) == good);
      }
      CHECK(s.complete("demo", 2).contains("result"));
      CHECK(s.revision("demo") == 4);
      CHECK(s.history("demo").size() == 4);
      CHECK(in_quarantine(s.dir("demo")) == 0);
      CHECK(read_text(file).find("\"current_phase\": 3") != std::string::npos);
    }
  }
}

}  // namespace

TEST_CASE("edits: a state file from before the last whole document is older, not edited") {
  Sessions first;
  first.create("demo", 4);
  const auto update = [&](int value) {
    REQUIRE(first.outcome("session.update", Sessions::of("demo", R"("changes":{"metadata":{"a":)" +
                                                                     std::to_string(value) + "}}")) == "ok");
  };
  update(0);
  const fs::path file = first.dir("demo") / "session.json";
  const std::string old = read_text(file);
  for (int i = 1; i <= 300; ++i) update(i);
  const json::value document = first.document("demo");
  first.pool.wait_idle();
  write_text(file, old);  // as after a power cut: the file was never synced
  Sessions second(first.state_dir);
  CHECK(second.document("demo") == document);
  CHECK(second.revision("demo") == 302);
  CHECK(read_text(file).find("\"a\": 300") != std::string::npos);
}

TEST_CASE("edits: the state file is behind when the line that describes it was lost") {
  Sessions first;
  first.create("demo", 4);
  first.complete("demo", 0);
  first.pool.wait_idle();
  // The first of two lines of one write; a power cut took the second.
  const fs::path history = first.dir("demo") / "history.jsonl";
  const std::string text = read_text(history);
  std::string_view all(text);
  all.remove_suffix(1);
  HistoryLine line = read_history_line(all.substr(all.rfind('\n') + 1)).line;
  ++line.seq;
  ++line.revision;
  line.files.clear();
  line.batch_at = static_cast<std::int64_t>(text.size());
  line.changes = {{{"op", "add"}, {"path", "/metadata/found"}, {"value", "kept"}}};
  write_text(history, text + build_history_line(line));
  Sessions second(first.state_dir);
  CHECK(second.document("demo").at("metadata").at("found") == "kept");
  CHECK(second.revision("demo") == 3);
  CHECK(read_text(first.dir("demo") / "session.json").find("\"found\": \"kept\"") != std::string::npos);
}

TEST_CASE("edits of session.json while it is in memory") { edit_by_hand(true); }
TEST_CASE("edits of session.json before it is loaded") { edit_by_hand(false); }

// Power cuts leave blocks of several versions in a file that was not synced. It may parse.
TEST_CASE("a state file of two versions is no edit") {
  Sessions s;
  s.create("demo", 4);
  const fs::path file = s.dir("demo") / "session.json";
  const std::string pad(2'000, 'x');
  std::vector<std::string> versions;
  for (const std::string n : {"1", "2"}) {
    REQUIRE(s.update("demo", R"({"a":)" + n + R"(,"pad":")" + pad + R"(","z":)" + n + "}") == "ok");
    versions.push_back(read_text(file));
  }
  const json::value document = s.document("demo");
  s.pool.wait_idle();
  const std::size_t boundary = (versions[0].find("xxx") / 512 + 2) * 512;
  std::string mixed = versions[0].substr(0, boundary) + versions[1].substr(boundary);
  SUBCASE("both are known") {}
  SUBCASE("with a block that was never written") { mixed.replace(boundary, 512, std::string(512, '\0')); }
  REQUIRE(mixed != versions[0]);
  REQUIRE(mixed != versions[1]);
  write_text(file, mixed);
  Sessions again(s.state_dir);
  CHECK(again.document("demo") == document);
  CHECK(again.revision("demo") == 3);
  CHECK(again.last_command("demo") == "session.recovered");
  CHECK(read_text(file) == versions[1]);
  REQUIRE(in_quarantine(s.dir("demo")) == 1);
  for (const auto& entry : fs::directory_iterator(s.dir("demo") / "quarantine"))
    CHECK(read_text(entry.path()) == mixed);
}

TEST_CASE("what a commit that did not happen has staged is swept when the session is loaded") {
  Sessions s;
  s.create("demo");
  s.put("demo", "note.md", "kept");
  s.pool.wait_idle();
  write_text(s.dir("demo") / ".stage-0123456789abcdef", "left over");
  write_text(s.dir("demo") / ".staging", "somebody's own");
  Sessions again(s.state_dir);
  CHECK(again.artifact("demo", "note.md") == "kept");
  CHECK(!fs::exists(s.dir("demo") / ".stage-0123456789abcdef"));
  CHECK(fs::exists(s.dir("demo") / ".staging"));
}

TEST_CASE("a backup made of hard links neither stops the session nor sees its changes") {
  for (const bool loaded : {true, false}) {
    CAPTURE(loaded);
    Sessions s;
    TempDir place;
    s.create("demo", 9);
    for (int i = 0; i < 3; ++i) s.complete("demo", i);
    s.put("demo", "note.md", "first");
    s.pool.wait_idle();
    const fs::path backup = fs::path(place.path()) / "demo";
    fs::copy(s.dir("demo"), backup, fs::copy_options::recursive | fs::copy_options::create_hard_links);
    std::map<std::string, std::string> before;
    for (const auto& entry : fs::directory_iterator(backup))
      before[entry.path().filename().string()] = read_text(entry.path());
    REQUIRE(fs::hard_link_count(s.dir("demo") / "history.jsonl") == 2);
    std::optional<Sessions> second;
    Sessions& d = loaded ? s : second.emplace(s.state_dir);
    CHECK(d.artifact("demo", "note.md") == "first");
    for (int i = 3; i < 8; ++i) CHECK(d.complete("demo", i).contains("result"));
    CHECK(d.put("demo", "note.md", "second").contains("result"));
    d.pool.wait_idle();
    CHECK(d.document("demo").at("current_phase") == 8);
    CHECK(read_text(s.dir("demo") / "session.json").find("\"current_phase\": 8") != std::string::npos);
    CHECK(fs::hard_link_count(s.dir("demo") / "history.jsonl") == 1);
    CHECK(in_quarantine(s.dir("demo")) == 0);
    for (const auto& file : before) {
      CAPTURE(file.first);
      CHECK(read_text(backup / file.first) == file.second);
    }
    Sessions again(s.state_dir);
    CHECK(again.document("demo") == d.document("demo"));
    CHECK(again.history("demo").size() == 11);
  }
}

TEST_CASE("a legacy directory is found, read as it is, and adopted with the first change") {
  Sessions s;
  TempDir place;
  place.write("old/session.json", legacy_file);
  place.write("not-a-session/readme.txt", "hello");
  place.write("broken/session.json", "{");
  const json::object added =
      s.result("root.add", R"({"path":")" + place.path() + R"(","kind":"workflow","name":"legacy"})");
  CHECK(added.at("sessions") == 2);
  CHECK(added.at("problems") == 1);
  const json::object got = s.result("session.get", Sessions::of("old"));
  CHECK(got.at("session").at("revision") == 0);
  CHECK(!got.at("session").at("warnings").as_array().empty());
  CHECK(read_text(fs::path(place.path()) / "old/session.json") == legacy_file);
  CHECK(!fs::exists(fs::path(place.path()) / "old/history.jsonl"));
  CHECK(s.error("session.get", Sessions::of("broken")).at("data").at("error") == "damaged");
  CHECK(s.outcome("session.migrate", Sessions::of("old")) == "ok");
  const json::array history = s.history("old");
  CHECK(history[0].at("command") == "session.adopt");
  CHECK(history[1].at("command") == "session.migrate");
  CHECK(s.document("old").as_object().contains("workflow_structure"));
  CHECK(s.outcome("session.migrate", Sessions::of("old")) == "refused");
  CHECK(s.complete("old", 1).contains("result"));
}

TEST_CASE("artifacts and their versions") {
  Sessions s;
  s.create("demo");
  const std::string long_name = std::string(196, 'n') + ".txt";
  for (const std::string& name : {std::string("draft.md"), std::string("no-extension"), long_name}) {
    for (int i = 1; i <= 4; ++i)
      REQUIRE(s.put("demo", name, "content " + std::to_string(i)).contains("result"));
    CHECK(s.artifact("demo", name) == "content 4");
    for (int i = 1; i <= 3; ++i)
      CHECK(s.artifact("demo", name, ",\"version\":" + std::to_string(i)) == "content " + std::to_string(i));
  }
  CHECK(s.result("artifact.list", Sessions::of("demo")).at("artifacts").as_array().size() == 12);
  CHECK(s.outcome("artifact.get", Sessions::of("demo", R"("name":"draft.md","version":9)")) == "not_found");
  CHECK(s.outcome("artifact.put", Sessions::of("demo", R"("name":"a")")) == "invalid_params");
  CHECK(s.outcome("artifact.put", Sessions::of("demo", R"("name":"a","base64":"!!")")) == "invalid_params");
  CHECK(s.outcome("artifact.put", Sessions::of("demo", R"("name":"a","base64":"AAECgA==")")) == "ok");
  CHECK(s.result("artifact.get", Sessions::of("demo", R"("name":"a")")).at("base64") == "AAECgA==");
  SUBCASE("the same content twice in one write") {
    std::string batch = "[";
    for (int i = 0; i < 3; ++i)
      batch += std::string(i == 0 ? "" : ",") +
               R"({"jsonrpc":"2.0","id":1,"method":"artifact.put","params":)" +
               Sessions::of("demo", R"("name":"same.md","text":"same")") + "}";
    s.ask(batch + "]");
    CHECK(s.artifact("demo", "same.md") == "same");
    CHECK(s.artifact("demo", "same.md", R"(,"version":2)") == "same");
  }
  SUBCASE("a directory has the name of the next version") {
    fs::create_directory(s.dir("demo") / "draft.v4.md");
    CHECK(s.put("demo", "draft.md", "content 5").contains("result"));
    CHECK(s.artifact("demo", "draft.md") == "content 5");
    CHECK(s.artifact("demo", "draft.md", R"(,"version":5)") == "content 4");
  }
  SUBCASE("content that was staged for a commit that did not happen is not taken for an old one") {
    // A crash before the history had the line leaves the staged file; every name it could have is tried.
    CHECK(s.put("demo", "draft.md", "content 1").contains("result"));
    CHECK(s.put("demo", "draft.md", "content 2").contains("result"));
    const std::string lines = read_text(s.dir("demo") / "history.jsonl");
    const std::string staged = ".stage-";
    std::size_t planted = 0;
    s.pool.wait_idle();
    // The staged name of the next commit with the first content.
    Sessions crash(s.state_dir);
    CHECK(crash.put("demo", "draft.md", "content 1").contains("result"));
    crash.pool.wait_idle();
    const std::string after = read_text(s.dir("demo") / "history.jsonl");
    const std::size_t at = after.find(staged, lines.size());
    REQUIRE(at != std::string::npos);
    const std::string name = after.substr(at, after.find('"', at) - at);
    // As if that commit had not happened: its line gone, its staged file there, the artifact as before.
    write_text(s.dir("demo") / "history.jsonl", lines);
    write_text(s.dir("demo") / name, "content 1");
    write_text(s.dir("demo") / "draft.md", "content 2");
    ++planted;
    Sessions again(s.state_dir);
    CHECK(again.artifact("demo", "draft.md") == "content 2");
    CHECK(planted == 1);
  }
}

TEST_CASE("another program holds the lock") {
  Sessions s;
  s.create("demo");
  CHECK(s.revision("demo") == 1);
  LockHolder holder(s.dir("demo") / ".lock");
  const json::object refused = s.error("session.pause", Sessions::of("demo"));
  CHECK(refused.at("data").at("error") == "locked");
  CHECK(text_of(refused.at("data").at("holder")).find(std::to_string(holder.pid())) != std::string::npos);
  CHECK(s.status("demo") == "active");  // reads go on
  CHECK(s.history("demo").size() == 1);
  holder.let_go();
  CHECK(s.outcome("session.pause", Sessions::of("demo")) == "ok");
  LockHolder again(s.dir("demo") / ".lock");
  CHECK(s.outcome("session.archive", Sessions::of("demo")) == "locked");
  again.let_go();
  CHECK(s.outcome("session.archive", Sessions::of("demo")) == "ok");
}

}  // namespace sessiond
