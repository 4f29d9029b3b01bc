// Every rule of check(): a valid document, one thing made wrong, and what is reported.
#include <algorithm>

#include "tests/kinds/workflow_support.h"

namespace sessiond {
namespace {

using namespace workflow_test;

struct Row {
  std::string_view change;  // merge patch of a workflow at phase 3 of 6
  std::string_view expected;
};

void check_rows(std::span<const Row> rows) {
  for (const Row& row : rows) {
    CAPTURE(row.change);
    json::value document = with_completed(3);
    merge_patch(document, parse(row.change));
    const std::vector<std::string> found = rules_of(document.get_object());
    std::string all;
    for (const std::string& rule : found) all += rule + "; ";
    CAPTURE(all);
    CHECK(std::count(found.begin(), found.end(), row.expected) == 1);
  }
}

TEST_CASE("identity and structure") {
  const Row rows[] = {
      {R"({"session_id":null})", "E required /session_id"},
      {R"({"session_id":5})", "E type /session_id"},
      {R"({"session_id":""})", "E length /session_id"},
      {R"({"workflow_type":[]})", "E type /workflow_type"},
      {R"({"target_file":null})", "E required /target_file"},
      {R"({"created_at":null})", "E required /created_at"},
      {R"({"created_at":"yesterday"})", "E time_format /created_at"},
      {R"({"created_at":1761200000})", "E time_format /created_at"},
      {R"({"updated_at":"2025-10-23T06:00:00Z"})", "E updated_before_created /updated_at"},
      {R"({"created_at":"2025-10-23T07:00:00"})", "W time_naive /created_at"},
      {R"({"created_at":"2025-10-23T09:00:00+02:00"})", "W time_zone /created_at"},
      {R"({"metadata":[1]})", "E type /metadata"},
      {R"({"metadata":null})", "E required /metadata"},
      {R"({"workflow_structure":5})", "E type /workflow_structure"},
      {R"({"workflow_structure":{"total_phases":0}})",
       "E total_phases_range /workflow_structure/total_phases"},
      {R"({"workflow_structure":{"total_phases":"6"}})",
       "E total_phases_range /workflow_structure/total_phases"},
      {R"({"workflow_structure":{"total_phases":6.0}})",
       "E total_phases_range /workflow_structure/total_phases"},
      {R"({"workflow_structure":{"total_phases":1001}})",
       "E total_phases_range /workflow_structure/total_phases"},
      {R"({"workflow_structure":{"starting_phase":2}})",
       "E starting_phase_range /workflow_structure/starting_phase"},
      {R"({"workflow_structure":{"indexing_scheme":"one_based"}})",
       "E indexing_scheme /workflow_structure/indexing_scheme"},
      {R"({"workflow_structure":{"workflow_version":1}})", "E type /workflow_structure/workflow_version"},
      {R"({"workflow_structure":{"phase_names":["a"]}})", "E phase_names /workflow_structure/phase_names"},
      {R"({"workflow_structure":{"phase_names":["a","b","c",4,"e","f"]}})",
       "E phase_names /workflow_structure/phase_names/3"}};
  check_rows(rows);
}

TEST_CASE("progress") {
  const Row rows[] = {{R"({"current_phase":null})", "E required /current_phase"},
                      {R"({"current_phase":"3"})", "E type /current_phase"},
                      {R"({"current_phase":6})", "E current_phase_range /current_phase"},
                      {R"({"current_phase":-1})", "E current_phase_range /current_phase"},
                      {R"({"completed_phases":null})", "E required /completed_phases"},
                      {R"({"completed_phases":{}})", "E type /completed_phases"},
                      {R"({"completed_phases":[0,1,6]})", "E completed_phases_range /completed_phases/2"},
                      {R"({"completed_phases":[0,"1",2]})", "E completed_phases_range /completed_phases/1"},
                      {R"({"completed_phases":[0,2,1]})", "E completed_phases_order /completed_phases/2"},
                      {R"({"completed_phases":[0,1,1]})", "E completed_phases_order /completed_phases/2"},
                      {R"({"completed_phases":[0,1,2,3]})", "E completed_phases_current /completed_phases/3"},
                      {R"({"completed_phases":[0,2]})", "W completed_phases_gap /completed_phases"}};
  check_rows(rows);
}

TEST_CASE("timing") {
  const Row rows[] = {
      {R"({"phase_timing":null})", "E required /phase_timing"},
      {R"({"phase_timing":[]})", "E type /phase_timing"},
      {R"({"phase_timing":{"6":{"started_at":"2025-10-23T10:00:00Z"}}})", "E phase_key /phase_timing/6"},
      {R"({"phase_timing":{"01":{}}})", "E phase_key /phase_timing/01"},
      {R"({"phase_timing":{"x/y":{}}})", "E phase_key /phase_timing/x~1y"},
      {R"({"phase_timing":{"1":"soon"}})", "E type /phase_timing/1"},
      {R"({"phase_timing":{"1":{"started_at":null}}})", "E required /phase_timing/1/started_at"},
      {R"({"phase_timing":{"1":{"started_at":"2025-13-01T00:00:00Z"}}})",
       "E time_format /phase_timing/1/started_at"},
      {R"({"phase_timing":{"1":{"started_at":"2025-10-23T07:30:00"}}})",
       "W time_naive /phase_timing/1/started_at"},
      {R"({"phase_timing":{"1":{"completed_at":"2025-10-23T07:10:00Z"}}})",
       "E timing_order /phase_timing/1/completed_at"},
      {R"({"phase_timing":{"1":{"started_at":"2025-10-23T07:10:00Z"}}})",
       "E timing_order /phase_timing/1/started_at"},
      {R"({"phase_timing":{"1":{"duration_seconds":-1}}})", "E duration /phase_timing/1/duration_seconds"},
      {R"({"phase_timing":{"1":{"duration_seconds":17}}})", "W duration /phase_timing/1/duration_seconds"},
      {R"({"phase_timing":{"1":{"paused_duration_seconds":"long"}}})",
       "E duration /phase_timing/1/paused_duration_seconds"},
      {R"({"phase_timing":{"1":{"attempts":{}}}})", "E type /phase_timing/1/attempts"},
      {R"({"phase_timing":{"1":{"attempts":[1]}}})", "E type /phase_timing/1/attempts/0"},
      {R"({"phase_timing":{"1":{"attempts":[{"started_at":"2025-10-23T07:10:00Z","completed_at":"2025-10-23T07:00:00Z"}]}}})",
       "E timing_order /phase_timing/1/attempts/0/completed_at"},
      {R"({"phase_timing":{"1":{"completed_at":null}}})", "W timing_missing /phase_timing/1"},
      {R"({"phase_timing":{"3":null}})", "W timing_missing /phase_timing/3"}};
  check_rows(rows);
}

TEST_CASE("checkpoints and artifacts") {
  const Row rows[] = {
      {R"({"checkpoints":null})", "E required /checkpoints"},
      {R"({"checkpoints":{"0":"fine"}})", "E checkpoint_value /checkpoints/0"},
      {R"({"checkpoints":{"0":true}})", "E checkpoint_value /checkpoints/0"},
      {R"({"checkpoints":{"9":"passed"}})", "E phase_key /checkpoints/9"},
      {R"({"checkpoints":{"2":"failed"}})", "W checkpoint_of_completed /checkpoints/2"},
      {R"({"phase_artifacts":null})", "E required /phase_artifacts"},
      {R"({"phase_artifacts":{"0":[]}})", "E type /phase_artifacts/0"},
      {R"({"phase_artifacts":{"-1":{}}})", "E phase_key /phase_artifacts/-1"},
      {R"({"phase_artifacts":{"0":{"phase_number":1}}})", "E phase_number /phase_artifacts/0/phase_number"},
      {R"({"phase_artifacts":{"0":{"evidence":"yes"}}})", "E type /phase_artifacts/0/evidence"},
      {R"({"phase_artifacts":{"0":{"outputs":null}}})", "E required /phase_artifacts/0/outputs"},
      {R"({"phase_artifacts":{"0":{"commands_executed":{}}}})",
       "E type /phase_artifacts/0/commands_executed"},
      {R"({"phase_artifacts":{"0":{"timestamp":"now"}}})", "E time_format /phase_artifacts/0/timestamp"}};
  check_rows(rows);
  for (const std::string value : {"pending", "passed", "failed", "skipped"}) {
    Document document = with_completed(3);
    object_at(document, "checkpoints")["3"] = value;
    CHECK(rules_of(document).empty());
  }
}

TEST_CASE("lifecycle") {
  const Row rows[] = {
      {R"({"lifecycle":"done"})", "E type /lifecycle"},
      {R"({"lifecycle":{"completed":"yes"}})", "E type /lifecycle/completed"},
      {R"({"lifecycle":{"completed":null}})", "E required /lifecycle/completed"},
      {R"({"lifecycle":{"paused":null}})", "E required /lifecycle/paused"},
      {R"({"lifecycle":{"completed":true,"completed_at":"2025-10-23T09:00:00Z"}})",
       "E lifecycle_completed /lifecycle/completed"},
      {R"({"lifecycle":{"completed":true}})", "E lifecycle_time /lifecycle/completed_at"},
      {R"({"lifecycle":{"completed_at":"2025-10-23T09:00:00Z"}})",
       "W lifecycle_time /lifecycle/completed_at"},
      {R"({"lifecycle":{"completed_at":"never"}})", "E time_format /lifecycle/completed_at"},
      {R"({"lifecycle":{"completed":true,"paused":true}})", "E lifecycle_conflict /lifecycle/paused"},
      {R"({"lifecycle":{"completed":true,"aborted":true}})", "E lifecycle_conflict /lifecycle/aborted"},
      {R"({"lifecycle":{"aborted":true}})", "E lifecycle_time /lifecycle/aborted_at"},
      {R"({"lifecycle":{"paused":true,"paused_reason":"inactivity"}})",
       "E lifecycle_time /lifecycle/paused_at"},
      {R"({"lifecycle":{"paused":true,"paused_at":"2025-10-23T09:00:00Z"}})",
       "E paused_reason /lifecycle/paused_reason"},
      {R"({"lifecycle":{"paused_reason":"whim"}})", "E paused_reason /lifecycle/paused_reason"},
      {R"({"lifecycle":{"paused_at":"2025-10-23T09:00:00Z"}})", "W lifecycle_time /lifecycle/paused_at"},
      {R"({"lifecycle":{"resume_count":-1}})", "E resume_count /lifecycle/resume_count"},
      {R"({"lifecycle":{"resume_count":"two"}})", "E resume_count /lifecycle/resume_count"},
      {R"({"lifecycle":{"resume_count":2}})", "W resume_count /lifecycle/resumed_at"},
      {R"({"lifecycle":{"last_error":"x"}})", "E last_error /lifecycle/last_error_at"},
      {R"({"lifecycle":{"errors":{}}})", "E type /lifecycle/errors"},
      {R"({"lifecycle":{"errors":["x"]}})", "E errors /lifecycle/errors/0"},
      {R"({"lifecycle":{"errors":[{"phase":0,"message":"x","at":"?"}]}})",
       "E time_format /lifecycle/errors/0/at"},
      {R"({"lifecycle":{"pauses":1}})", "E type /lifecycle/pauses"},
      {R"({"lifecycle":{"total_duration_seconds":-1}})", "E duration /lifecycle/total_duration_seconds"}};
  check_rows(rows);
}

TEST_CASE("all phases completed but not flagged is a warning, as in the specification's example") {
  Document document = with_completed(6);
  object_at(document, "lifecycle")["completed"] = false;
  object_at(document, "lifecycle")["completed_at"] = nullptr;
  CHECK(rules_of(document) == std::vector<std::string>{"W lifecycle_completed /lifecycle/completed"});
}

TEST_CASE("messages say what is wrong and what was expected") {
  Document document = with_completed(3);
  document["current_phase"] = 6;
  const auto errors = found_in(document, Discrepancy::Severity::error);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].message == "6 is not a phase: expected 0 to 5");
}

TEST_CASE("anything at all can be checked, summarized and shown without harm") {
  const std::string_view odd[] = {
      "{}",
      R"({"current_phase":9223372036854775807,"completed_phases":[9223372036854775807,-9223372036854775808]})",
      R"({"workflow_structure":{"total_phases":9223372036854775807},"lifecycle":{},"current_phase":3})",
      R"({"workflow_structure":[],"lifecycle":[],"phase_timing":7,"phase_artifacts":"x","checkpoints":null})",
      R"({"workflow_structure":{},"lifecycle":{"errors":[null],"pauses":[1]},"phase_timing":{"0":{"duration_seconds":1e300,"paused_duration_seconds":-1e300,"started_at":"0001-01-01T00:00:00Z","completed_at":"9999-12-31T23:59:59Z"}},"completed_phases":[0]})",
      R"({"completed_at":"x","completed_phases":[9223372036854775807],"current_phase":0})",
      R"({"lifecycle":{"resume_count":9223372036854775807},"phase_timing":{"0":{"attempts":[{"attempt":9223372036854775807}]}}})",
      R"({"phase_timing":{"0":{"started_at":"2025-10-23T07:10:00Z","completed_at":"2025-10-23T07:10:00Z","paused_duration_seconds":-1.7e308},"1":{"started_at":"2025-10-23T07:10:00Z","completed_at":"2025-10-23T07:10:00Z","paused_duration_seconds":-1.7e308}},"completed_phases":[0,1]})",
      R"({"metadata":{"total_phases":-5,"max_phase":9223372036854775807},"completed_at":"x","completed_phases":[5]})"};
  for (const std::string_view text : odd) {
    CAPTURE(text);
    const Document document = parse_object(text);
    CHECK(!found_in(document, Discrepancy::Severity::error).empty());
    CHECK(!workflow_kind().context(document, minute(0)).text.empty());
    CHECK(!workflow_kind().summary(document, minute(0)).status.empty());
    workflow_kind().ended(document);
    CHECK(parse_json(to_json_text(workflow_kind().context(document, minute(0)).facts)).ok());
    std::ignore = resume(document, 1);
    std::ignore = complete(document, 0, 1, false);
    std::ignore = roll_back(document, 0, 1);
    std::ignore = workflow_kind().migrate(document, at(1));
  }
}

}  // namespace
}  // namespace sessiond
