// The rules of a workflow document that are about its shape and its progress; see workflow_check_life.cc for
// those about its lifecycle.
#include "daemon/kinds/workflow_check.h"

#include <algorithm>

#include "common/text.h"
#include "common/utf8.h"

namespace sessiond::workflow {
namespace {

std::string range_text(const View& view) {
  return view.total ? std::to_string(view.start) + " to " + std::to_string(*view.last())
                    : std::to_string(view.start) + " or above";
}

std::string_view kind_text(json::kind kind) {
  if (kind == json::kind::object) return "an object";
  if (kind == json::kind::array) return "an array";
  return kind == json::kind::bool_ ? "a boolean" : "a string";
}

// A text that must be there. Without some of them nobody can tell what the session is.
void check_text(Checker& out, std::string_view name, std::size_t max, bool essential) {
  const json::value* value = member(out.view.document, name);
  const std::string path = pointer_to("", name);
  const auto report = [&](std::string_view rule, std::string message) {
    if (essential)
      out.error(rule, path, std::move(message));
    else
      out.strict(rule, path, std::move(message));
  };
  if (value == nullptr) return report("required", std::string(name) + " is missing");
  if (!value->is_string()) return report("type", "expected a string, got " + brief(*value));
  const std::string_view text = value->get_string();
  if (text.empty() || !is_utf8(text) || code_points(text) > max)
    out.strict("length", path, "expected 1 to " + std::to_string(max) + " characters");
}

void check_phase_names(Checker& out, const json::object& structure) {
  const std::string path = "/workflow_structure/phase_names";
  if (!out.typed(structure, "phase_names", json::kind::array, path)) return;
  const json::array& names = structure.at("phase_names").get_array();
  if (out.view.total && std::cmp_not_equal(names.size(), *out.view.total))
    out.strict("phase_names", path,
               std::to_string(names.size()) + " names for " + std::to_string(*out.view.total) + " phases");
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].is_string())
      out.strict("phase_names", pointer_to(path, std::to_string(i)),
                 "expected a string, got " + brief(names[i]));
}

// The members of an object that is keyed by phase; `each` sees those whose key is a phase that exists.
template <class Each>
void for_each_phase(Checker& out, std::string_view name, Each each) {
  const std::string path = pointer_to("", name);
  if (!out.typed(out.view.document, name, json::kind::object, path)) return;
  for (const auto& [key, value] : out.view.document.at(name).get_object()) {
    const auto phase = phase_of_key(key);
    const std::string at = pointer_to(path, key);
    // The form with phase_timings starts to time one phase too many.
    const bool past_end =
        out.view.legacy && out.view.complete() && out.view.total && phase == *out.view.last() + 1;
    if (!phase || (!out.view.in_range(*phase) && !past_end))
      out.strict("phase_key", at, "expected a phase from " + range_text(out.view) + ", got " + quoted(key));
    else
      each(*phase, value, at);
  }
}

// Keys in the order of the phases, whatever the order in the file.
std::map<std::int64_t, std::pair<std::string, const json::object*>> timings(Checker& out) {
  std::map<std::int64_t, std::pair<std::string, const json::object*>> found;
  for_each_phase(out, timing_member(out.view.document),
                 [&](std::int64_t phase, const json::value& value, const std::string& at) {
                   if (const json::object* timing = value.if_object())
                     found[phase] = {at, timing};
                   else
                     out.error("type", at, "expected an object, got " + brief(value));
                 });
  return found;
}

void check_attempts(Checker& out, const json::object& timing, const std::string& path) {
  const std::string at = pointer_to(path, "attempts");
  if (!out.typed(timing, "attempts", json::kind::array, at)) return;
  std::size_t index = 0;
  for (const json::value& item : timing.at("attempts").get_array()) {
    const std::string place = pointer_to(at, std::to_string(index++));
    if (const json::object* attempt = item.if_object()) {
      const auto started = out.time(*attempt, "started_at", place);
      const auto completed = out.time(*attempt, "completed_at", place);
      if (started && completed && *completed < *started)
        out.strict("timing_order", pointer_to(place, "completed_at"), "the attempt ends before it starts");
    } else {
      out.strict("type", place, "expected an object, got " + brief(item));
    }
  }
}

// Times of one phase; returns the latest of them.
std::optional<TimePoint> check_phase_times(Checker& out, const json::object& timing,
                                           const std::string& path) {
  const auto started = out.time(timing, "started_at", path);
  const auto completed = out.time(timing, "completed_at", path);
  if (member(timing, "started_at") == nullptr)
    out.strict("required", pointer_to(path, "started_at"), "a phase that is timed has started");
  if (started && completed && *completed < *started)
    out.strict("timing_order", pointer_to(path, "completed_at"), "the phase ends before it starts");
  out.seconds(timing, "duration_seconds", path);
  out.seconds(timing, "paused_duration_seconds", path);
  const auto duration = number_member(timing, "duration_seconds");
  // A second of difference is how others round.
  if (duration && started && completed && std::abs(*duration - seconds(*completed - *started)) > 1.0)
    out.warning("duration", pointer_to(path, "duration_seconds"),
                "is not the time from started_at to completed_at");
  check_attempts(out, timing, path);
  return completed ? completed : started;
}

void check_artifact(Checker& out, std::int64_t phase, const json::object& artifact, const std::string& at) {
  out.time(artifact, "timestamp", at);
  out.typed(artifact, "evidence", json::kind::object, pointer_to(at, "evidence"));
  out.typed(artifact, "outputs", json::kind::object, pointer_to(at, "outputs"));
  out.typed(artifact, "commands_executed", json::kind::array, pointer_to(at, "commands_executed"));
  if (out.view.legacy) return;  // older forms have other members
  if (int_member(artifact, "phase_number") != phase)
    out.strict("phase_number", pointer_to(at, "phase_number"), "expected " + std::to_string(phase));
  for (const std::string_view name : {"evidence", "outputs", "commands_executed", "timestamp"})
    if (member(artifact, name) == nullptr)
      out.strict("required", pointer_to(at, name), std::string(name) + " is missing");
}

void check_completed_phases(Checker& out) {
  const View& view = out.view;
  std::int64_t before = -1;
  std::size_t index = 0;
  for (const json::value& item : view.document.at("completed_phases").get_array()) {
    const std::string at = pointer_to("/completed_phases", std::to_string(index++));
    const auto phase = whole_number(item);
    if (!phase || !view.in_range(*phase)) {
      out.error("completed_phases_range", at,
                "expected a phase from " + range_text(view) + ", got " + brief(item));
      continue;
    }
    if (*phase <= before)
      out.strict("completed_phases_order", at, "phases must be listed once each, in ascending order");
    before = *phase;
    if (*phase >= view.current && !view.complete())
      out.strict("completed_phases_current", at,
                 "phase " + std::to_string(*phase) + " is completed, but the current phase is " +
                     std::to_string(view.current));
  }
  if (!view.complete() && std::cmp_less(view.completed.size(), view.current - view.start))
    out.warning("completed_phases_gap", "/completed_phases",
                "not every phase before the current one is completed");
}

}  // namespace

void Checker::error(std::string_view rule, std::string path, std::string message) {
  found.push_back({Discrepancy::Severity::error, std::string(rule), std::move(path), std::move(message)});
}

void Checker::strict(std::string_view rule, std::string path, std::string message) {
  if (view.legacy)
    warning(rule, std::move(path), std::move(message));
  else
    error(rule, std::move(path), std::move(message));
}

void Checker::warning(std::string_view rule, std::string path, std::string message) {
  found.push_back({Discrepancy::Severity::warning, std::string(rule), std::move(path), std::move(message)});
}

std::optional<TimePoint> Checker::time(const json::object& object, std::string_view name,
                                       std::string_view path) {
  const json::value* value = member(object, name);
  if (value == nullptr) return std::nullopt;
  const std::string at = pointer_to(path, name);
  const auto parsed = parse_rfc3339(string_or(object, name, ""));
  if (!parsed) {
    strict("time_format", at, "expected a time such as 2025-10-23T07:00:00Z, got " + brief(*value));
    return std::nullopt;
  }
  if (parsed->naive)
    warning("time_naive", at, "has no zone; read as UTC");
  else if (!parsed->utc)
    warning("time_zone", at, "is not in UTC");
  return parsed->time;
}

void Checker::seconds(const json::object& object, std::string_view name, std::string_view path) {
  const json::value* value = member(object, name);
  const auto number = number_member(object, name);
  if (value != nullptr && (!number || *number < 0))
    strict("duration", pointer_to(path, name), "expected seconds >= 0, got " + brief(*value));
}

bool Checker::typed(const json::object& object, std::string_view name, json::kind kind,
                    const std::string& path) {
  const json::value* value = member(object, name);
  if (value == nullptr) return false;
  if (value->kind() == kind) return true;
  error("type", path, "expected " + std::string(kind_text(kind)) + ", got " + brief(*value));
  return false;
}

void check_identity(Checker& out) {
  check_text(out, "session_id", 512, true);
  check_text(out, "workflow_type", workflow_name_max, true);
  check_text(out, "target_file", workflow_target_max, false);
  for (const std::string_view name : {"created_at", "updated_at"})
    if (member(out.view.document, name) == nullptr)
      out.strict("required", pointer_to("", name), std::string(name) + " is missing");
  const auto created = out.time(out.view.document, "created_at", "");
  const auto updated = out.time(out.view.document, "updated_at", "");
  if (created && updated && *updated < *created)
    out.strict("updated_before_created", "/updated_at", "is before created_at");
  if (!out.typed(out.view.document, "metadata", json::kind::object, "/metadata") &&
      member(out.view.document, "metadata") == nullptr)
    out.strict("required", "/metadata", "metadata is missing");
}

void check_structure(Checker& out) {
  out.typed(out.view.document, "lifecycle", json::kind::object, "/lifecycle");
  if (!out.typed(out.view.document, "workflow_structure", json::kind::object, "/workflow_structure")) return;
  const json::object& structure = out.view.structure();
  const std::int64_t total = int_or(structure, "total_phases", 0);
  if (total < 1 || total > workflow_phases_max)
    out.error("total_phases_range", "/workflow_structure/total_phases",
              "expected a whole number from 1 to " + std::to_string(workflow_phases_max));
  const std::int64_t start = int_or(structure, "starting_phase", -1);
  if (start != 0 && start != 1)
    out.strict("starting_phase_range", "/workflow_structure/starting_phase", "expected 0 or 1");
  const std::string_view scheme = start == 1 ? "one_based" : "zero_based";
  if (string_or(structure, "indexing_scheme", "") != scheme)
    out.strict("indexing_scheme", "/workflow_structure/indexing_scheme",
               "expected " + quoted(scheme) + " for this starting_phase");
  out.typed(structure, "workflow_version", json::kind::string, "/workflow_structure/workflow_version");
  check_phase_names(out, structure);
}

void check_progress(Checker& out) {
  const View& view = out.view;
  const auto current = int_member(view.document, "current_phase");
  if (!current) {
    const bool there = member(view.document, "current_phase") != nullptr;
    out.error(there ? "type" : "required", "/current_phase", "expected a whole number");
  } else if (!view.in_range(*current)) {
    const std::string message = std::to_string(*current) + " is not a phase: expected " + range_text(view);
    // A finished file of an older form points past the end; nothing else may.
    if (view.legacy && view.complete())
      out.warning("current_phase_range", "/current_phase",
                  message + "; read as " + std::to_string(view.current));
    else
      out.error("current_phase_range", "/current_phase", message);
  }
  if (out.typed(view.document, "completed_phases", json::kind::array, "/completed_phases"))
    check_completed_phases(out);
  else if (member(view.document, "completed_phases") == nullptr)
    out.error("required", "/completed_phases", "completed_phases is missing");
}

void check_timing(Checker& out) {
  const View& view = out.view;
  std::optional<TimePoint> before;
  const auto all = timings(out);
  for (const auto& [phase, entry] : all) {
    const auto& [path, timing] = entry;
    const auto started = time_member(*timing, "started_at");
    if (before && started && *started < *before)
      out.strict("timing_order", pointer_to(path, "started_at"),
                 "phase " + std::to_string(phase) + " starts before the phase before it ends");
    const auto latest = check_phase_times(out, *timing, path);
    if (latest) before = latest;
  }
  if (view.legacy) return;
  const std::string path = pointer_to("", timing_member(view.document));
  for (const std::int64_t phase : view.completed) {
    const std::string at = pointer_to(path, std::to_string(phase));
    if (member(view.timing(phase), "completed_at") == nullptr)
      out.warning("timing_missing", at, "phase " + std::to_string(phase) + " is completed, but not when");
  }
  if (!view.ended() && view.timing(view.current).empty())
    out.warning("timing_missing", pointer_to(path, std::to_string(view.current)),
                "the current phase has no started_at");
}

void check_results(Checker& out) {
  const View& view = out.view;
  for_each_phase(
      out, "checkpoints", [&](std::int64_t phase, const json::value& value, const std::string& at) {
        const std::string_view text = value.is_string() ? std::string_view(value.get_string()) : "";
        if (std::find(checkpoint_values.begin(), checkpoint_values.end(), text) == checkpoint_values.end())
          out.error("checkpoint_value", at,
                    "expected one of " + join(checkpoint_values, ", ") + ", got " + brief(value));
        const bool done = std::count(view.completed.begin(), view.completed.end(), phase) > 0;
        if (done && (text == "failed" || text == "pending"))
          out.warning(
              "checkpoint_of_completed", at,
              "phase " + std::to_string(phase) + " is completed, but its checkpoint is " + std::string(text));
      });
  for_each_phase(out, "phase_artifacts",
                 [&](std::int64_t phase, const json::value& value, const std::string& at) {
                   if (const json::object* artifact = value.if_object())
                     check_artifact(out, phase, *artifact, at);
                   else
                     out.error("type", at, "expected an object, got " + brief(value));
                 });
  if (view.legacy) return;
  for (const std::string_view name : {"phase_timing", "phase_artifacts", "checkpoints"})
    if (member(view.document, name) == nullptr)
      out.strict("required", pointer_to("", name), std::string(name) + " is missing");
}

std::vector<Discrepancy> check(const Document& document) {
  const View view(document);
  Checker out(view);
  if (view.legacy) out.warning("legacy_format", "", std::string(legacy_warning));
  check_identity(out);
  check_structure(out);
  check_progress(out);
  check_timing(out);
  check_results(out);
  check_lifecycle(out);
  return std::move(out.found);
}

}  // namespace sessiond::workflow
