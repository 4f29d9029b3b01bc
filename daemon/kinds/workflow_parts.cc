#include "daemon/kinds/workflow_parts.h"

#include <algorithm>

namespace sessiond::workflow {

Status ensure_open(const View& view, std::string_view what) {
  if (!view.ended()) return {};
  const std::string state = view.complete() ? "completed" : "aborted";
  constexpr std::string_view possible = "it can be read, reverted to an earlier revision, forked or archived";
  return Error(ErrorCode::refused,
               "Cannot " + std::string(what) + ", the session is " + state + "; " + std::string(possible))
      .with("status", state)
      .next(possible);
}

Status ensure_working(const View& view, std::string_view what) {
  SESSIOND_TRY(ensure_open(view, what));
  if (!view.paused()) return {};
  const std::string reason(string_or(view.lifecycle(), "paused_reason", "no reason given"));
  return Error(ErrorCode::refused, "Cannot " + std::string(what) + ", the session is paused (" + reason +
                                       "); resume it first with session.resume")
      .with("status", "paused")
      .next("session.resume");
}

TimePoint stamp(const View& view, const Moment& moment) {
  TimePoint latest = moment.now;
  const auto consider = [&](const json::object& object, std::string_view name) {
    if (const auto time = time_member(object, name)) latest = std::max(latest, *time);
  };
  consider(view.document, "created_at");
  consider(view.document, "updated_at");
  consider(view.lifecycle(), "paused_at");
  consider(view.timing(view.current), "started_at");
  consider(view.timing(view.current), "completed_at");
  return latest;
}

void push_bounded(json::array& list, json::value item, std::size_t kept) {
  list.push_back(std::move(item));
  if (list.size() > kept)
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() - kept));
}

json::object new_lifecycle() {
  return {{"completed", false},      {"completed_at", nullptr},  {"paused", false},
          {"paused_at", nullptr},    {"paused_reason", nullptr}, {"paused_context", nullptr},
          {"resumed_at", nullptr},   {"resume_count", 0},        {"last_error", nullptr},
          {"last_error_at", nullptr}};
}

json::object& lifecycle_of(Document& document) {
  if (object_member(document, "lifecycle") == nullptr) document["lifecycle"] = new_lifecycle();
  return object_at(document, "lifecycle");
}

json::object new_timing(const View& view, std::int64_t phase, TimePoint started) {
  json::object out;
  // The later upstream form repeats the phase's number in each entry.
  if (timing_member(view.document) == "phase_timings") out["phase"] = phase;
  out["started_at"] = format_rfc3339(started);
  return out;
}

namespace {

Status check_bytes(std::string_view name, std::size_t bytes) {
  if (bytes <= workflow_part_bytes) return {};
  return Error(ErrorCode::invalid_params, "params." + std::string(name) + ": " + std::to_string(bytes) +
                                              " bytes as JSON, at most " +
                                              std::to_string(workflow_part_bytes) + " are kept here")
      .with("field", "params." + std::string(name))
      .next("put large results into an artifact (artifact.put) and name it here");
}

}  // namespace

Status check_part_size(std::string_view name, const json::value& part) {
  return check_bytes(name, to_json_text(part).size());
}

Status check_part_size(std::string_view name, const json::object& part) {
  std::string text;
  print_json(text, part);
  return check_bytes(name, text.size());
}

void end_pause(Document& document, const View& before, TimePoint now) {
  json::object& lifecycle = lifecycle_of(document);
  const auto paused_at = time_member(before.lifecycle(), "paused_at");
  const double paused = paused_at ? std::max(0.0, seconds(now - *paused_at)) : 0;
  push_bounded(array_at(lifecycle, "pauses"),
               json::object{{"phase", before.current},
                            {"paused_at", lifecycle["paused_at"]},
                            {"paused_reason", lifecycle["paused_reason"]},
                            {"paused_context", lifecycle["paused_context"]},
                            {"resumed_at", format_rfc3339(now)},
                            {"duration_seconds", paused}},
               interruptions_kept);
  lifecycle["paused"] = false;
  for (const std::string_view name : {"paused_at", "paused_reason", "paused_context"})
    lifecycle[name] = nullptr;
  // Only an attempt under way can be paused: after a failed checkpoint its times are settled.
  const json::object& timing = before.timing(before.current);
  if (member(timing, "started_at") == nullptr || member(timing, "completed_at") != nullptr) return;
  json::object& phases = object_at(document, timing_member(document));
  object_at(phases, std::to_string(before.current))["paused_duration_seconds"] =
      paused_seconds(timing) + paused;
}

void set_completed(Document& document, TimePoint now) {
  const auto created = time_member(document, "created_at");
  json::object& lifecycle = lifecycle_of(document);
  lifecycle["completed"] = true;
  lifecycle["completed_at"] = format_rfc3339(now);
  if (created) lifecycle["total_duration_seconds"] = std::max(0.0, seconds(now - *created));
}

std::int64_t next_attempt(const json::object& timing) {
  const json::array* attempts = array_member(timing, "attempts");
  if (attempts == nullptr || attempts->empty() || !attempts->back().is_object()) return 1;
  const auto last = int_member(attempts->back().get_object(), "attempt");
  return std::min(last.value_or(static_cast<std::int64_t>(attempts->size())), count_max) + 1;
}

void keep_attempt(Document& document, std::int64_t phase, std::string_view checkpoint) {
  const std::string key = std::to_string(phase);
  json::object& timing = object_at(object_at(document, timing_member(document)), key);
  json::object attempt{{"attempt", next_attempt(timing)}};
  for (const std::string_view name :
       {"started_at", "completed_at", "duration_seconds", "paused_duration_seconds"})
    if (const json::value* value = member(timing, name)) attempt[name] = *value;
  attempt["checkpoint"] = checkpoint;
  const View view(document);
  for (const std::string_view name : {"evidence", "outputs", "commands_executed", "issue", "next_step"})
    if (const json::value* value = member(view.artifact(phase), name)) attempt[name] = *value;
  push_bounded(array_at(timing, "attempts"), std::move(attempt), attempts_kept);
}

void start_attempt(json::object& timing, TimePoint started) {
  timing["started_at"] = format_rfc3339(started);
  for (const std::string_view name : {"completed_at", "duration_seconds", "paused_duration_seconds"})
    timing.stable_erase(name);
}

void end_attempt(json::object& timing, TimePoint now) {
  const auto started = time_member(timing, "started_at");
  timing["completed_at"] = format_rfc3339(now);
  if (started) timing["duration_seconds"] = std::max(0.0, seconds(now - *started));
}

void add_error(Document& document, WorkflowError error, const std::string& agent) {
  json::object entry{
      {"phase", error.phase}, {"message", error.message}, {"at", error.at}, {"source", error.source}};
  if (!agent.empty()) entry["agent"] = agent;
  push_bounded(array_at(lifecycle_of(document), "errors"), std::move(entry), errors_kept);
}

std::vector<WorkflowError> errors_of(const View& view, std::optional<std::int64_t> phase) {
  std::vector<WorkflowError> out;
  const json::array* list = array_member(view.lifecycle(), "errors");
  if (list == nullptr) return out;
  for (const json::value& item : *list) {
    const json::object* error = item.if_object();
    if (error == nullptr) continue;
    const std::int64_t at_phase = int_or(*error, "phase", view.current);
    if (phase && *phase != at_phase) continue;
    out.push_back({at_phase, std::string(string_or(*error, "message", "")),
                   std::string(string_or(*error, "at", "")),
                   std::string(string_or(*error, "source", "recorded"))});
  }
  return out;
}

}  // namespace sessiond::workflow
