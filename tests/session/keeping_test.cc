// Archive, restore and delete: nothing active is ever removed, nothing is lost in a race.
#include "tests/session/session_support.h"

namespace sessiond {
namespace {

std::string batch_of(const std::vector<std::pair<std::string, std::string>>& calls) {
  std::string out;
  for (const auto& [method, params] : calls)
    out += (out.empty() ? "[" : ",") +
           (R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}");
  return out + "]";
}

}  // namespace

TEST_CASE("archive, restore, delete") {
  Sessions s;
  s.create("demo", 1);
  const std::string demo = Sessions::of("demo");
  const std::string confirmed = Sessions::of("demo", R"("confirm":"demo")");
  CHECK(s.outcome("session.archive", demo) == "refused");
  CHECK(s.outcome("session.delete", confirmed) == "refused");
  CHECK(s.outcome("session.delete", Sessions::of("demo", R"("confirm":"dmeo")")) == "invalid_params");
  CHECK(s.outcome("session.restore", demo) == "refused");
  s.complete("demo", 0);
  CHECK(s.outcome("session.archive", demo) == "ok");
  CHECK(s.status("demo") == "archived");
  CHECK(fs::exists(s.root() / ".archive/demo/history.jsonl"));
  CHECK(s.outcome("session.archive", demo) == "refused");
  CHECK(s.outcome("session.revert", Sessions::of("demo", R"("revision":1)")) == "refused");
  CHECK(s.result("session.list", R"({"status":"archived"})").at("total") == 1);
  CHECK(Sessions::name_of(s.create("demo", 1)) == "already_exists");
  {
    Sessions again(s.state_dir);
    CHECK(again.status("demo") == "archived");
  }
  CHECK(s.outcome("session.restore", demo) == "ok");
  CHECK(s.status("demo") == "completed");
  // Each move has a line, and changes nothing.
  CHECK(s.history("demo").size() == 4);
  CHECK(s.history("demo")[2].at("command") == "session.archive");
  CHECK(s.revision("demo") == 2);
  // The same id again and again, within one millisecond.
  for (int i = 0; i < 5; ++i) {
    CHECK(s.outcome("session.delete", confirmed) == "ok");
    CHECK(s.outcome("session.get", demo) == "not_found");
    CHECK(s.create("demo", 1).contains("result"));
    CHECK(s.complete("demo", 0).contains("result"));
  }
  std::size_t kept = 0;
  for (const auto& entry : fs::directory_iterator(s.root() / ".trash"))
    kept += fs::exists(entry.path() / "history.jsonl");
  CHECK(kept == 5);
}

TEST_CASE("a repeated move with the same key is answered as the first one and does nothing") {
  for (const bool restart : {false, true}) {
    CAPTURE(restart);
    std::vector<std::unique_ptr<Sessions>> daemons;
    daemons.push_back(std::make_unique<Sessions>());
    const std::string state_dir = daemons.front()->state_dir;
    const auto call = [&](std::string_view method, const std::string& more) {
      if (restart) daemons.push_back(std::make_unique<Sessions>(state_dir));
      return daemons.back()->call(method, Sessions::of("demo", more));
    };
    const auto make = [&] {
      REQUIRE(daemons.back()->create("demo", 1).contains("result"));
      REQUIRE(daemons.back()->complete("demo", 0).contains("result"));
    };
    make();
    const std::string first = R"("idempotency_key":"a-1")";
    const json::object archived = call("session.archive", first);
    CHECK(archived.contains("result"));
    CHECK(call("session.archive", first) == archived);
    CHECK(Sessions::name_of(call("session.archive", R"("idempotency_key":"a-2")")) == "refused");
    const json::object restored = call("session.restore", R"("idempotency_key":"r-1")");
    CHECK(restored.contains("result"));
    CHECK(call("session.restore", R"("idempotency_key":"r-1")") == restored);
    // Long after: the session was restored, and stays where it is.
    CHECK(call("session.archive", first) == archived);
    CHECK(fs::exists(fs::path(state_dir) / "roots/workflow/demo"));
    const std::string gone = R"("confirm":"demo","idempotency_key":"d-1")";
    const json::object deleted = call("session.delete", gone);
    CHECK(deleted.contains("result"));
    CHECK(call("session.delete", gone) == deleted);
    CHECK(Sessions::name_of(call("session.delete", R"("confirm":"demo")")) == "not_found");
    // Another session of that name is not meant.
    make();
    CHECK(call("session.delete", gone) == deleted);
    CHECK(daemons.back()->revision("demo") == 2);
  }
}

TEST_CASE("a repeated change is answered after the session was archived") {
  Sessions s;
  s.create("demo", 1);
  const std::string keyed = Sessions::of("demo", R"("phase":0,"idempotency_key":"c-1")");
  const json::object first = s.call("workflow.complete_phase", keyed);
  REQUIRE(first.contains("result"));
  REQUIRE(s.outcome("session.archive", Sessions::of("demo")) == "ok");
  CHECK(s.call("workflow.complete_phase", keyed) == first);
  CHECK(Sessions(s.state_dir).call("workflow.complete_phase", keyed) == first);
  CHECK(s.update("demo", "{}") == "refused");
}

TEST_CASE("a move whose line is there but which did not happen is done when it is repeated") {
  Sessions s;
  s.create("demo", 1);
  s.complete("demo", 0);
  const std::string params = Sessions::of("demo", R"("idempotency_key":"a-1")");
  REQUIRE(s.outcome("session.archive", params) == "ok");
  s.pool.wait_idle();
  fs::rename(s.root() / ".archive/demo", s.dir("demo"));
  Sessions again(s.state_dir);
  CHECK(again.status("demo") == "completed");
  CHECK(again.outcome("session.archive", params) == "ok");
  CHECK(fs::exists(s.root() / ".archive/demo/history.jsonl"));
  CHECK(again.history("demo").size() == 3);
}

TEST_CASE("a session that cannot be read just now is neither archived nor deleted") {
  Sessions s;
  s.create("demo", 2);
  Sessions again(s.state_dir);
  fs::rename(s.dir("demo") / ".lock", s.dir("demo") / ".lock-away");
  fs::create_directory(s.dir("demo") / ".lock");
  CHECK(again.outcome("session.archive", Sessions::of("demo")) == "storage_error");
  CHECK(again.outcome("session.delete", Sessions::of("demo", R"("confirm":"demo")")) == "storage_error");
  CHECK(fs::exists(s.dir("demo") / "history.jsonl"));
}

TEST_CASE("moves and commands that race: one directory, one history, every reply true") {
  Sessions s;
  const int rounds = static_cast<int>(test::scaled(150, 30));
  s.create("demo", 2);
  s.call("session.pause", Sessions::of("demo"));
  const std::string demo = Sessions::of("demo");
  std::int64_t acknowledged = s.revision("demo");
  for (int round = 0; round < rounds; ++round) {
    const json::value replies = *parse_json(s.ask(batch_of({{"session.archive", demo},
                                                            {"session.resume", demo},
                                                            {"session.archive", demo},
                                                            {"session.restore", demo},
                                                            {"session.pause", demo},
                                                            {"session.get", demo},
                                                            {"session.restore", demo},
                                                            {"session.pause", demo}})));
    for (const json::value& reply : replies.as_array()) {
      const json::value* result = reply.as_object().if_contains("result");
      if (result == nullptr) {
        const std::string name = Sessions::name_of(reply.as_object());
        CHECK((name == "refused" || name == "not_found"));
      } else if (const json::value* session = result->as_object().if_contains("session")) {
        acknowledged = std::max(acknowledged, session->at("revision").as_int64());
      }
    }
    const bool archived = fs::exists(s.root() / ".archive/demo");
    CHECK(archived != fs::exists(s.dir("demo")));
    CHECK(s.revision("demo") >= acknowledged);
    if (archived) CHECK(s.outcome("session.restore", demo) == "ok");
    s.call("session.pause", demo);
  }
  Sessions again(s.state_dir);
  CHECK(again.revision("demo") == s.revision("demo"));
  CHECK(again.result("session.get", demo).at("session").at("warnings").as_array().empty());
  MESSAGE(rounds << " rounds of 8 racing calls, " << again.history("demo").size() << " lines");
}

}  // namespace sessiond
