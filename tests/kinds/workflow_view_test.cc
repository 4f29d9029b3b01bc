// What is computed from a workflow: metrics, the status tree, the context and the display.
#include "daemon/kinds/workflow_view.h"

#include "tests/kinds/workflow_support.h"

namespace sessiond {
namespace {

using namespace workflow_test;

workflow::Metrics numbers(const Document& document, double minutes) {
  return workflow::metrics(workflow::View(document), minute(minutes));
}

TEST_CASE("metrics: progress, average, estimate, time in phase") {
  const auto start = numbers(created(), 10);
  CHECK(*start.percent_complete == 0);
  CHECK(*start.phases_remaining == 6);
  CHECK(!start.avg_phase_duration);
  CHECK(!start.estimated_remaining);
  CHECK(*start.time_in_phase == 600);
  CHECK(!start.is_stalled);

  const auto half = numbers(with_completed(3), 100);
  CHECK(*half.percent_complete == 50);
  CHECK(*half.phases_remaining == 3);
  CHECK(*half.avg_phase_duration == 1'800);
  CHECK(*half.estimated_remaining == 5'400);
  CHECK(*half.time_in_phase == 600);

  const auto done = numbers(with_completed(6), 1'000);
  CHECK(*done.percent_complete == 100);
  CHECK(*done.phases_remaining == 0);
  CHECK(!done.time_in_phase);
  CHECK(!done.is_stalled);
}

TEST_CASE("a phase stalls after twice the average, not at it, and never without an average") {
  const Document document = with_completed(3);  // 30 minutes each; phase 3 starts at 90
  CHECK(!numbers(document, 150).is_stalled);
  CHECK(numbers(document, 150.1).is_stalled);
  CHECK(!numbers(created(), 100'000).is_stalled);
}

TEST_CASE("paused time counts neither for the stall nor for the average") {
  Document document = must(pause(with_completed(3), 100));
  CHECK(*numbers(document, 1'000).time_in_phase == 600);  // stands still while paused
  document = must(resume(document, 1'000));
  CHECK(*numbers(document, 1'010).time_in_phase == 1'200);
  CHECK(!numbers(document, 1'050).is_stalled);
  CHECK(numbers(document, 1'051).is_stalled);
  document = must(complete(document, 3, 1'020));
  CHECK(part(document, "/phase_timing/3/duration_seconds") == "55800.0");  // wall time, as specified
  CHECK(*numbers(document, 1'020).avg_phase_duration == 1'800);
}

TEST_CASE("the status is the specification's decision tree") {
  const Document working = with_completed(3);
  const Document failed = must(complete(working, 3, 100, false));
  const Document paused = must(pause(failed, 110));
  CHECK(status_at(working, 100) == "active");
  CHECK(status_at(working, 151) == "possibly_stalled");
  CHECK(status_at(failed, 1'000) == "checkpoint_failed");
  CHECK(status_at(paused, 1'000) == "paused");  // before checkpoint_failed
  CHECK(status_at(must(pause(working, 100)), 1'000) == "paused");
  CHECK(status_at(with_completed(6), 1'000) == "completed");
  CHECK(status_at(must(abort(paused, 120)), 1'000) == "aborted");
  Document both = with_completed(6);
  object_at(both, "lifecycle")["paused"] = true;
  CHECK(status_at(both, 1'000) == "completed");  // before paused
}

TEST_CASE("the summary is what a list shows") {
  const Summary summary = workflow_kind().summary(with_completed(3), minute(100));
  CHECK(summary.status == "active");
  CHECK(summary.title == "spec_execution_v1: .praxis-os/specs/my-spec");
  CHECK(summary.position == "Phase 3 of 6");
  CHECK(summary.progress == 0.5);
  CHECK(summary.project == ".praxis-os/specs/my-spec");
  CHECK(summary.created_at == "2025-10-23T07:00:00Z");
  CHECK(summary.updated_at == "2025-10-23T08:30:00Z");
}

Document after_setup() {
  Document document = created({.named = true});
  document = must(complete(document, 0, 30));
  return must(complete(document, 1, 75));
}

WorkflowCompletePhase::Params implementation(bool passed) {
  return {.session_id = "abc-123",
          .phase = 2,
          .evidence = parse_object(R"({"tests_passing":"42/45","coverage":"65%"})"),
          .outputs = parse_object(R"({"files":["src/a.py","tests/a.py"]})"),
          .commands_executed = {{json::value("make"), parse(R"({"command":"make test","exit_code":1})")}},
          .checkpoint_passed = passed,
          .issue = "Coverage requirement is 80%",
          .next_step = "Add more tests to reach 80% coverage"};
}

// The specification's example: phases 0 to 2 of 6, the checkpoint of phase 2 failed. By its code a failed
// phase stays the current one.
TEST_CASE("display: the specification's example") {
  const Document document = must(workflow::complete_phase(after_setup(), implementation(false), at(147)));
  CHECK(workflow_kind().context(document, minute(210)).text == R"(📋 Session abc-123: spec_execution_v1
   Target: .praxis-os/specs/my-spec

🎯 Progress: Phase 2 of 6 (33% complete)
   Current: Phase 2: Implementation (started 2.3 hours ago)
   Average phase time: 38 minutes

✅ Completed Phases:
   Phase 0: Planning (30 min) ✅ Checkpoint PASSED
   Phase 1: Setup (45 min) ✅ Checkpoint PASSED
   Phase 2: Implementation (1.2 hr) ❌ Checkpoint FAILED
      Evidence: tests_passing=42/45, coverage=65%
      Issue: Coverage requirement is 80%

🔄 Current Status: checkpoint_failed
   Files touched: src/a.py, tests/a.py
   Commands executed: make, make test
   Next step: Add more tests to reach 80% coverage, then retry Phase 2

⏰ Timing:
   Started: 3.5 hours ago
   Last updated: 1.1 hours ago
   Estimated remaining: ~2.5 hours
)");
}

// The same file as the specification prints it: the failed phase listed as completed, the work at phase 3.
TEST_CASE("display: the example's own shape, in which phase 3 runs for two hours") {
  Document document = must(workflow::complete_phase(after_setup(), implementation(true), at(147)));
  object_at(document, "checkpoints")["2"] = "failed";
  object_at(document, "workflow_structure").erase("phase_names");
  CHECK(workflow_kind().context(document, minute(267)).text == R"(📋 Session abc-123: spec_execution_v1
   Target: .praxis-os/specs/my-spec

🎯 Progress: Phase 3 of 6 (50% complete)
   Current: Phase 3 (started 2 hours ago)
   Average phase time: 49 minutes
   ⚠️  Current phase taking longer than average

✅ Completed Phases:
   Phase 0 (30 min) ✅ Checkpoint PASSED
   Phase 1 (45 min) ✅ Checkpoint PASSED
   Phase 2 (1.2 hr) ❌ Checkpoint FAILED
      Evidence: tests_passing=42/45, coverage=65%
      Issue: Coverage requirement is 80%

🔄 Current Status: possibly_stalled
   Files touched: src/a.py, tests/a.py
   Commands executed: make, make test
   Next step: Find out whether Phase 3 is still being worked on (it takes more than twice the average), then: Add more tests to reach 80% coverage

⏰ Timing:
   Started: 4.5 hours ago
   Last updated: 2 hours ago
   Estimated remaining: ~2.5 hours
)");
}

TEST_CASE("display: a session that was paused days ago answers a newcomer") {
  Document document = must(record(after_setup(), "linker\nfailed", 80));
  document = must(pause(document, 90, "inactivity", "Task 2: parser"));
  document = must(resume(document, 95));
  document = must(pause(document, 100, "system_error", "Task 2: parser, tests written"));
  const std::string text = workflow_kind().context(document, minute(100 + 3 * 24 * 60)).text;
  const std::string_view lines[] = {"Current: Phase 2: Implementation (started 3 days ago)",
                                    "🔄 Current Status: paused",
                                    "Paused: system_error (3 days ago)",
                                    "Context: Task 2: parser, tests written",
                                    "Last error: linker failed (3 days ago)",
                                    "Next step: Resume the session, then: Work on Phase 2: Implementation",
                                    "Resumed: once, last 3 days ago"};
  for (const std::string_view line : lines) {
    CAPTURE(text);
    CHECK_MESSAGE(text.find(line) != std::string::npos, line);
  }
}

TEST_CASE("display: completed and aborted") {
  const std::string done = workflow_kind().context(with_completed(6), minute(240)).text;
  CHECK(done.find("Progress: Phase 5 of 6 (100% complete)") != std::string::npos);
  CHECK(done.find("Next step: Nothing: the workflow is complete") != std::string::npos);
  CHECK(done.find("Total duration: 3 hours") != std::string::npos);
  CHECK(done.find("Estimated") == std::string::npos);
  const std::string aborted = workflow_kind().context(must(abort(created(), 5)), minute(10)).text;
  CHECK(aborted.find("Aborted: no longer wanted (5 minutes ago)") != std::string::npos);
}

TEST_CASE("display: foreign text cannot steer a terminal or break the lines") {
  Document document = must(update(created(), R"({"target_file":"a\u001b[2J\nb"})", 1));
  const std::string text = workflow_kind().context(document, minute(2)).text;
  CHECK(text.find("Target: a [2J b\n") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("context facts answer both use cases of the specification") {
  Document document = must(workflow::complete_phase(after_setup(), implementation(false), at(147)));
  document =
      must(update(document, R"({"metadata":{"files_touched":["notes.md","src/a.py"],"task":2}})", 150));
  document = must(pause(document, 160, {}, "Task 2"));
  const json::object facts = workflow_kind().context(document, minute(200)).facts;
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"/goal/workflow_type", R"("spec_execution_v1")"},
      {"/goal/target_file", R"(".praxis-os/specs/my-spec")"},
      {"/status", R"("paused")"},
      {"/progress/current_phase", "2"},
      {"/progress/completed_phases", "[0,1]"},
      {"/progress/phases_remaining", "4"},
      {"/current/name", R"("Implementation")"},
      {"/current/started_at", R"("2025-10-23T08:15:00Z")"},
      {"/current/checkpoint", R"("failed")"},
      {"/current/issue", R"("Coverage requirement is 80%")"},
      {"/current/attempts/0/attempt", "1"},
      {"/completed/1/name", R"("Setup")"},
      {"/completed/1/duration_seconds", "2700.0"},
      {"/completed/1/checkpoint", R"("passed")"},
      {"/next", R"("Resume the session, then: Add more tests to reach 80% coverage, then retry Phase 2")"},
      {"/paused/paused_reason", R"("user_request")"},
      {"/paused/paused_context", R"("Task 2")"},
      {"/errors/0/source", R"("checkpoint")"},
      {"/problems/0", R"("The checkpoint of Phase 2: Implementation failed: Coverage requirement is 80%")"},
      {"/timing/avg_phase_duration_seconds", "2250.0"},
      {"/timing/created_at", R"("2025-10-23T07:00:00Z")"},
      {"/resume_count", "0"},
      {"/files_touched", R"(["src/a.py","tests/a.py","notes.md"])"},
      {"/commands_executed/1", R"({"phase":2,"command":"make test"})"},
      {"/outputs/2/files/0", R"("src/a.py")"},
      {"/metadata/task", "2"}};
  for (const auto& row : rows) {
    const std::string_view pointer = row.first, expected = row.second;
    CAPTURE(pointer);
    CHECK(part(facts, pointer) == expected);
  }
}

TEST_CASE("after a resume the context still tells why it had been paused") {
  const Document document = must(resume(must(pause(created(), 5, "system_error", "Task 1")), 10));
  const json::object facts = workflow_kind().context(document, minute(11)).facts;
  CHECK(part(facts, "/paused") == "null");
  CHECK(part(facts, "/last_pause/paused_reason") == R"("system_error")");
  CHECK(part(facts, "/last_pause/paused_context") == R"("Task 1")");
}

}  // namespace
}  // namespace sessiond
