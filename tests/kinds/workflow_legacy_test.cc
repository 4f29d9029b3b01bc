// Older forms of the state file: read as they are, worked on, imported, upgraded on request.
#include <algorithm>

#include "daemon/kinds/workflow_view.h"
#include "tests/kinds/workflow_support.h"

namespace sessiond {
namespace {

using namespace workflow_test;

// The form before the redesign: no structure, no lifecycle, no timing, naive times; complete with
// current_phase one past the end.
Document legacy(std::string_view change = "{}") {
  json::value document = parse(R"({
    "session_id": "062f24e7", "workflow_type": "spec_execution_v1", "target_file": "specs/x",
    "current_phase": 3, "completed_phases": [0, 1, 2],
    "phase_artifacts": {"0": {"phase_number": 0, "evidence": {"plan": "ok"}, "outputs": {},
                              "commands_executed": [], "timestamp": "2025-10-23T07:30:00"}},
    "checkpoints": {"0": "passed", "1": "passed", "2": "passed"},
    "created_at": "2025-10-23T07:00:00.123456", "updated_at": "2025-10-23T09:00:00.654321",
    "metadata": {"spec_path": "specs/x"}, "x_foreign": [1, 2]})");
  merge_patch(document, parse(change));
  return document.get_object();
}

// What later versions of the original tool write.
Document later_upstream(bool done) {
  json::value document = parse(R"({
    "session_id": "ab12", "workflow_type": "spec_execution_v1", "target_file": "specs/x",
    "current_phase": 2, "completed_phases": [0, 1],
    "phase_artifacts": {"1": {"phase": 1, "artifact_type": "tests", "file_path": "tests/a.py", "metadata": {},
                              "timestamp": "2025-11-01T11:00:00"}},
    "checkpoints": {"0": "passed", "1": "passed"},
    "evidence_submitted": {"0": {"plan": "ok"}, "1": {"tests": 45}},
    "phase_timings": {
      "0": {"phase": 0, "started_at": "2025-11-01T10:00:00", "completed_at": "2025-11-01T10:30:00",
            "duration_seconds": 1800.0},
      "1": {"phase": 1, "started_at": "2025-11-01T10:30:00", "completed_at": "2025-11-01T11:30:00",
            "duration_seconds": 3600.0},
      "2": {"phase": 2, "started_at": "2025-11-01T11:30:00", "completed_at": null, "duration_seconds": null}},
    "created_at": "2025-11-01T10:00:00", "updated_at": "2025-11-01T11:30:00", "completed_at": null,
    "metadata": {"total_phases": 3}})");
  if (done)
    merge_patch(document, parse(R"({"completed_at":"2025-11-01T11:30:00","metadata":{"total_phases":2}})"));
  return document.get_object();
}

bool has_legacy_warning(const std::vector<Discrepancy>& found) {
  return std::any_of(found.begin(), found.end(), [](const Discrepancy& item) {
    return item.severity == Discrepancy::Severity::warning && item.rule == "legacy_format" &&
           item.path.empty() && item.message == "Legacy session format, limited resumption context";
  });
}

TEST_CASE("a legacy file loads with the warning and is not changed") {
  const Document file = legacy();
  std::vector<Discrepancy> warnings;
  const auto imported = workflow_import(file, warnings);
  REQUIRE(imported.ok());
  CHECK(*imported == file);
  CHECK(has_legacy_warning(warnings));
  for (const Discrepancy& item : warnings) CHECK(item.severity == Discrepancy::Severity::warning);
  const auto naive = std::count_if(warnings.begin(), warnings.end(),
                                   [](const Discrepancy& item) { return item.rule == "time_naive"; });
  CHECK(naive == 3);
  CHECK(warnings.size() == 4);
  const std::string text = workflow_kind().context(file, minute(180)).text;
  CHECK(text.find("⚠️  Legacy session format, limited resumption context") != std::string::npos);
  CHECK(text.find("Progress: Phase 3\n") != std::string::npos);
}

TEST_CASE("completion of a legacy session is by the set rule, with the total from metadata") {
  struct Row {
    std::string_view change;
    bool complete;
    std::int64_t current;
  };
  const Row rows[] = {
      {R"({})", false, 3},  // nobody knows how many phases there are
      {R"({"metadata":{"total_phases":6}})", false, 3},
      {R"({"metadata":{"total_phases":3}})", true, 2},  // one past the end is read as the last
      {R"({"current_phase":6,"completed_phases":[0,1,2,3,4,5],"metadata":{"total_phases":6}})", true, 5},
      {R"({"current_phase":6,"completed_phases":[5,4,3,2,1,0],"metadata":{"total_phases":6}})", true, 5},
      {R"({"current_phase":6,"completed_phases":[0,1,2,3,4],"metadata":{"total_phases":6}})", false, 5},
      {R"({"current_phase":7,"completed_phases":[1,2,3,4,5,6],"checkpoints":null,"phase_artifacts":null,
           "metadata":{"total_phases":6}})",
       true, 6},
      {R"({"workflow_structure":{"total_phases":3,"starting_phase":0}})", true, 2}};
  for (const Row& row : rows) {
    CAPTURE(row.change);
    const Document document = legacy(row.change);
    const workflow::View view(document);
    CHECK(view.complete() == row.complete);
    CHECK(view.current == row.current);
    CHECK(workflow_kind().ended(document) == row.complete);
    CHECK((status_at(document, 200) == "completed") == row.complete);
  }
}

TEST_CASE("work goes on in a legacy session") {
  Document document = must(complete(legacy(), 3, 200));
  CHECK(part(document, "/current_phase") == "4");
  CHECK(part(document, "/completed_phases") == "[0,1,2,3]");
  CHECK(part(document, "/workflow_structure") == "-");
  CHECK(part(document, "/phase_timing") == "-");
  CHECK(part(document, "/x_foreign") == "[1,2]");
  document = must(resume(must(pause(document, 210)), 220));
  document = must(record(document, "x", 230));
  document = must(complete(document, 4, 240, false));
  document = must(retry(document, 4, 250));
  document = must(roll_back(document, 2, 260));
  CHECK(part(document, "/current_phase") == "2");
  CHECK(found_in(document, Discrepancy::Severity::error).empty());
  CHECK(has_legacy_warning(workflow_kind().check(document)));
}

TEST_CASE("a legacy session with a known total ends in range") {
  Document document = legacy(R"({"metadata":{"total_phases":4}})");
  document = must(complete(document, 3, 200));
  CHECK(part(document, "/current_phase") == "3");
  CHECK(part(document, "/lifecycle/completed") == "true");
  CHECK(status_at(document, 201) == "completed");
}

TEST_CASE("an out-of-range phase that is no finished legacy file is an error") {
  const Document document = legacy(R"({"current_phase":9,"metadata":{"total_phases":6}})");
  std::vector<Discrepancy> warnings;
  const auto refused = workflow_import(document, warnings);
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == ErrorCode::damaged);
  CHECK(refused.error().message ==
        "Not a workflow session that makes sense: /current_phase: 9 is not a phase: expected 0 to 5");
  CHECK(warnings.empty());
  CHECK(!workflow_import(json::value("text"), warnings).ok());
}

TEST_CASE("the later upstream form is understood") {
  const Document running = later_upstream(false);
  std::vector<Discrepancy> warnings;
  REQUIRE(workflow_import(running, warnings).ok());
  CHECK(has_legacy_warning(warnings));
  const TimePoint now = parse_rfc3339("2025-11-01T12:00:00Z")->time;
  const workflow::View view(running);
  const workflow::Metrics numbers = workflow::metrics(view, now);
  CHECK(*numbers.avg_phase_duration == 2'700);
  CHECK(*numbers.time_in_phase == 1'800);
  CHECK(to_json_text(view.evidence(1)) == R"({"tests":45})");
  CHECK(workflow_kind().summary(running, now).status == "active");

  const Document done = later_upstream(true);
  warnings.clear();
  REQUIRE(workflow_import(done, warnings).ok());
  CHECK(workflow_kind().summary(done, now).status == "completed");
  CHECK(workflow_kind().summary(done, now).position == "Phase 1 of 2");
  CHECK(std::any_of(warnings.begin(), warnings.end(),
                    [](const Discrepancy& item) { return item.rule == "current_phase_range"; }));
}

TEST_CASE("work goes on in a session of the later upstream form, in its own members") {
  const Document document = must(complete(later_upstream(false), 2, 20'000));
  CHECK(part(document, "/phase_timing") == "-");
  CHECK(part(document, "/phase_timings/2/duration_seconds") != "null");
  CHECK(part(document, "/current_phase") == "2");
  CHECK(part(document, "/lifecycle/completed") == "true");
  CHECK(found_in(document, Discrepancy::Severity::error).empty());
}

TEST_CASE("the specification's example loads with warnings only") {
  Document example = created();
  json::value value = example;
  merge_patch(value, parse(R"({"current_phase":5,"completed_phases":[0,1,2,3,4,5],
    "phase_timing":{"0":{"completed_at":"2025-10-23T07:30:00Z"},
                    "1":{"started_at":"2025-10-23T07:30:00Z","completed_at":"2025-10-23T08:15:00Z"},
                    "2":{"started_at":"2025-10-23T08:15:00Z","completed_at":"2025-10-23T09:27:00Z"},
                    "3":{"started_at":"2025-10-23T09:27:00Z"}},
    "checkpoints":{"0":"passed","1":"passed","2":"failed","3":"pending"},"updated_at":"2025-10-23T09:27:15Z"})"));
  std::vector<Discrepancy> warnings;
  REQUIRE(workflow_import(value, warnings).ok());
  CHECK(!warnings.empty());
}

TEST_CASE("migration of a legacy session") {
  const Document before = legacy(R"({"metadata":{"total_phases":6}})");
  const auto migrated = workflow_kind().migrate(before, at(200));
  REQUIRE(migrated.ok());
  CHECK(migrated->reply.message ==
        "Upgraded: workflow_structure with 6 phases; lifecycle; times are in UTC; phase 3 is timed from now "
        "on");
  const Document& document = migrated->document;
  CHECK(part(document, "/workflow_structure") ==
        R"({"total_phases":6,"starting_phase":0,"indexing_scheme":"zero_based","workflow_version":"v1"})");
  CHECK(part(document, "/phase_timing") == R"({"3":{"started_at":"2025-10-23T10:20:00Z"}})");
  CHECK(part(document, "/created_at") == R"("2025-10-23T07:00:00.123Z")");
  CHECK(part(document, "/phase_artifacts/0/timestamp") == R"("2025-10-23T07:30:00Z")");
  CHECK(part(document, "/x_foreign") == "[1,2]");
  CHECK(found_in(document, Discrepancy::Severity::error).empty());
  CHECK(!has_legacy_warning(workflow_kind().check(document)));
  check_refused(workflow_kind().migrate(document, at(201)),
                "Nothing to migrate: the session already has the current form");
  CHECK(complete(document, 3, 210).ok());
}

TEST_CASE("migration of a finished legacy session, one-based") {
  const Document before =
      legacy(R"({"current_phase":4,"completed_phases":[3,1,2],"checkpoints":{"0":null,"3":"passed"},
    "phase_artifacts":null,"metadata":{"total_phases":3}})");
  const Document document = must(workflow_kind().migrate(before, at(200)));
  CHECK(part(document, "/current_phase") == "3");
  CHECK(part(document, "/completed_phases") == "[1,2,3]");
  CHECK(part(document, "/workflow_structure/indexing_scheme") == R"("one_based")");
  CHECK(part(document, "/lifecycle/completed") == "true");
  CHECK(part(document, "/lifecycle/completed_at") == R"("2025-10-23T09:00:00.654Z")");
  CHECK(found_in(document, Discrepancy::Severity::error).empty());
}

TEST_CASE("migration of the later upstream form") {
  for (const bool done : {false, true}) {
    CAPTURE(done);
    const auto migrated = workflow_kind().migrate(later_upstream(done), at(30'000));
    REQUIRE_MESSAGE(migrated.ok(), (migrated.ok() ? "" : migrated.error().message));
    const Document& document = migrated->document;
    CHECK(part(document, "/phase_timings") == "-");
    CHECK(part(document, "/evidence_submitted") == "-");
    CHECK(part(document, "/completed_at") == "-");
    CHECK(part(document, "/phase_timing/1/completed_at") == R"("2025-11-01T11:30:00Z")");
    CHECK(part(document, "/phase_artifacts/0/evidence") == R"({"plan":"ok"})");
    CHECK(part(document, "/phase_artifacts/1/evidence") == R"({"tests":45})");
    CHECK(part(document, "/phase_artifacts/1/file_path") == R"("tests/a.py")");
    CHECK(part(document, "/lifecycle/completed") == (done ? "true" : "false"));
    CHECK(part(document, "/current_phase") == (done ? "1" : "2"));
    CHECK(part(document, "/phase_timing/2") ==
          (done ? "-" : R"({"phase":2,"started_at":"2025-11-01T11:30:00Z"})"));
    CHECK(found_in(document, Discrepancy::Severity::error).empty());
    CHECK(!has_legacy_warning(workflow_kind().check(document)));
  }
}

TEST_CASE("migration is refused while the number of phases is not known") {
  check_refused(workflow_kind().migrate(legacy(), at(200)),
                "Cannot migrate: it is not known how many phases the workflow has");
  const Document told = must(update(legacy(), R"({"metadata":{"total_phases":6}})", 200));
  CHECK(workflow_kind().migrate(told, at(201)).ok());
}

}  // namespace
}  // namespace sessiond
