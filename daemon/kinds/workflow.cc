// Starting a workflow and completing its phases.
#include "daemon/kinds/workflow.h"

#include <algorithm>

#include "common/text.h"
#include "common/utf8.h"
#include "daemon/kinds/workflow_parts.h"

namespace sessiond::workflow {
namespace {

using CompleteParams = WorkflowCompletePhase::Params;

Status check_phase_names(const WorkflowCreate::Params& params) {
  if (!params.phase_names) return {};
  const auto fail = [](const std::string& what) {
    return Error(ErrorCode::invalid_params, "params.phase_names: " + what)
        .with("field", "params.phase_names");
  };
  if (std::cmp_not_equal(params.phase_names->size(), params.total_phases))
    return fail(std::to_string(params.phase_names->size()) + " names for " +
                std::to_string(params.total_phases) + " phases");
  for (const std::string& name : *params.phase_names)
    if (name.empty() || code_points(name) > workflow_name_max)
      return fail("expected names of 1 to " + std::to_string(workflow_name_max) + " characters, got " +
                  quoted(name));
  return {};
}

json::object new_structure(const WorkflowCreate::Params& params) {
  const std::int64_t start = params.starting_phase.value_or(0);
  json::object out{{"total_phases", params.total_phases},
                   {"starting_phase", start},
                   {"indexing_scheme", start == 0 ? "zero_based" : "one_based"},
                   {"workflow_version", params.workflow_version.value_or("v1")}};
  if (params.phase_names)
    out["phase_names"] = json::array(params.phase_names->begin(), params.phase_names->end());
  return out;
}

json::object new_artifact(const CompleteParams& params, TimePoint now) {
  json::array commands;
  if (params.commands_executed)
    commands = json::array(params.commands_executed->begin(), params.commands_executed->end());
  json::object out{{"phase_number", params.phase},
                   {"evidence", params.evidence.value_or(json::object())},
                   {"outputs", params.outputs.value_or(json::object())},
                   {"commands_executed", std::move(commands)},
                   {"timestamp", format_rfc3339(now)}};
  if (params.issue) out["issue"] = *params.issue;
  if (params.next_step) out["next_step"] = *params.next_step;
  return out;
}

Status check_parts(const CompleteParams& params) {
  if (params.evidence) SESSIOND_TRY(check_part_size("evidence", *params.evidence));
  if (params.outputs) SESSIOND_TRY(check_part_size("outputs", *params.outputs));
  if (params.commands_executed)
    SESSIOND_TRY(check_part_size("commands_executed", json::array(params.commands_executed->begin(),
                                                                  params.commands_executed->end())));
  return {};
}

// Completing a phase again after a failed checkpoint, without a retry, is an attempt of its own: it began
// when the failed one ended, or when work was resumed after that.
void stamp_completion(Document& document, const View& before, TimePoint now) {
  const json::object& old = before.timing(before.current);
  if (old.empty()) return;  // legacy: nothing is known of when it started
  const std::string key = std::to_string(before.current);
  json::object& timing = object_at(object_at(document, timing_member(document)), key);
  if (const auto failed_at = time_member(old, "completed_at")) {
    const auto resumed_at = time_member(before.lifecycle(), "resumed_at");
    start_attempt(timing, resumed_at ? std::max(*failed_at, *resumed_at) : *failed_at);
  }
  end_attempt(timing, now);
}

// The last phase stays the current one; any other hands over to the next.
void advance(Document& document, const View& before, TimePoint now) {
  const std::int64_t phase = before.current;
  json::array& completed = array_at(document, "completed_phases");
  if (!std::count(before.completed.begin(), before.completed.end(), phase)) completed.push_back(phase);
  if (before.last() == phase) {
    set_completed(document, now);
    return;
  }
  document["current_phase"] = phase + 1;
  object_at(document, "checkpoints")[std::to_string(phase + 1)] = "pending";
  const std::string_view timings = timing_member(document);
  if (before.total || document.contains(timings))
    object_at(document, timings)[std::to_string(phase + 1)] = new_timing(before, phase + 1, now);
}

WorkflowCompletePhase::Reply completion_reply(const Document& document, std::int64_t phase, TimePoint now) {
  const View view(document);
  const std::string checkpoint(view.checkpoint(phase));
  const bool done = view.complete();
  std::string message = view.label(phase) + (checkpoint == "passed" ? " completed" : ": checkpoint failed");
  if (done)
    message += "; the workflow is complete";
  else if (checkpoint == "passed")
    message += "; now at " + view.label(view.current);
  return {.phase = phase,
          .checkpoint = checkpoint,
          .workflow_completed = done,
          .current_phase = view.current,
          .duration_seconds = number_member(view.timing(phase), "duration_seconds"),
          .next = next_step(view, metrics(view, now)),
          .message = std::move(message)};
}

}  // namespace

Result<Applied<WorkflowCreate::Reply>> create(std::string_view session_id,
                                              const WorkflowCreate::Params& params, const Moment& moment) {
  SESSIOND_TRY(check_phase_names(params));
  if (params.metadata) SESSIOND_TRY(check_part_size("metadata", *params.metadata));
  const std::int64_t start = params.starting_phase.value_or(0);
  const std::string key = std::to_string(start);
  const std::string now = format_rfc3339(moment.now);
  Document document{{"session_id", session_id},
                    {"workflow_type", params.workflow_type},
                    {"target_file", params.target_file},
                    {"workflow_structure", new_structure(params)},
                    {"current_phase", start},
                    {"completed_phases", json::array()},
                    {"phase_timing", json::object{{key, json::object{{"started_at", now}}}}},
                    {"lifecycle", new_lifecycle()},
                    {"phase_artifacts", json::object()},
                    {"checkpoints", json::object{{key, "pending"}}},
                    {"created_at", now},
                    {"updated_at", now},
                    {"metadata", params.metadata.value_or(json::object())}};
  const View view(document);
  WorkflowCreate::Reply reply{.current_phase = start, .message = "Workflow started at " + view.label(start)};
  return Applied<WorkflowCreate::Reply>{std::move(document), std::move(reply), {}};
}

Result<Applied<WorkflowCompletePhase::Reply>> complete_phase(const Document& before,
                                                             const CompleteParams& params,
                                                             const Moment& moment) {
  const View view(before);
  const std::string key = std::to_string(params.phase);
  SESSIOND_TRY(ensure_working(view, "complete phase " + key));
  if (params.phase != view.current)
    return Error(ErrorCode::refused,
                 "Cannot complete phase " + key + ", current phase is " + std::to_string(view.current))
        .with("current_phase", view.current)
        .next("complete the current phase, or go back with workflow.rollback");
  SESSIOND_TRY(check_parts(params));
  const TimePoint now = stamp(view, moment);
  const bool passed = params.checkpoint_passed.value_or(true);
  Document document = before;
  object_at(document, "phase_artifacts")[key] = new_artifact(params, now);
  object_at(document, "checkpoints")[key] = passed ? "passed" : "failed";
  stamp_completion(document, view, now);
  if (passed) {
    advance(document, view, now);
  } else {
    keep_attempt(document, params.phase, "failed");
    add_error(document,
              {params.phase, params.issue.value_or("Checkpoint failed"), format_rfc3339(now), "checkpoint"},
              moment.agent);
  }
  document["updated_at"] = format_rfc3339(now);
  auto reply = completion_reply(document, params.phase, now);
  return Applied<WorkflowCompletePhase::Reply>{std::move(document), std::move(reply), {}};
}

}  // namespace sessiond::workflow
