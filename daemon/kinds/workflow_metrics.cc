// What follows from a workflow's document and the time: progress, estimates, the status and what is next.
#include <algorithm>

#include "common/json_edit.h"
#include "common/text.h"
#include "daemon/kinds/workflow_view.h"

namespace sessiond::workflow {
namespace {

// The current phase is in progress: how long so far, without what was and is paused.
std::optional<double> time_in_phase(const View& view, TimePoint now) {
  const json::object& timing = view.timing(view.current);
  const auto started = time_member(timing, "started_at");
  if (view.ended() || !started || member(timing, "completed_at") != nullptr) return std::nullopt;
  TimePoint until = now;
  if (view.paused())
    if (const auto paused_at = time_member(view.lifecycle(), "paused_at")) until = std::min(now, *paused_at);
  const double paused = paused_seconds(timing);
  return std::max(0.0, seconds(until - *started) - paused);
}

std::optional<double> average(const View& view) {
  double sum = 0;
  int count = 0;
  for (const std::int64_t phase : view.completed)
    if (const auto took = active_seconds(view, phase)) {
      sum += *took;
      ++count;
    }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

std::string after_failure(const View& view) {
  const std::string fix = one_line(string_or(view.artifact(view.current), "next_step", ""));
  const std::string retry = "retry Phase " + std::to_string(view.current);
  return (fix.empty() ? "Fix what the checkpoint found" : fix) + ", then " + retry;
}

std::string work_on_current(const View& view) {
  const std::string plan = one_line(string_or(view.artifact(view.current - 1), "next_step", ""));
  return plan.empty() ? "Work on " + view.label(view.current) + ", then complete it" : plan;
}

}  // namespace

std::optional<double> active_seconds(const View& view, std::int64_t phase) {
  const json::object& timing = view.timing(phase);
  const auto started = time_member(timing, "started_at");
  const auto completed = time_member(timing, "completed_at");
  if (!started || !completed) return std::nullopt;
  const double paused = paused_seconds(timing);
  return std::max(0.0, seconds(*completed - *started) - paused);
}

Metrics metrics(const View& view, TimePoint now) {
  Metrics out;
  if (view.total) {
    const auto done = std::min<std::int64_t>(static_cast<std::int64_t>(view.completed.size()), *view.total);
    out.percent_complete = static_cast<double>(done) / static_cast<double>(*view.total) * 100;
    out.phases_remaining = *view.total - done;
  }
  out.avg_phase_duration = average(view);
  if (out.avg_phase_duration && out.phases_remaining)
    out.estimated_remaining = *out.avg_phase_duration * static_cast<double>(*out.phases_remaining);
  out.time_in_phase = time_in_phase(view, now);
  out.is_stalled =
      out.avg_phase_duration && out.time_in_phase && *out.time_in_phase > 2 * *out.avg_phase_duration;
  return out;
}

std::string_view status(const View& view, const Metrics& metrics) {
  if (view.complete()) return "completed";
  if (view.aborted()) return "aborted";
  if (view.paused()) return "paused";
  if (view.checkpoint(view.current) == "failed") return "checkpoint_failed";
  return metrics.is_stalled ? "possibly_stalled" : "active";
}

std::string next_step(const View& view, const Metrics& metrics) {
  const std::string_view now = status(view, metrics);
  if (now == "completed") return "Nothing: the workflow is complete";
  if (now == "aborted") return "Nothing: the workflow was aborted";
  const bool failed = view.checkpoint(view.current) == "failed";
  const std::string work = failed ? after_failure(view) : work_on_current(view);
  if (now == "paused") return "Resume the session, then: " + work;
  if (now == "possibly_stalled")
    return "Find out whether " + view.label(view.current) +
           " is still being worked on (it takes more than twice the average), then: " + work;
  return work;
}

}  // namespace sessiond::workflow
