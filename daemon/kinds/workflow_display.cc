// The text that shows a reader where a workflow stands: the specification's display, with real numbers.
#include <cmath>

#include "common/relative_time.h"
#include "common/text.h"
#include "daemon/kinds/workflow_parts.h"

namespace sessiond::workflow {
namespace {

constexpr std::size_t evidence_items_shown = 12;
constexpr std::size_t names_shown = 10;  // files, and commands

std::string ago(const json::object& object, std::string_view name, TimePoint now) {
  const auto time = time_member(object, name);
  return time ? relative_time(*time, now) : "at an unknown time";
}

std::string identity(const View& view) {
  std::string out = "📋 Session " + one_line(string_or(view.document, "session_id", "?")) + ": " +
                    one_line(string_or(view.document, "workflow_type", "?")) + "\n";
  const std::string target = one_line(string_or(view.document, "target_file", ""), 500);
  if (!target.empty()) out += "   Target: " + target + "\n";
  if (view.legacy) out += "   ⚠️  " + std::string(legacy_warning) + "\n";
  return out;
}

std::string progress(const View& view, const Metrics& numbers, TimePoint now) {
  std::string out = "\n🎯 Progress: " + view.position();
  if (numbers.percent_complete)
    out += " (" + std::to_string(std::llround(*numbers.percent_complete)) + "% complete)";
  out += "\n   Current: " + view.label(view.current);
  const json::object& timing = view.timing(view.current);
  if (member(timing, "started_at") != nullptr) out += " (started " + ago(timing, "started_at", now) + ")";
  const std::int64_t attempt = next_attempt(timing);
  const bool under_way = numbers.time_in_phase.has_value();
  if (under_way && attempt > 1) out += ", attempt " + std::to_string(attempt);
  out += "\n";
  if (numbers.avg_phase_duration)
    out += "   Average phase time: " + long_duration(millis_of(*numbers.avg_phase_duration)) + "\n";
  if (under_way && numbers.avg_phase_duration && *numbers.time_in_phase > *numbers.avg_phase_duration)
    out += "   ⚠️  Current phase taking longer than average\n";
  return out;
}

std::string checkpoint_text(std::string_view checkpoint) {
  if (checkpoint == "passed") return " ✅ Checkpoint PASSED";
  if (checkpoint == "failed") return " ❌ Checkpoint FAILED";
  if (checkpoint == "skipped") return " ⏭️  Checkpoint SKIPPED";
  return " ⏳ Checkpoint PENDING";
}

std::string phase_lines(const View& view, std::int64_t phase) {
  std::string out = "   " + view.label(phase);
  if (const auto took = active_seconds(view, phase)) out += " (" + short_duration(millis_of(*took)) + ")";
  out += checkpoint_text(view.checkpoint(phase)) + "\n";
  const std::string evidence = evidence_text(view.evidence(phase));
  if (!evidence.empty()) out += "      Evidence: " + evidence + "\n";
  const std::string issue = one_line(string_or(view.artifact(phase), "issue", ""), 500);
  if (!issue.empty()) out += "      Issue: " + issue + "\n";
  return out;
}

// The completed phases and, as in the specification, the current one when its checkpoint failed.
std::string completed(const View& view) {
  std::string lines;
  bool current_listed = false;
  for (const std::int64_t phase : view.completed) {
    lines += phase_lines(view, phase);
    current_listed = current_listed || phase == view.current;
  }
  if (!current_listed && view.checkpoint(view.current) == "failed") lines += phase_lines(view, view.current);
  return lines.empty() ? "" : "\n✅ Completed Phases:\n" + lines;
}

std::string shortened_list(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names)
    if (shown.size() < names_shown) shown.push_back(one_line(name));
  std::string out = join(shown, ", ");
  if (names.size() > names_shown) out += " and " + std::to_string(names.size() - names_shown) + " more";
  return out;
}

std::string interruption(const View& view, TimePoint now) {
  const json::object& lifecycle = view.lifecycle();
  std::string out;
  if (view.paused()) {
    out += "   Paused: " + one_line(string_or(lifecycle, "paused_reason", "no reason given")) + " (" +
           ago(lifecycle, "paused_at", now) + ")\n";
    const std::string doing = one_line(string_or(lifecycle, "paused_context", ""), 1'000);
    if (!doing.empty()) out += "   Context: " + doing + "\n";
  }
  if (view.aborted())
    out += "   Aborted: " + one_line(string_or(lifecycle, "aborted_reason", "no reason given"), 500) + " (" +
           ago(lifecycle, "aborted_at", now) + ")\n";
  if (member(lifecycle, "last_error") != nullptr)
    out += "   Last error: " + one_line(string_or(lifecycle, "last_error", ""), 500) + " (" +
           ago(lifecycle, "last_error_at", now) + ")\n";
  return out;
}

// What was touched and run last: the current phase's own if it has any, else the phase's before it.
std::string work_done(const View& view) {
  std::string out;
  const std::vector<std::string> files = files_touched(view);
  if (!files.empty()) out += "   Files touched: " + shortened_list(files) + "\n";
  std::vector<std::string> commands = command_lines(view.artifact(view.current));
  if (commands.empty()) commands = command_lines(view.artifact(view.current - 1));
  if (!commands.empty()) out += "   Commands executed: " + shortened_list(commands) + "\n";
  return out;
}

std::string current_status(const View& view, const Metrics& numbers, TimePoint now) {
  return "\n🔄 Current Status: " + std::string(status(view, numbers)) + "\n" + interruption(view, now) +
         work_done(view) + "   Next step: " + next_step(view, numbers) + "\n";
}

std::string timing(const View& view, const Metrics& numbers, TimePoint now) {
  std::string out = "\n⏰ Timing:\n   Started: " + ago(view.document, "created_at", now) +
                    "\n   Last updated: " + ago(view.document, "updated_at", now) + "\n";
  const json::object& lifecycle = view.lifecycle();
  if (const auto total = number_member(lifecycle, "total_duration_seconds"))
    out += "   Total duration: " + long_duration(millis_of(*total)) + "\n";
  else if (numbers.estimated_remaining && !view.ended())
    out += "   Estimated remaining: ~" + long_duration(millis_of(*numbers.estimated_remaining)) + "\n";
  const std::int64_t resumed = int_or(lifecycle, "resume_count", 0);
  if (resumed > 0)
    out += "   Resumed: " + (resumed == 1 ? "once" : std::to_string(resumed) + " times") + ", last " +
           ago(lifecycle, "resumed_at", now) + "\n";
  return out;
}

}  // namespace

std::string evidence_text(const json::object& evidence) {
  std::string out;
  std::size_t shown = 0;
  for (const auto& [name, value] : evidence) {
    if (shown++ == evidence_items_shown)
      return out + " and " + std::to_string(evidence.size() - evidence_items_shown) + " more";
    out += (out.empty() ? "" : ", ") + one_line(name, 60) + "=" +
           (value.is_string() ? one_line(value.get_string(), 100) : brief(value));
  }
  return out;
}

std::string display(const View& view, TimePoint now) {
  const Metrics numbers = metrics(view, now);
  return identity(view) + progress(view, numbers, now) + completed(view) +
         current_status(view, numbers, now) + timing(view, numbers, now);
}

}  // namespace sessiond::workflow
