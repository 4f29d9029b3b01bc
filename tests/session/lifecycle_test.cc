// A session's life as a user sees it: created, worked on, paused, ended, and what is refused on the way.
#include "tests/session/session_support.h"

namespace sessiond {

TEST_CASE("a workflow from create to completion") {
  Sessions s;
  const json::object made = s.create("demo", 3).at("result").as_object();
  CHECK(made.at("current_phase") == 0);
  CHECK(made.at("session").at("revision") == 1);
  CHECK(made.at("session").at("status") == "active");
  CHECK(text_of(made.at("session").at("directory")) == s.dir("demo").string());
  for (int phase = 0; phase < 3; ++phase) {
    const json::object done = s.complete("demo", phase).at("result").as_object();
    CHECK(done.at("workflow_completed") == (phase == 2));
    CHECK(done.at("session").at("revision") == phase + 2);
  }
  CHECK(s.status("demo") == "completed");
  CHECK(read_text(s.dir("demo") / "session.json").find("\"current_phase\": 2") != std::string::npos);
  CHECK(s.outcome("workflow.complete_phase", Sessions::of("demo", R"("phase":2)")) == "refused");
  CHECK(s.outcome("session.pause", Sessions::of("demo")) == "refused");
  CHECK(s.outcome("session.update", Sessions::of("demo", R"("changes":{"metadata":{"a":1}})")) == "refused");
  CHECK(s.outcome("artifact.put", Sessions::of("demo", R"("name":"a","text":"b")")) == "refused");
  CHECK(s.result("session.validate", Sessions::of("demo")).at("valid") == true);
}

TEST_CASE("pause, resume, context, update, errors, retry and rollback") {
  Sessions s;
  s.create("demo", 4);
  CHECK(s.outcome("session.pause", Sessions::of("demo", R"("context":"half way")")) == "ok");
  CHECK(s.status("demo") == "paused");
  CHECK(s.outcome("workflow.complete_phase", Sessions::of("demo", R"("phase":0)")) == "refused");
  const json::object resumed = s.result("session.resume", Sessions::of("demo"));
  CHECK(resumed.at("session").at("status") == "active");
  CHECK(resumed.at("text").as_string().size() > 20);
  CHECK(s.result("session.context", Sessions::of("demo")).at("context").is_object());
  CHECK(s.outcome("session.update", Sessions::of("demo", R"("changes":{"metadata":{"owner":"me"}})")) ==
        "ok");
  CHECK(s.document("demo").at("metadata").at("owner") == "me");
  CHECK(s.outcome("workflow.record_error", Sessions::of("demo", R"("message":"it broke")")) == "ok");
  CHECK(s.result("workflow.get_errors", Sessions::of("demo")).at("errors").as_array().size() == 1);
  CHECK(s.complete("demo", 0, R"("checkpoint_passed":false)").contains("result"));
  CHECK(s.outcome("workflow.retry_phase", Sessions::of("demo", R"("phase":0)")) == "ok");
  CHECK(s.complete("demo", 0).contains("result"));
  CHECK(s.outcome("workflow.rollback", Sessions::of("demo", R"("to_phase":0)")) == "ok");
  CHECK(s.outcome("workflow.rollback", Sessions::of("demo", R"("to_phase":3)")) != "ok");
  CHECK(s.outcome("session.complete", Sessions::of("demo")) == "refused");
  CHECK(s.outcome("session.abort", Sessions::of("demo", R"("reason":"no use")")) == "ok");
  CHECK(s.status("demo") == "aborted");
  CHECK(s.outcome("session.resume", Sessions::of("demo")) == "refused");
}

TEST_CASE("a refused command leaves nothing but its failure line") {
  Sessions s;
  s.create("demo");
  const json::value before = s.document("demo");
  const std::string file = read_text(s.dir("demo") / "session.json");
  CHECK(s.outcome("workflow.complete_phase", Sessions::of("demo", R"("phase":5)")) == "refused");
  CHECK(s.document("demo") == before);
  CHECK(s.revision("demo") == 1);
  CHECK(read_text(s.dir("demo") / "session.json") == file);
  const json::array history = s.history("demo");
  REQUIRE(history.size() == 2);
  CHECK(history[1].at("status") == "failure");
  CHECK(history[1].at("revision") == 1);
  CHECK(history[1].at("error").as_string().starts_with("Cannot complete phase 5"));
  // And the next change goes on after it, also in another process.
  CHECK(s.complete("demo", 0).contains("result"));
  Sessions again(s.state_dir);
  CHECK(again.revision("demo") == 2);
  CHECK(again.complete("demo", 1).contains("result"));
  CHECK(again.history("demo").size() == 4);
}

TEST_CASE("if_revision") {
  Sessions s;
  s.create("demo");
  CHECK(s.outcome("session.pause", Sessions::of("demo", R"("if_revision":1)")) == "ok");
  const json::object refused = s.error("session.resume", Sessions::of("demo", R"("if_revision":1)"));
  CHECK(refused.at("data").at("error") == "revision_conflict");
  CHECK(refused.at("data").at("revision") == 2);
  CHECK(s.outcome("session.archive", Sessions::of("demo", R"("if_revision":1)")) == "revision_conflict");
  CHECK(s.outcome("session.archive", Sessions::of("demo", R"("if_revision":2)")) == "ok");
}

TEST_CASE("a repeated command with its key is answered as the first, also after a restart") {
  Sessions s;
  const std::string create = R"(,"idempotency_key":"c1")";
  const json::object made = s.create("demo", 300, create);
  CHECK(s.create("demo", 300, create) == made);
  CHECK(Sessions::name_of(s.create("demo", 300)) == "already_exists");
  CHECK(Sessions::name_of(s.create("demo", 300, R"(,"idempotency_key":"c2")")) == "already_exists");
  const json::object first = s.complete("demo", 0, R"("idempotency_key":"k0")");
  s.clock.advance(Millis(60'000));
  CHECK(s.complete("demo", 0, R"("idempotency_key":"k0")") == first);
  CHECK(s.revision("demo") == 2);
  SUBCASE("twice in one batch") {
    const std::string one = R"({"jsonrpc":"2.0","id":1,"method":"workflow.complete_phase","params":)" +
                            Sessions::of("demo", R"("phase":1,"idempotency_key":"k1")") + "}";
    const json::value both = *parse_json(s.ask("[" + one + "," + one + "]"));
    CHECK(both.at(0) == both.at(1));
    CHECK(both.at(0).at("result").at("session").at("revision") == 3);
    CHECK(s.revision("demo") == 3);
  }
  SUBCASE("after a restart, whatever lines came between") {
    // The line with the whole document is right behind the keyed one.
    const std::int64_t last = 255;
    for (std::int64_t i = s.revision("demo") + 1; i < last; ++i) s.complete("demo", static_cast<int>(i) - 2);
    const json::object keyed = s.complete("demo", 253, R"("idempotency_key":"late")");
    REQUIRE(keyed.contains("result"));
    for (int i = 254; i < 259; ++i) REQUIRE(s.complete("demo", i).contains("result"));
    Sessions again(s.state_dir);
    CHECK(again.complete("demo", 253, R"("idempotency_key":"late")") == keyed);
    CHECK(again.create("demo", 300, create) == made);
  }
  SUBCASE("a create without an id makes one session") {
    const std::string params =
        R"({"workflow_type":"t","target_file":"f","total_phases":2,"idempotency_key":"new"})";
    const json::object a = s.result("workflow.create", params);
    CHECK(s.result("workflow.create", params) == a);
    CHECK(s.result("session.list").at("total") == 2);
  }
  SUBCASE("a fork") {
    const std::string params = Sessions::of("demo", R"("idempotency_key":"f")");
    const json::object a = s.result("session.fork", params);
    CHECK(s.result("session.fork", params) == a);
    CHECK(s.result("session.list").at("total") == 2);
  }
}

TEST_CASE("time never runs backwards within a session") {
  Sessions s;
  s.create("demo");
  s.clock.advance(Millis(3'600'000));
  s.complete("demo", 0);
  const TimePoint then = s.clock.now();
  s.clock.set_now(then - Millis(86'400'000));
  s.complete("demo", 1);
  s.error("workflow.complete_phase", Sessions::of("demo", R"("phase":5)"));
  std::string before;
  for (const json::value& line : s.history("demo")) {
    CHECK(text_of(line.at("timestamp")) >= before);
    before = text_of(line.at("timestamp"));
  }
  CHECK(before == format_rfc3339_millis(then));
  CHECK(text_of(s.document("demo").at("updated_at")) == format_rfc3339(then));
}

TEST_CASE("sessions that are not there, and names with two meanings") {
  Sessions s;
  CHECK(s.outcome("session.get", Sessions::of("nobody")) == "not_found");
  CHECK(s.outcome("session.pause", Sessions::of("nobody")) == "not_found");
  TempDir other;
  CHECK(s.outcome("root.add", R"({"path":")" + other.path() + R"(","kind":"workflow","name":"other"})") ==
        "ok");
  s.create("twin");
  CHECK(s.outcome("workflow.create", R"({"session_id":"twin","root":"other","workflow_type":"t",)"
                                     R"("target_file":"f","total_phases":2})") == "ok");
  const json::object error = s.error("session.get", Sessions::of("twin"));
  CHECK(error.at("data").at("error") == "ambiguous");
  CHECK(error.at("data").at("choices").as_array().size() == 2);
  CHECK(s.result("session.get", Sessions::of("other/twin")).at("session").at("root") == "other");
  CHECK(s.outcome("session.pause", Sessions::of("workflow/twin")) == "ok");
  CHECK(s.status("other/twin") == "active");
}

TEST_CASE("two that create the same session at the same time: one wins, whole") {
  Sessions s;
  constexpr int rounds = 30;
  for (int round = 0; round < rounds; ++round) {
    const std::string id = "same-" + std::to_string(round);
    std::string batch = "[";
    for (int i = 0; i < 4; ++i)
      batch += std::string(i == 0 ? "" : ",") + R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
               R"(,"method":"workflow.create","params":{"session_id":")" + id +
               R"(","workflow_type":"t","target_file":"by-)" + std::to_string(i) + R"(","total_phases":2}})";
    const json::value replies = *parse_json(s.ask(batch + "]"));
    std::string winner;
    for (const json::value& reply : replies.as_array())
      if (reply.as_object().contains("result")) {
        CHECK(winner.empty());
        winner = "by-" + to_json_text(reply.at("id"));
      } else {
        CHECK(Sessions::name_of(reply.as_object()) == "already_exists");
      }
    CHECK(s.document(id).at("target_file") == json::value(winner));
  }
}

}  // namespace sessiond
