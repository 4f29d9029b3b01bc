#include "daemon/kinds/workflow.h"

#include <algorithm>

#include "tests/kinds/workflow_support.h"

namespace sessiond {
namespace {

using namespace workflow_test;

TEST_CASE("a new workflow has the document of the specification") {
  WorkflowCreate::Params params{.workflow_type = "spec_execution_v1",
                                .target_file = "specs/x",
                                .total_phases = 2,
                                .starting_phase = 1,
                                .workflow_version = "1.0.0",
                                .phase_names = {{"Planning", "Work"}},
                                .metadata = parse_object(R"({"agent_version":"1.0.0"})")};
  const auto made = workflow::create("abc-123", params, at(0));
  REQUIRE(made.ok());
  CHECK(made->reply.current_phase == 1);
  CHECK(made->reply.message == "Workflow started at Phase 1: Planning");
  CHECK(
      to_json_text(made->document) ==
      R"({"session_id":"abc-123","workflow_type":"spec_execution_v1","target_file":"specs/x",)"
      R"("workflow_structure":{"total_phases":2,"starting_phase":1,"indexing_scheme":"one_based",)"
      R"("workflow_version":"1.0.0","phase_names":["Planning","Work"]},"current_phase":1,"completed_phases":[],)"
      R"("phase_timing":{"1":{"started_at":"2025-10-23T07:00:00Z"}},)"
      R"("lifecycle":{"completed":false,"completed_at":null,"paused":false,"paused_at":null,)"
      R"("paused_reason":null,"paused_context":null,"resumed_at":null,"resume_count":0,"last_error":null,)"
      R"("last_error_at":null},"phase_artifacts":{},"checkpoints":{"1":"pending"},)"
      R"("created_at":"2025-10-23T07:00:00Z","updated_at":"2025-10-23T07:00:00Z",)"
      R"("metadata":{"agent_version":"1.0.0"}})");
  CHECK(rules_of(made->document).empty());
}

TEST_CASE("create refuses names that do not fit the phases, and metadata that is too large") {
  WorkflowCreate::Params params{.workflow_type = "w", .target_file = "t", .total_phases = 2};
  params.phase_names = {{"only one"}};
  check_refused(workflow::create("a", params, at(0)), "params.phase_names: 1 names for 2 phases",
                ErrorCode::invalid_params);
  params.phase_names = {{"one", ""}};
  check_refused(workflow::create("a", params, at(0)),
                "params.phase_names: expected names of 1 to 200 characters, got \"\"",
                ErrorCode::invalid_params);
  params.phase_names.reset();
  params.metadata = json::object{{"x", std::string(70'000, 'x')}};
  CHECK(workflow::create("a", params, at(0)).error().code == ErrorCode::invalid_params);
}

TEST_CASE("the parameters of create are bounded by their description") {
  const auto decode = [](std::string_view text) {
    WorkflowCreate::Params params;
    const Target target{fields_of<WorkflowCreate::Params>(), &params};
    const Status status = decode_fields({&target, 1}, parse(text), Where{nullptr, "params"});
    return status.ok() ? std::string("ok") : status.error().message;
  };
  CHECK(decode(R"({"workflow_type":"w","target_file":"t","total_phases":6})") == "ok");
  CHECK(decode(R"({"workflow_type":"w","target_file":"t","total_phases":0})") ==
        "params.total_phases: expected a whole number from 1 to 1000, got 0");
  CHECK(decode(R"({"workflow_type":"w","target_file":"t","total_phases":6.5})") ==
        "params.total_phases: expected a whole number from 1 to 1000, got 6.5");
  CHECK(decode(R"({"workflow_type":"w","target_file":"t","total_phases":6,"starting_phase":2})") ==
        "params.starting_phase: expected a whole number from 0 to 1, got 2");
}

template <class... Methods>
void check_declarations(MethodList<Methods...>) {
  for (const MethodInfo& method : {method_info<Methods>()...}) {
    CAPTURE(method.name);
    CHECK(method.name.starts_with("workflow."));
    REQUIRE(!method.reply.empty());
    CHECK(method.reply.front().name == "session");
    CHECK(method.params.front().name == "session_id");
    CHECK(method.params.front().required == (method.name != "workflow.create"));
  }
}

TEST_CASE("every method names its session and answers with its envelope") {
  check_declarations(WorkflowMethods{});
}

// The bug that the specification is about: current_phase = 6 of phases 0 to 5, and `6 > 6` is false.
TEST_CASE("completing the last phase completes the workflow, and current_phase stays at it") {
  for (const std::int64_t start : {0, 1}) {
    CAPTURE(start);
    Document document = with_completed(5, {.start = start});
    const std::int64_t last = start + 5;
    CHECK(part(document, "/current_phase") == std::to_string(last));
    CHECK(!workflow_kind().ended(document));
    const auto done = complete(document, last, 180);
    REQUIRE(done.ok());
    CHECK(done->reply.workflow_completed);
    CHECK(done->reply.current_phase == last);
    CHECK(done->reply.message == "Phase " + std::to_string(last) + " completed; the workflow is complete");
    document = done->document;
    CHECK(part(document, "/current_phase") == std::to_string(last));
    CHECK(part(document, "/completed_phases") == (start == 0 ? "[0,1,2,3,4,5]" : "[1,2,3,4,5,6]"));
    CHECK(part(document, "/lifecycle/completed") == "true");
    CHECK(part(document, "/lifecycle/completed_at") == R"("2025-10-23T10:00:00Z")");
    CHECK(*number_member(document.at("lifecycle").get_object(), "total_duration_seconds") == 10'800);
    CHECK(object_member(document, "phase_timing")->size() == 6);
    CHECK(status_at(document, 181) == "completed");
    CHECK(workflow_kind().ended(document));
    CHECK(rules_of(document).empty());
  }
}

TEST_CASE("a workflow of one phase completes with it") {
  for (const std::int64_t start : {0, 1}) {
    const Document document = must(complete(created({.total = 1, .start = start}), start, 10));
    CHECK(part(document, "/lifecycle/completed") == "true");
    CHECK(part(document, "/current_phase") == std::to_string(start));
    CHECK(rules_of(document).empty());
  }
}

TEST_CASE("completing a phase keeps its artifact, checkpoint and times, and starts the next") {
  const Document before = created({.named = true});
  const WorkflowCompletePhase::Params params{.session_id = "abc-123",
                                             .phase = 0,
                                             .evidence = parse_object(R"({"plan":"plan.md"})"),
                                             .outputs = parse_object(R"({"files":["plan.md"]})"),
                                             .commands_executed = {{json::value("make plan")}},
                                             .next_step = "Set up the tree"};
  const auto done = workflow::complete_phase(before, params, at(30));
  REQUIRE(done.ok());
  CHECK(done->reply.checkpoint == "passed");
  CHECK(done->reply.duration_seconds == 1'800);
  CHECK(done->reply.next == "Set up the tree");
  CHECK(done->reply.message == "Phase 0: Planning completed; now at Phase 1: Setup");
  CHECK(
      part(done->document, "/phase_artifacts/0") ==
      R"({"phase_number":0,"evidence":{"plan":"plan.md"},"outputs":{"files":["plan.md"]},)"
      R"("commands_executed":["make plan"],"timestamp":"2025-10-23T07:30:00Z","next_step":"Set up the tree"})");
  CHECK(part(done->document, "/phase_timing") ==
        R"({"0":{"started_at":"2025-10-23T07:00:00Z","completed_at":"2025-10-23T07:30:00Z",)"
        R"("duration_seconds":1800.0},"1":{"started_at":"2025-10-23T07:30:00Z"}})");
  CHECK(part(done->document, "/checkpoints") == R"({"0":"passed","1":"pending"})");
  CHECK(part(done->document, "/updated_at") == R"("2025-10-23T07:30:00Z")");
}

TEST_CASE("only the current phase can be completed") {
  const Document document = with_completed(3);
  check_refused(complete(document, 5, 100), "Cannot complete phase 5, current phase is 3");
  check_refused(complete(document, 2, 100), "Cannot complete phase 2, current phase is 3");
  check_refused(complete(created({.start = 1}), 0, 1), "Cannot complete phase 0, current phase is 1");
}

TEST_CASE("evidence that belongs into a file is refused") {
  const WorkflowCompletePhase::Params params{
      .session_id = "a", .phase = 0, .evidence = json::object{{"log", std::string(70'000, 'x')}}};
  const auto refused = workflow::complete_phase(created(), params, at(1));
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == ErrorCode::invalid_params);
  CHECK(refused.error().message == "params.evidence: 70010 bytes as JSON, at most 65536 are kept here");
}

TEST_CASE("a failed checkpoint stamps the attempt, keeps it, and does not go on") {
  Document document = with_completed(2);
  const WorkflowCompletePhase::Params params{
      .session_id = "abc-123",
      .phase = 2,
      .evidence = parse_object(R"({"tests_passing":"42/45","coverage":"65%"})"),
      .checkpoint_passed = false,
      .issue = "Coverage requirement is 80%",
      .next_step = "Add more tests to reach 80% coverage"};
  const auto failed = workflow::complete_phase(document, params, at(132));
  REQUIRE(failed.ok());
  CHECK(failed->reply.checkpoint == "failed");
  CHECK(!failed->reply.workflow_completed);
  CHECK(failed->reply.next == "Add more tests to reach 80% coverage, then retry Phase 2");
  CHECK(failed->reply.message == "Phase 2: checkpoint failed");
  document = failed->document;
  CHECK(part(document, "/current_phase") == "2");
  CHECK(part(document, "/completed_phases") == "[0,1]");
  CHECK(part(document, "/checkpoints/2") == R"("failed")");
  CHECK(part(document, "/phase_timing/2/completed_at") == R"("2025-10-23T09:12:00Z")");
  CHECK(part(document, "/phase_timing/2/duration_seconds") == "4320.0");
  CHECK(
      part(document, "/phase_timing/2/attempts/0") ==
      R"({"attempt":1,"started_at":"2025-10-23T08:00:00Z","completed_at":"2025-10-23T09:12:00Z",)"
      R"("duration_seconds":4320.0,"checkpoint":"failed","evidence":{"tests_passing":"42/45","coverage":"65%"},)"
      R"("outputs":{},"commands_executed":[],"issue":"Coverage requirement is 80%",)"
      R"("next_step":"Add more tests to reach 80% coverage"})");
  CHECK(status_at(document, 140) == "checkpoint_failed");
  CHECK(rules_of(document).empty());
}

TEST_CASE("a failed last phase does not complete the workflow") {
  const Document document = must(complete(with_completed(5), 5, 200, false));
  CHECK(part(document, "/lifecycle/completed") == "false");
  CHECK(part(document, "/current_phase") == "5");
}

TEST_CASE("a retry starts a new attempt and returns what went wrong before") {
  Document document = must(record(with_completed(2), "compiler crashed", 70));
  document = must(complete(document, 2, 90, false));
  const auto again = retry(document, 2, 100);
  REQUIRE(again.ok());
  CHECK(again->reply.attempt == 2);
  CHECK(again->reply.message == "Attempt 2 at Phase 2 started");
  REQUIRE(again->reply.earlier_errors.size() == 2);
  CHECK(again->reply.earlier_errors[0].message == "compiler crashed");
  CHECK(again->reply.earlier_errors[0].source == "recorded");
  CHECK(again->reply.earlier_errors[1].message == "Checkpoint failed");
  CHECK(again->reply.earlier_errors[1].source == "checkpoint");
  document = again->document;
  CHECK(part(document, "/checkpoints/2") == R"("pending")");
  CHECK(part(document, "/phase_timing/2/started_at") == R"("2025-10-23T08:40:00Z")");
  CHECK(part(document, "/phase_timing/2/completed_at") == "-");
  CHECK(part(document, "/phase_artifacts/2/phase_number") == "2");  // kept without reset_evidence
  CHECK(status_at(document, 101) == "active");
  document = must(complete(document, 2, 120));
  CHECK(part(document, "/current_phase") == "3");
  CHECK(part(document, "/phase_timing/2/duration_seconds") == "1200.0");
  CHECK(array_member(*object_member(*object_member(document, "phase_timing"), "2"), "attempts")->size() == 1);
  CHECK(rules_of(document).empty());
}

TEST_CASE("a retry can clear the evidence; the attempt keeps it") {
  const WorkflowCompletePhase::Params params{.session_id = "a",
                                             .phase = 0,
                                             .evidence = parse_object(R"({"coverage":"65%"})"),
                                             .checkpoint_passed = false};
  Document document = must(workflow::complete_phase(created(), params, at(10)));
  document = must(retry(document, 0, 20, true));
  CHECK(part(document, "/phase_artifacts/0") == "-");
  CHECK(part(document, "/phase_timing/0/attempts/0/evidence") == R"({"coverage":"65%"})");
  CHECK(rules_of(document).empty());
}

TEST_CASE("an error in a phase allows a retry too; the attempt that was given up is kept") {
  Document document = must(record(created(), "disk full", 10));
  document = must(retry(document, 0, 15));
  CHECK(part(document, "/phase_timing/0/attempts/0/checkpoint") == R"("pending")");
  CHECK(part(document, "/phase_timing/0/attempts/0/duration_seconds") == "900.0");
  CHECK(part(document, "/phase_timing/0/started_at") == R"("2025-10-23T07:15:00Z")");
  check_refused(retry(document, 0, 16),
                "Cannot retry phase 0, nothing has failed in it: its checkpoint is pending");
}

TEST_CASE("completing again after a failure, without a retry, is the next attempt") {
  Document document = must(complete(created(), 0, 30, false));
  document = must(complete(document, 0, 50, false));
  CHECK(part(document, "/phase_timing/0/attempts/1/attempt") == "2");
  CHECK(part(document, "/phase_timing/0/attempts/1/started_at") == R"("2025-10-23T07:30:00Z")");
  document = must(complete(document, 0, 60));
  CHECK(part(document, "/phase_timing/0/duration_seconds") == "600.0");
  CHECK(part(document, "/current_phase") == "1");
  CHECK(rules_of(document).empty());
}

TEST_CASE("retries that are refused") {
  const Document document = with_completed(2);
  check_refused(retry(document, 1, 100), "Cannot retry phase 1, current phase is 2");
  check_refused(retry(document, 2, 100),
                "Cannot retry phase 2, nothing has failed in it: its checkpoint is pending");
}

TEST_CASE("rollback clears what later phases left and says what") {
  Document document = must(complete(with_completed(4), 4, 150, false));
  const auto back = roll_back(document, 2, 160);
  REQUIRE(back.ok());
  const auto& cleared = back->reply.cleared;
  using Phases = std::vector<std::int64_t>;
  CHECK(cleared.completed_phases == Phases{2, 3});
  CHECK(cleared.phase_artifacts == Phases{3, 4});
  CHECK(cleared.checkpoints == Phases{3, 4});
  CHECK(cleared.phase_timing == Phases{3, 4});
  CHECK(back->reply.from_phase == 4);
  CHECK(back->reply.current_phase == 2);
  CHECK(back->reply.message ==
        "Rolled back from Phase 4 to Phase 2; cleared artifacts of 3, 4; checkpoints of 3, 4; times of 3, 4");
  document = back->document;
  CHECK(part(document, "/current_phase") == "2");
  CHECK(part(document, "/completed_phases") == "[0,1]");
  CHECK(part(document, "/checkpoints") == R"({"0":"passed","1":"passed","2":"pending"})");
  CHECK(part(document, "/phase_timing/2/started_at") == R"("2025-10-23T09:40:00Z")");
  CHECK(part(document, "/phase_timing/2/attempts/0/checkpoint") == R"("passed")");
  CHECK(part(document, "/phase_timing/3") == "-");
  CHECK(part(document, "/lifecycle/rollbacks/0") ==
        R"({"from_phase":4,"to_phase":2,"reason":"wrong turn","at":"2025-10-23T09:40:00Z"})");
  CHECK(workflow::get_errors(document, {})->errors.size() == 1);  // what went wrong is not forgotten
  CHECK(rules_of(document).empty());
  for (std::int64_t phase = 2; phase < 6; ++phase)
    document = must(complete(document, phase, 170 + static_cast<double>(phase)));
  CHECK(part(document, "/lifecycle/completed") == "true");
  CHECK(rules_of(document).empty());
}

TEST_CASE("rollback never goes forward, nor out of range") {
  const Document document = with_completed(2, {.start = 1});
  check_refused(roll_back(document, 3, 100), "Cannot roll back to phase 3, current phase is 3");
  check_refused(roll_back(document, 5, 100), "Cannot roll back to phase 5, current phase is 3");
  check_refused(roll_back(document, 0, 100), "Cannot roll back to phase 0, the first phase is 1");
}

TEST_CASE("errors are all kept, with phase and time") {
  Document document = must(record(created(), "first", 1));
  document = must(complete(document, 0, 2));
  document = must(record(document, "second", 3));
  const auto all = workflow::get_errors(document, {});
  REQUIRE(all.ok());
  REQUIRE(all->errors.size() == 2);
  CHECK(all->errors[0].phase == 0);
  CHECK(all->errors[0].at == "2025-10-23T07:01:00Z");
  CHECK(all->errors[1].phase == 1);
  CHECK(all->last_error == "second");
  CHECK(all->last_error_at == "2025-10-23T07:03:00Z");
  CHECK(part(document, "/lifecycle/last_error") == R"("second")");
  CHECK(part(document, "/lifecycle/errors/1") ==
        R"({"phase":1,"message":"second","at":"2025-10-23T07:03:00Z","source":"recorded","agent":"tester"})");
  CHECK(workflow::get_errors(document, {.session_id = "", .phase = 0})->errors.size() == 1);
  CHECK(rules_of(document).empty());
}

TEST_CASE("lists in the document are bounded") {
  Document document = created();
  for (int i = 0; i < 250; ++i) document = must(record(document, "error " + std::to_string(i), 1));
  const auto all = workflow::get_errors(document, {});
  CHECK(all->errors.size() == 200);
  CHECK(all->errors.back().message == "error 249");
  for (int i = 0; i < 60; ++i) document = must(complete(document, 0, 2, false));
  CHECK(part(document, "/phase_timing/0/attempts/49/attempt") == "60");
  CHECK(part(document, "/phase_timing/0/attempts/50") == "-");
}

TEST_CASE("unknown members are kept by every command") {
  Document document = created();
  document["x_tool"] = json::object{{"keep", true}};
  object_at(document, "lifecycle")["x_flag"] = 1;
  document = must(complete(document, 0, 10, false));
  document = must(retry(document, 0, 11));
  document = must(complete(document, 0, 12));
  document = must(pause(document, 13));
  document = must(resume(document, 14));
  document = must(roll_back(document, 0, 15));
  CHECK(part(document, "/x_tool/keep") == "true");
  CHECK(part(document, "/lifecycle/x_flag") == "1");
}

TEST_CASE("time never runs backwards within a document") {
  Document document = with_completed(2);
  document = must(complete(document, 2, 10));  // the clock stands before phase 2 started
  CHECK(part(document, "/updated_at") == R"("2025-10-23T08:00:00Z")");
  CHECK(part(document, "/phase_timing/2/duration_seconds") == "0.0");
  CHECK(rules_of(document).empty());
}

}  // namespace
}  // namespace sessiond
