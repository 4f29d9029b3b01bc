// Where a workflow stands, as facts for programs: enough for an agent that lost its memory ("where was I,
// what did I touch?") and for one that never saw the session ("what is this about, what is next, why was it
// paused?").
#include <algorithm>

#include "common/text.h"
#include "daemon/kinds/workflow_parts.h"

namespace sessiond::workflow {
namespace {

template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::value member_or_null(const json::object& object, std::string_view name) {
  const json::value* value = member(object, name);
  return value == nullptr ? json::value(nullptr) : *value;
}

void copy_members(json::object& to, const json::object& from, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const json::value* value = member(from, name)) to[name] = *value;
}

json::object phase_facts(const View& view, std::int64_t phase) {
  json::object out{{"phase", phase}};
  if (!view.phase_name(phase).empty()) out["name"] = view.phase_name(phase);
  out["checkpoint"] = view.checkpoint(phase);
  copy_members(out, view.timing(phase),
               {"started_at", "completed_at", "duration_seconds", "paused_duration_seconds", "attempts"});
  out["evidence"] = view.evidence(phase);
  copy_members(out, view.artifact(phase), {"outputs", "commands_executed", "issue", "next_step"});
  return out;
}

json::object goal_facts(const View& view) {
  json::object out;
  copy_members(out, view.document, {"workflow_type", "target_file"});
  copy_members(out, view.structure(), {"workflow_version", "phase_names"});
  return out;
}

json::object progress_facts(const View& view, const Metrics& numbers) {
  return {{"current_phase", view.current},
          {"total_phases", or_null(view.total)},
          {"starting_phase", view.start},
          {"completed_phases", json::array(view.completed.begin(), view.completed.end())},
          {"percent_complete", or_null(numbers.percent_complete)},
          {"phases_remaining", or_null(numbers.phases_remaining)}};
}

json::object current_facts(const View& view, const Metrics& numbers) {
  json::object out = phase_facts(view, view.current);
  out["attempt"] = next_attempt(view.timing(view.current));
  out["time_in_phase_seconds"] = or_null(numbers.time_in_phase);
  out["is_stalled"] = numbers.is_stalled;
  return out;
}

json::value paused_facts(const View& view) {
  if (!view.paused()) return nullptr;
  json::object out;
  copy_members(out, view.lifecycle(), {"paused_at", "paused_reason", "paused_context"});
  return out;
}

json::value last_of(const View& view, std::string_view list) {
  const json::array* items = array_member(view.lifecycle(), list);
  return items == nullptr || items->empty() ? json::value(nullptr) : items->back();
}

json::array error_facts(const View& view) {
  json::array out;
  for (const WorkflowError& error : errors_of(view, std::nullopt))
    out.push_back(json::object{
        {"phase", error.phase}, {"message", error.message}, {"at", error.at}, {"source", error.source}});
  return out;
}

json::object timing_facts(const View& view, const Metrics& numbers) {
  json::object out{{"avg_phase_duration_seconds", or_null(numbers.avg_phase_duration)},
                   {"estimated_remaining_seconds", or_null(numbers.estimated_remaining)}};
  copy_members(out, view.document, {"created_at", "updated_at"});
  copy_members(out, view.lifecycle(), {"completed_at", "total_duration_seconds"});
  return out;
}

// What stands in the way, in sentences.
json::array problems(const View& view, const Metrics& numbers) {
  json::array out;
  if (view.checkpoint(view.current) == "failed")
    out.push_back(json::value(
        "The checkpoint of " + view.label(view.current) +
        " failed: " + one_line(string_or(view.artifact(view.current), "issue", "no issue was given"))));
  if (numbers.is_stalled)
    out.push_back(json::value(view.label(view.current) + " takes more than twice the average"));
  if (member(view.lifecycle(), "last_error") != nullptr)
    out.push_back(json::value("Last error: " + one_line(string_or(view.lifecycle(), "last_error", ""))));
  for (const Discrepancy& found : check(view.document))
    out.push_back(json::value(found.path.empty() ? found.message : found.path + ": " + found.message));
  return out;
}

void add_names(std::vector<std::string>& out, const json::value& value) {
  const auto add = [&](const json::value& item) {
    if (!item.is_string()) return;
    std::string name(item.get_string());
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
  };
  if (const json::array* list = value.if_array())
    for (const json::value& item : *list) add(item);
  else
    add(value);
}

// Evidence and outputs are free in form; these are the names under which files are found in practice.
void add_files(std::vector<std::string>& out, const json::object& from) {
  for (const std::string_view name : {"files", "files_modified", "files_created", "files_changed",
                                      "files_touched", "modified_files", "created_files", "file_path"})
    if (const json::value* value = member(from, name)) add_names(out, *value);
}

std::int64_t last_known(const View& view) { return view.last().value_or(view.current); }

json::array all_commands(const View& view) {
  json::array out;
  for (std::int64_t phase = view.start; phase <= last_known(view); ++phase)
    for (const std::string& line : command_lines(view.artifact(phase)))
      out.push_back(json::object{{"phase", phase}, {"command", line}});
  return out;
}

json::object all_outputs(const View& view) {
  json::object out;
  for (std::int64_t phase = view.start; phase <= last_known(view); ++phase)
    if (const json::object* outputs = object_member(view.artifact(phase), "outputs");
        outputs && !outputs->empty())
      out[std::to_string(phase)] = *outputs;
  return out;
}

}  // namespace

std::vector<std::string> files_touched(const View& view) {
  std::vector<std::string> out;
  for (std::int64_t phase = view.start; phase <= last_known(view); ++phase) {
    if (const json::object* outputs = object_member(view.artifact(phase), "outputs"))
      add_files(out, *outputs);
    add_files(out, view.evidence(phase));
    add_files(out, view.artifact(phase));
  }
  if (const json::object* metadata = object_member(view.document, "metadata")) add_files(out, *metadata);
  return out;
}

std::vector<std::string> command_lines(const json::object& artifact) {
  std::vector<std::string> out;
  const json::array* commands = array_member(artifact, "commands_executed");
  if (commands == nullptr) return out;
  for (const json::value& command : *commands) {
    const json::object* object = command.if_object();
    if (command.is_string())
      out.push_back(one_line(command.get_string()));
    else if (object != nullptr && !string_or(*object, "command", "").empty())
      out.push_back(one_line(string_or(*object, "command", "")));
    else
      out.push_back(brief(command, 200));
  }
  return out;
}

ContextFacts context(const Document& document, TimePoint now) {
  const View view(document);
  const Metrics numbers = metrics(view, now);
  json::array completed;
  for (const std::int64_t phase : view.completed) completed.push_back(phase_facts(view, phase));
  const std::vector<std::string> files = files_touched(view);
  json::object facts{{"goal", goal_facts(view)},
                     {"status", status(view, numbers)},
                     {"progress", progress_facts(view, numbers)},
                     {"current", current_facts(view, numbers)},
                     {"completed", std::move(completed)},
                     {"next", next_step(view, numbers)},
                     {"paused", paused_facts(view)},
                     {"last_pause", last_of(view, "pauses")},
                     {"last_rollback", last_of(view, "rollbacks")},
                     {"last_error", member_or_null(view.lifecycle(), "last_error")},
                     {"last_error_at", member_or_null(view.lifecycle(), "last_error_at")},
                     {"errors", error_facts(view)},
                     {"problems", problems(view, numbers)},
                     {"timing", timing_facts(view, numbers)},
                     {"resume_count", int_or(view.lifecycle(), "resume_count", 0)},
                     {"resumed_at", member_or_null(view.lifecycle(), "resumed_at")},
                     {"files_touched", json::array(files.begin(), files.end())},
                     {"commands_executed", all_commands(view)},
                     {"outputs", all_outputs(view)},
                     {"metadata", member_or_null(document, "metadata")}};
  return {std::move(facts), display(view, now)};
}

}  // namespace sessiond::workflow
