// What every session can do, for workflows: pause, resume, complete, abort, update; and what is refused when.
#include "tests/kinds/workflow_support.h"

namespace sessiond {
namespace {

using namespace workflow_test;

constexpr std::string_view possible = "; it can be read, reverted to an earlier revision, forked or archived";

TEST_CASE("pause keeps why and what was being worked on") {
  const Document document =
      must(pause(with_completed(3, {.named = true}), 100, "system_error", "Task 2 of 4"));
  CHECK(part(document, "/lifecycle/paused") == "true");
  CHECK(part(document, "/lifecycle/paused_at") == R"("2025-10-23T08:40:00Z")");
  CHECK(part(document, "/lifecycle/paused_reason") == R"("system_error")");
  CHECK(part(document, "/lifecycle/paused_context") == R"("Task 2 of 4")");
  CHECK(status_at(document, 101) == "paused");
  CHECK(rules_of(document).empty());
}

TEST_CASE("without words a pause is the user's, at the current phase") {
  const auto paused = pause(created({.named = true}), 5);
  REQUIRE(paused.ok());
  CHECK(paused->reply.message == "Paused at Phase 0: Planning (user_request)");
  CHECK(part(paused->document, "/lifecycle/paused_reason") == R"("user_request")");
  CHECK(part(paused->document, "/lifecycle/paused_context") == R"("Working on Phase 0: Planning")");
}

TEST_CASE("the reasons of a pause") {
  for (const std::string reason : {"user_request", "checkpoint_failed", "system_error", "inactivity"})
    CHECK(pause(created(), 1, reason).ok());
  check_refused(
      pause(created(), 1, "user_requst"),
      "params.reason: expected one of user_request, checkpoint_failed, system_error, inactivity, got "
      "\"user_requst\" (did you mean 'user_request'?)",
      ErrorCode::invalid_params);
}

TEST_CASE("resume counts, and keeps paused time apart") {
  Document document = must(pause(with_completed(2), 70));
  const auto resumed = resume(document, 190);
  REQUIRE(resumed.ok());
  CHECK(resumed->reply.message == "Resumed at Phase 2 after 2 hours (user_request)");
  document = resumed->document;
  CHECK(part(document, "/lifecycle/paused") == "false");
  CHECK(part(document, "/lifecycle/paused_at") == "null");
  CHECK(part(document, "/lifecycle/paused_reason") == "null");
  CHECK(part(document, "/lifecycle/paused_context") == "null");
  CHECK(part(document, "/lifecycle/resumed_at") == R"("2025-10-23T10:10:00Z")");
  CHECK(part(document, "/lifecycle/resume_count") == "1");
  CHECK(part(document, "/phase_timing/2/paused_duration_seconds") == "7200.0");
  CHECK(
      part(document, "/lifecycle/pauses/0") ==
      R"({"phase":2,"paused_at":"2025-10-23T08:10:00Z","paused_reason":"user_request",)"
      R"("paused_context":"Working on Phase 2","resumed_at":"2025-10-23T10:10:00Z","duration_seconds":7200.0})");
  document = must(pause(document, 200));
  document = must(resume(document, 210));
  CHECK(part(document, "/phase_timing/2/paused_duration_seconds") == "7800.0");
  CHECK(part(document, "/lifecycle/resume_count") == "2");
  CHECK(rules_of(document).empty());
}

TEST_CASE("work can be picked up without a pause, as after a crash") {
  const auto resumed = resume(created(), 10);
  REQUIRE(resumed.ok());
  CHECK(resumed->reply.message == "Picked up at Phase 0; it was not paused");
  CHECK(part(resumed->document, "/lifecycle/resume_count") == "1");
  CHECK(part(resumed->document, "/phase_timing/0/paused_duration_seconds") == "-");
  CHECK(rules_of(resumed->document).empty());
}

TEST_CASE("a pause after a failed checkpoint is not the attempt's") {
  Document document = must(complete(created(), 0, 30, false));
  document = must(pause(document, 40, "checkpoint_failed"));
  document = must(resume(document, 100));
  CHECK(part(document, "/phase_timing/0/paused_duration_seconds") == "-");
  document = must(complete(document, 0, 110));
  CHECK(part(document, "/phase_timing/0/started_at") == R"("2025-10-23T08:40:00Z")");  // when it was resumed
  CHECK(part(document, "/phase_timing/0/duration_seconds") == "600.0");
  CHECK(rules_of(document).empty());
}

TEST_CASE("while paused only what does not move the phases is possible") {
  const Document document = must(pause(with_completed(3), 100));
  const std::string paused = ", the session is paused (user_request); resume it first with session.resume";
  check_refused(complete(document, 3, 101), "Cannot complete phase 3" + paused);
  check_refused(retry(document, 3, 101), "Cannot retry phase 3" + paused);
  check_refused(roll_back(document, 1, 101), "Cannot roll back to phase 1" + paused);
  check_refused(pause(document, 101), "Cannot pause" + paused);
  check_refused(finish(document, 101), "Cannot complete the session" + paused);
  CHECK(record(document, "seen in the log", 101).ok());
  CHECK(update(document, R"({"metadata":{"a":1}})", 101).ok());
  CHECK(abort(document, 101).ok());
}

TEST_CASE("a completed or aborted session refuses every change and says what is possible") {
  struct Row {
    Document document;
    std::string status;
  };
  const Row rows[] = {{with_completed(6), "completed"}, {must(abort(with_completed(5), 170)), "aborted"}};
  for (const Row& row : rows) {
    CAPTURE(row.status);
    const std::string rest = ", the session is " + row.status + std::string(possible);
    check_refused(complete(row.document, 5, 200), "Cannot complete phase 5" + rest);
    check_refused(retry(row.document, 5, 200), "Cannot retry phase 5" + rest);
    check_refused(roll_back(row.document, 1, 200), "Cannot roll back to phase 1" + rest);
    check_refused(record(row.document, "x", 200), "Cannot record an error" + rest);
    check_refused(pause(row.document, 200), "Cannot pause" + rest);
    check_refused(resume(row.document, 200), "Cannot resume" + rest);
    check_refused(finish(row.document, 200), "Cannot complete the session" + rest);
    check_refused(abort(row.document, 200), "Cannot abort" + rest);
    check_refused(update(row.document, R"({"metadata":{}})", 200), "Cannot update" + rest);
    CHECK(workflow_kind().ended(row.document));
    CHECK(status_at(row.document, 300) == row.status);
    CHECK(rules_of(row.document).empty());
  }
}

TEST_CASE("the session is complete only when all phases are") {
  check_refused(finish(with_completed(3), 100), "Cannot complete the session, phases not completed: 3, 4, 5");
  check_refused(finish(created({.total = 2, .start = 1}), 1),
                "Cannot complete the session, phases not completed: 1, 2");
}

TEST_CASE("all phases done but the flag never set: the session can be completed") {
  Document document = with_completed(6);
  document["lifecycle"] = parse(R"({"completed":false,"paused":false,"resume_count":0})");
  const auto done = finish(document, 300);
  REQUIRE(done.ok());
  CHECK(part(done->document, "/lifecycle/completed") == "true");
  CHECK(part(done->document, "/lifecycle/completed_at") == R"("2025-10-23T12:00:00Z")");
  CHECK(rules_of(done->document).empty());
}

TEST_CASE("abort says when and why, and ends a pause") {
  const Document document = must(abort(must(pause(with_completed(1), 40)), 100));
  CHECK(part(document, "/lifecycle/aborted") == "true");
  CHECK(part(document, "/lifecycle/aborted_at") == R"("2025-10-23T08:40:00Z")");
  CHECK(part(document, "/lifecycle/aborted_reason") == R"("no longer wanted")");
  CHECK(part(document, "/lifecycle/paused") == "false");
  CHECK(part(document, "/current_phase") == "1");
  CHECK(rules_of(document).empty());
}

TEST_CASE("update merges into metadata and sets the target") {
  Document document = must(update(created(), R"({"metadata":{"task":"2","options":{"a":1}}})", 1));
  document = must(update(document, R"({"metadata":{"options":{"a":null,"b":2}},"target_file":"other"})", 2));
  CHECK(part(document, "/metadata") == R"({"task":"2","options":{"b":2}})");
  CHECK(part(document, "/target_file") == R"("other")");
  CHECK(part(document, "/updated_at") == R"("2025-10-23T07:02:00Z")");
}

TEST_CASE("update refuses everything else and names the path") {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"({"current_phase":5})", "Cannot change /current_phase: it is kept by the workflow itself"},
      {R"({"metadata":{},"lifecycle":{"completed":true}})",
       "Cannot change /lifecycle: it is kept by the workflow itself"},
      {R"({"a/b":1})", "Cannot change /a~1b: it is kept by the workflow itself"},
      {R"({"metadata":null})", "Cannot change /metadata: expected an object to merge, got null"},
      {R"({"target_file":""})",
       "Cannot change /target_file: expected a string of 1 to 4096 characters, got \"\""},
      {R"({"target_file":null})",
       "Cannot change /target_file: expected a string of 1 to 4096 characters, got null"}};
  for (const auto& row : rows) {
    const std::string_view changes = row.first, message = row.second;
    CAPTURE(changes);
    check_refused(update(created(), changes, 1), message);
  }
  check_refused(update(created(), "{}", 1), "params.changes: names nothing to change",
                ErrorCode::invalid_params);
}

TEST_CASE("the kind's table is complete") {
  const Kind& kind = workflow_kind();
  CHECK(kind.name == "workflow");
  REQUIRE(kind.files.size() == 1);
  CHECK(kind.files[0].name == "session.json");
  CHECK(kind.files[0].member.empty());
  CHECK((kind.ended && kind.summary && kind.check && kind.context && kind.pause && kind.resume &&
         kind.complete && kind.abort && kind.update && kind.migrate));
}

}  // namespace
}  // namespace sessiond
