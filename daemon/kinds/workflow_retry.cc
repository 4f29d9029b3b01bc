// Going back in a workflow: a new attempt at a phase, a rollback to an earlier one, and the errors that are
// the reason for it.
#include <algorithm>

#include "common/text.h"
#include "daemon/kinds/workflow_parts.h"

namespace sessiond::workflow {
namespace {

bool error_in_attempt(const View& view) {
  const std::string_view started = string_or(view.timing(view.current), "started_at", "");
  const auto since = parse_rfc3339(started);
  for (const WorkflowError& error : errors_of(view, view.current)) {
    const auto at = parse_rfc3339(error.at);
    if (error.source == "recorded" && (!since || !at || at->time >= since->time)) return true;
  }
  return false;
}

Status ensure_can_retry(const View& view, std::int64_t phase) {
  const std::string what = "retry phase " + std::to_string(phase);
  SESSIOND_TRY(ensure_working(view, what));
  if (phase != view.current)
    return Error(ErrorCode::refused, "Cannot " + what + ", current phase is " + std::to_string(view.current))
        .with("current_phase", view.current)
        .next("retry the current phase, or go back with workflow.rollback");
  const std::string checkpoint(view.checkpoint(phase));
  if (checkpoint == "failed" || error_in_attempt(view)) return {};
  return Error(ErrorCode::refused,
               "Cannot " + what + ", nothing has failed in it: its checkpoint is " + checkpoint)
      .with("checkpoint", checkpoint)
      .next("complete it with workflow.complete_phase, or go back with workflow.rollback");
}

Status ensure_can_roll_back(const View& view, std::int64_t to) {
  const std::string what = "roll back to phase " + std::to_string(to);
  SESSIOND_TRY(ensure_working(view, what));
  if (to >= view.start && to < view.current) return {};
  const std::string why = to < view.start ? "the first phase is " + std::to_string(view.start)
                                          : "current phase is " + std::to_string(view.current);
  return Error(ErrorCode::refused, "Cannot " + what + ", " + why)
      .with("current_phase", view.current)
      .next("name an earlier phase; to repeat the current one use workflow.retry_phase");
}

// Removes the entries of phases after `to` and tells which.
std::vector<std::int64_t> clear_after(Document& document, std::string_view name, std::int64_t to) {
  std::vector<std::int64_t> cleared;
  if (object_member(document, name) == nullptr) return cleared;
  json::object& entries = object_at(document, name);
  for (const auto& [key, value] : entries)
    if (const auto phase = phase_of_key(key); phase && *phase > to) cleared.push_back(*phase);
  std::sort(cleared.begin(), cleared.end());
  for (const std::int64_t phase : cleared) entries.stable_erase(std::to_string(phase));
  return cleared;
}

WorkflowRollback::Cleared clear_later(Document& document, const View& before, std::int64_t to) {
  WorkflowRollback::Cleared cleared;
  json::array kept;
  for (const std::int64_t phase : before.completed) {
    if (phase < to)
      kept.push_back(phase);
    else
      cleared.completed_phases.push_back(phase);
  }
  document["completed_phases"] = std::move(kept);
  cleared.phase_artifacts = clear_after(document, "phase_artifacts", to);
  cleared.checkpoints = clear_after(document, "checkpoints", to);
  cleared.phase_timing = clear_after(document, timing_member(document), to);
  clear_after(document, "evidence_submitted", to);
  return cleared;
}

std::string cleared_text(const WorkflowRollback::Cleared& cleared) {
  const auto list = [](const std::vector<std::int64_t>& phases, std::string_view of) {
    std::vector<std::string> numbers;
    for (const std::int64_t phase : phases) numbers.push_back(std::to_string(phase));
    return std::string(of) + " of " + (numbers.empty() ? "none" : join(numbers, ", "));
  };
  return list(cleared.phase_artifacts, "artifacts") + "; " + list(cleared.checkpoints, "checkpoints") + "; " +
         list(cleared.phase_timing, "times");
}

}  // namespace

Result<Applied<WorkflowRetryPhase::Reply>> retry_phase(const Document& before,
                                                       const WorkflowRetryPhase::Params& params,
                                                       const Moment& moment) {
  const View view(before);
  SESSIOND_TRY(ensure_can_retry(view, params.phase));
  const TimePoint now = stamp(view, moment);
  const std::string key = std::to_string(params.phase);
  Document document = before;
  json::object& timing = object_at(object_at(document, timing_member(document)), key);
  if (view.checkpoint(params.phase) != "failed") {  // given up after an error
    end_attempt(timing, now);
    keep_attempt(document, params.phase, "pending");
  }
  start_attempt(timing, now);
  object_at(document, "checkpoints")[key] = "pending";
  if (params.reset_evidence.value_or(false))
    for (const std::string_view name : {"phase_artifacts", "evidence_submitted"})
      if (document.contains(name)) object_at(document, name).stable_erase(key);
  document["updated_at"] = format_rfc3339(now);
  const std::int64_t attempt = std::max<std::int64_t>(next_attempt(timing), 2);
  WorkflowRetryPhase::Reply reply{
      .phase = params.phase,
      .attempt = attempt,
      .earlier_errors = errors_of(view, params.phase),
      .message = "Attempt " + std::to_string(attempt) + " at " + view.label(params.phase) + " started"};
  return Applied<WorkflowRetryPhase::Reply>{std::move(document), std::move(reply), {}};
}

Result<Applied<WorkflowRollback::Reply>> rollback(const Document& before,
                                                  const WorkflowRollback::Params& params,
                                                  const Moment& moment) {
  const View view(before);
  const std::int64_t to = params.to_phase;
  SESSIOND_TRY(ensure_can_roll_back(view, to));
  const TimePoint now = stamp(view, moment);
  Document document = before;
  WorkflowRollback::Reply reply{.from_phase = view.current, .current_phase = to};
  if (!view.timing(to).empty()) {
    keep_attempt(document, to, view.checkpoint(to));
    start_attempt(object_at(object_at(document, timing_member(document)), std::to_string(to)), now);
  }
  reply.cleared = clear_later(document, view, to);
  object_at(document, "checkpoints")[std::to_string(to)] = "pending";
  document["current_phase"] = to;
  json::object record{
      {"from_phase", view.current}, {"to_phase", to}, {"reason", nullptr}, {"at", format_rfc3339(now)}};
  if (params.reason) record["reason"] = *params.reason;
  push_bounded(array_at(lifecycle_of(document), "rollbacks"), std::move(record), interruptions_kept);
  document["updated_at"] = format_rfc3339(now);
  reply.message = "Rolled back from Phase " + std::to_string(view.current) + " to " + view.label(to) +
                  "; cleared " + cleared_text(reply.cleared);
  return Applied<WorkflowRollback::Reply>{std::move(document), std::move(reply), {}};
}

Result<Applied<WorkflowRecordError::Reply>> record_error(const Document& before,
                                                         const WorkflowRecordError::Params& params,
                                                         const Moment& moment) {
  const View view(before);
  SESSIOND_TRY(ensure_open(view, "record an error"));
  const std::string now = format_rfc3339(stamp(view, moment));
  Document document = before;
  json::object& lifecycle = lifecycle_of(document);
  lifecycle["last_error"] = params.message;
  lifecycle["last_error_at"] = now;
  add_error(document, {view.current, params.message, now, "recorded"}, moment.agent);
  document["updated_at"] = now;
  WorkflowRecordError::Reply reply{.phase = view.current,
                                   .message = "Error recorded for " + view.label(view.current)};
  return Applied<WorkflowRecordError::Reply>{std::move(document), std::move(reply), {}};
}

Result<WorkflowGetErrors::Reply> get_errors(const Document& document,
                                            const WorkflowGetErrors::Params& params) {
  const View view(document);
  WorkflowGetErrors::Reply reply{.errors = errors_of(view, params.phase)};
  if (member(view.lifecycle(), "last_error") != nullptr) {
    reply.last_error = string_or(view.lifecycle(), "last_error", "");
    reply.last_error_at = string_or(view.lifecycle(), "last_error_at", "");
  }
  return reply;
}

}  // namespace sessiond::workflow
