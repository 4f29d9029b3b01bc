// Older forms of a workflow's state file: reading them as they are, and upgrading them on request.
#include <algorithm>

#include "common/text.h"
#include "daemon/kinds/workflow_parts.h"

namespace sessiond::workflow {
namespace {

// Notes what an upgrade did, for its message.
using Notes = std::vector<std::string>;

void note(Notes& notes, const std::string& what) {
  if (std::find(notes.begin(), notes.end(), what) == notes.end()) notes.push_back(what);
}

// Writes every time of `object` that is readable but not in UTC with Z as such.
void normalize_times(json::object& object, std::initializer_list<std::string_view> names, Notes& notes) {
  for (const std::string_view name : names) {
    const auto parsed = parse_rfc3339(string_or(object, name, ""));
    if (!parsed || (parsed->utc && string_or(object, name, "").ends_with('Z'))) continue;
    object[name] = format_rfc3339(parsed->time);
    note(notes, "times are in UTC");
  }
}

json::object upgraded_structure(const View& view, Notes& notes) {
  json::object out = view.structure();
  const json::object before = out;
  out["total_phases"] = *view.total;
  out["starting_phase"] = view.start;
  out["indexing_scheme"] = view.start == 0 ? "zero_based" : "one_based";
  if (member(out, "workflow_version") == nullptr) out["workflow_version"] = "v1";
  if (out != before) note(notes, "workflow_structure with " + std::to_string(*view.total) + " phases");
  return out;
}

json::object upgraded_timing(const View& view, Notes& notes) {
  json::object out;
  const json::object* entries = object_member(view.document, timing_member(view.document));
  for (std::int64_t phase = view.start; phase <= *view.last(); ++phase) {
    json::object timing = view.timing(phase);
    if (timing.empty()) continue;
    for (const std::string_view name : {"completed_at", "duration_seconds"})
      if (member(timing, name) == nullptr) timing.stable_erase(name);
    normalize_times(timing, {"started_at", "completed_at"}, notes);
    out[std::to_string(phase)] = std::move(timing);
  }
  if (timing_member(view.document) == "phase_timings") note(notes, "phase_timings became phase_timing");
  if (entries != nullptr && out.size() < entries->size())
    note(notes, "times of phases that do not exist left out");
  return out;
}

// One artifact per phase that has one or had evidence submitted; members of other forms are kept.
json::object upgraded_artifacts(const View& view, Notes& notes) {
  json::object out;
  for (std::int64_t phase = view.start; phase <= *view.last(); ++phase) {
    json::object artifact = view.artifact(phase);
    if (artifact.empty() && view.evidence(phase).empty()) continue;
    const json::object before = artifact;
    artifact["phase_number"] = phase;
    if (object_member(artifact, "evidence") == nullptr) artifact["evidence"] = view.evidence(phase);
    if (object_member(artifact, "outputs") == nullptr) artifact["outputs"] = json::object();
    if (array_member(artifact, "commands_executed") == nullptr) artifact["commands_executed"] = json::array();
    if (member(artifact, "timestamp") == nullptr) {
      const json::value* completed = member(view.timing(phase), "completed_at");
      artifact["timestamp"] = completed != nullptr ? *completed : view.document.at("updated_at");
    }
    if (artifact != before) note(notes, "phase_artifacts completed");
    normalize_times(artifact, {"timestamp"}, notes);
    out[std::to_string(phase)] = std::move(artifact);
  }
  return out;
}

json::object upgraded_lifecycle(const View& view, Notes& notes) {
  json::object out = new_lifecycle();
  for (const auto& [name, value] : view.lifecycle()) out[name] = value;
  if (view.complete() && !bool_or(out, "completed", false)) {
    const json::value* at = member(view.document, "completed_at");
    if (at == nullptr) at = member(view.timing(*view.last()), "completed_at");
    if (at == nullptr) at = &view.document.at("updated_at");
    out["completed"] = true;
    out["completed_at"] = *at;
    note(notes, "lifecycle.completed set");
  }
  normalize_times(out, {"completed_at", "paused_at", "resumed_at", "last_error_at", "aborted_at"}, notes);
  const auto created = time_member(view.document, "created_at");
  const auto completed = time_member(out, "completed_at");
  if (created && completed && !out.contains("total_duration_seconds"))
    out["total_duration_seconds"] = std::max(0.0, seconds(*completed - *created));
  if (out.size() != view.lifecycle().size()) note(notes, "lifecycle");
  return out;
}

json::array upgraded_completed(const View& view) {
  std::vector<std::int64_t> sorted = view.completed;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return json::array(sorted.begin(), sorted.end());
}

json::object upgraded_checkpoints(const View& view) {
  json::object out;
  for (std::int64_t phase = view.start; phase <= *view.last(); ++phase) {
    const json::object* all = object_member(view.document, "checkpoints");
    if (all != nullptr && member(*all, std::to_string(phase)) != nullptr)
      out[std::to_string(phase)] = view.checkpoint(phase);
  }
  return out;
}

// The specification's members in its order, then whatever else the file had.
Document upgraded(const View& view, Notes& notes) {
  const Document& old = view.document;
  const auto same = [&](std::string_view name) { return old.contains(name) ? old.at(name) : json::value(); };
  if (int_member(old, "current_phase") != view.current)
    note(notes, "current_phase is " + std::to_string(view.current));
  Document out{{"session_id", same("session_id")},
               {"workflow_type", same("workflow_type")},
               {"target_file", string_or(old, "target_file", "unknown")},
               {"workflow_structure", upgraded_structure(view, notes)},
               {"current_phase", view.current},
               {"completed_phases", upgraded_completed(view)},
               {"phase_timing", upgraded_timing(view, notes)},
               {"lifecycle", upgraded_lifecycle(view, notes)},
               {"phase_artifacts", upgraded_artifacts(view, notes)},
               {"checkpoints", upgraded_checkpoints(view)},
               {"created_at", same("created_at")},
               {"updated_at", same("updated_at")},
               {"metadata", member(old, "metadata") != nullptr ? same("metadata") : json::object()}};
  normalize_times(out, {"created_at", "updated_at"}, notes);
  constexpr std::array<std::string_view, 3> moved{"phase_timings", "evidence_submitted", "completed_at"};
  for (const auto& [name, value] : old)
    if (!out.contains(name) && !(view.legacy && std::count(moved.begin(), moved.end(), name)))
      out[name] = value;
  return out;
}

Error listed(ErrorCode code, const std::string& what, const std::vector<Discrepancy>& found) {
  std::vector<std::string> lines;
  json::array data;
  for (const Discrepancy& item : found) {
    if (item.severity != Discrepancy::Severity::error) continue;
    lines.push_back(item.path + ": " + item.message);
    data.push_back(json::object{{"rule", item.rule}, {"path", item.path}, {"message", item.message}});
  }
  return Error(code, what + ": " + join(lines, "; ")).with("discrepancies", std::move(data));
}

bool has_errors(const std::vector<Discrepancy>& found) {
  return std::any_of(found.begin(), found.end(),
                     [](const Discrepancy& item) { return item.severity == Discrepancy::Severity::error; });
}

Status ensure_can_migrate(const View& view) {
  const auto nothing = [](std::string_view rule) { return rule != "time_naive" && rule != "time_zone"; };
  const std::vector<Discrepancy> found = check(view.document);
  if (!view.legacy &&
      std::all_of(found.begin(), found.end(), [&](const Discrepancy& item) { return nothing(item.rule); }))
    return Error(ErrorCode::refused, "Nothing to migrate: the session already has the current form");
  if (view.total && member(view.document, "created_at") != nullptr &&
      member(view.document, "updated_at") != nullptr)
    return {};
  return Error(ErrorCode::refused, view.total
                                       ? "Cannot migrate: created_at or updated_at is missing"
                                       : "Cannot migrate: it is not known how many phases the workflow has")
      .next("set metadata.total_phases (and metadata.starting_phase) with session.update, then migrate");
}

}  // namespace

Result<Applied<MessageReply>> migrate(const Document& before, const Moment& moment) {
  const View view(before);
  SESSIOND_TRY(ensure_can_migrate(view));
  Notes notes;
  Document document = upgraded(view, notes);
  const TimePoint now = stamp(view, moment);
  // A phase in progress whose start nobody wrote down is timed from here on.
  json::object& timing = object_at(document, "phase_timing");
  const std::string key = std::to_string(view.current);
  if (!view.ended() && !timing.contains(key)) {
    timing[key] = json::object{{"started_at", format_rfc3339(now)}};
    note(notes, "phase " + key + " is timed from now on");
  }
  document["updated_at"] = format_rfc3339(now);
  const std::vector<Discrepancy> found = check(document);
  if (has_errors(found))
    return listed(ErrorCode::refused, "Cannot migrate, the result would not be valid", found);
  return Applied<MessageReply>{std::move(document), {.message = "Upgraded: " + join(notes, "; ")}, {}};
}

}  // namespace sessiond::workflow

namespace sessiond {

Result<Document> workflow_import(const json::value& file, std::vector<Discrepancy>& warnings) {
  const json::object* object = file.if_object();
  if (object == nullptr)
    return Error(ErrorCode::damaged, "Not a workflow session: expected an object, got " + brief(file));
  std::vector<Discrepancy> found = workflow::check(*object);
  if (workflow::has_errors(found))
    return workflow::listed(ErrorCode::damaged, "Not a workflow session that makes sense", found);
  warnings.insert(warnings.end(), found.begin(), found.end());
  return *object;
}

}  // namespace sessiond
