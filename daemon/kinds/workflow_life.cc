// What every session can do, for workflows: pause, resume, complete, abort, update; and the kind's table.
#include <algorithm>

#include "common/relative_time.h"
#include "common/text.h"
#include "common/utf8.h"
#include "daemon/kinds/workflow_parts.h"

namespace sessiond::workflow {
namespace {

Error bad_change(std::string_view pointer, const std::string& what) {
  return Error(ErrorCode::refused, "Cannot change " + std::string(pointer) + ": " + what)
      .with("path", pointer)
      .next("change members below /metadata, or /target_file; the workflow's own methods change the rest");
}

// Only what no rule of the workflow depends on may be written freely.
Status check_change(std::string_view name, const json::value& value) {
  const std::string pointer = pointer_to("", name);
  if (name == "metadata") {
    if (value.is_object()) return {};
    return bad_change(pointer, "expected an object to merge, got " + brief(value));
  }
  if (name != "target_file") return bad_change(pointer, "it is kept by the workflow itself");
  const auto* text = value.if_string();
  if (text != nullptr && !text->empty() && code_points(*text) <= workflow_target_max) return {};
  return bad_change(pointer, "expected a string of 1 to " + std::to_string(workflow_target_max) +
                                 " characters, got " + brief(value));
}

Result<std::string> pause_reason(const SessionPause::Params& params) {
  std::string reason = params.reason.value_or("user_request");
  if (std::find(paused_reasons.begin(), paused_reasons.end(), reason) != paused_reasons.end()) return reason;
  return Error(ErrorCode::invalid_params, "params.reason: expected one of " + join(paused_reasons, ", ") +
                                              ", got " + quoted(reason) +
                                              did_you_mean(reason, paused_reasons))
      .with("field", "params.reason")
      .next("say in `context` what was being worked on");
}

template <class Reply>
Applied<Reply> changed(Document document, TimePoint now, Reply reply) {
  document["updated_at"] = format_rfc3339(now);
  return {std::move(document), std::move(reply), {}};
}

}  // namespace

bool ended(const Document& document) { return View(document).ended(); }

Summary summary(const Document& document, TimePoint now) {
  const View view(document);
  const Metrics numbers = metrics(view, now);
  Summary out;
  out.status = status(view, numbers);
  const std::string_view target = string_or(document, "target_file", "");
  out.title = one_line(string_or(document, "workflow_type", "workflow")) +
              (target.empty() ? "" : ": " + one_line(target));
  out.position = view.position();
  if (numbers.percent_complete) out.progress = *numbers.percent_complete / 100;
  if (!target.empty()) out.project = target;
  out.created_at = string_or(document, "created_at", "");
  out.updated_at = string_or(document, "updated_at", "");
  return out;
}

Result<Applied<SessionPause::Reply>> pause(const Document& before, const SessionPause::Params& params,
                                           const Moment& moment) {
  const View view(before);
  SESSIOND_TRY(ensure_working(view, "pause"));
  SESSIOND_ASSIGN(const std::string reason, pause_reason(params));
  const TimePoint now = stamp(view, moment);
  Document document = before;
  json::object& lifecycle = lifecycle_of(document);
  lifecycle["paused"] = true;
  lifecycle["paused_at"] = format_rfc3339(now);
  lifecycle["paused_reason"] = reason;
  // Whoever comes back needs to know where work stood, also when a timer paused it.
  lifecycle["paused_context"] = params.context.value_or("Working on " + view.label(view.current));
  return changed(std::move(document), now,
                 MessageReply{.message = "Paused at " + view.label(view.current) + " (" + reason + ")"});
}

Result<Applied<SessionResume::Reply>> resume(const Document& before, const SessionResume::Params&,
                                             const Moment& moment) {
  const View view(before);
  SESSIOND_TRY(ensure_open(view, "resume"));
  const TimePoint now = stamp(view, moment);
  Document document = before;
  std::string message = "Picked up at " + view.label(view.current) + "; it was not paused";
  if (view.paused()) {
    const auto paused_at = time_member(view.lifecycle(), "paused_at");
    message = "Resumed at " + view.label(view.current) +
              (paused_at ? " after " + long_duration(now - *paused_at) : "") + " (" +
              std::string(string_or(view.lifecycle(), "paused_reason", "no reason given")) + ")";
    end_pause(document, view, now);
  }
  json::object& lifecycle = lifecycle_of(document);
  lifecycle["resumed_at"] = format_rfc3339(now);
  lifecycle["resume_count"] =
      std::clamp<std::int64_t>(int_or(lifecycle, "resume_count", 0), 0, count_max) + 1;
  return changed(std::move(document), now, SessionResume::Reply{.message = std::move(message)});
}

Result<Applied<SessionComplete::Reply>> complete(const Document& before,
                                                 const SessionComplete::Params& params,
                                                 const Moment& moment) {
  const View view(before);
  // A workflow whose phases are all done but whose flag was never set (a legacy file) may still be completed.
  const bool flagged = bool_or(view.lifecycle(), "completed", false);
  if (flagged || view.aborted() || !view.all_completed())
    SESSIOND_TRY(ensure_working(view, "complete the session"));
  if (!view.all_completed()) {
    const std::string left = view.total ? "phases not completed: " + view.remaining()
                                        : "it is not known how many phases there are";
    return Error(ErrorCode::refused, "Cannot complete the session, " + left)
        .with("current_phase", view.current)
        .next("complete each phase with workflow.complete_phase, or end the session with session.abort");
  }
  const TimePoint now = stamp(view, moment);
  Document document = before;
  document["current_phase"] = view.current;
  set_completed(document, now);
  if (params.reason) lifecycle_of(document)["completed_reason"] = *params.reason;
  return changed(std::move(document), now, MessageReply{.message = "The workflow is complete"});
}

Result<Applied<SessionAbort::Reply>> abort(const Document& before, const SessionAbort::Params& params,
                                           const Moment& moment) {
  const View view(before);
  SESSIOND_TRY(ensure_open(view, "abort"));
  const TimePoint now = stamp(view, moment);
  Document document = before;
  if (view.paused()) end_pause(document, view, now);
  json::object& lifecycle = lifecycle_of(document);
  lifecycle["aborted"] = true;
  lifecycle["aborted_at"] = format_rfc3339(now);
  lifecycle["aborted_reason"] = nullptr;
  if (params.reason) lifecycle["aborted_reason"] = *params.reason;
  return changed(std::move(document), now, MessageReply{.message = "Aborted at " + view.label(view.current)});
}

Result<Applied<SessionUpdate::Reply>> update(const Document& before, const SessionUpdate::Params& params,
                                             const Moment& moment) {
  const View view(before);
  SESSIOND_TRY(ensure_open(view, "update"));
  if (params.changes.empty())
    return Error(ErrorCode::invalid_params, "params.changes: names nothing to change")
        .with("field", "params.changes");
  std::vector<std::string> names;
  for (const auto& [name, value] : params.changes) {
    SESSIOND_TRY(check_change(name, value));
    names.push_back(std::string(name));
  }
  json::value merged = before;
  merge_patch(merged, params.changes);
  Document document = std::move(merged.get_object());
  if (const json::object* metadata = object_member(document, "metadata"))
    SESSIOND_TRY(check_part_size("changes.metadata", *metadata));
  return changed(std::move(document), stamp(view, moment),
                 MessageReply{.message = "Updated " + join(names, ", ")});
}

}  // namespace sessiond::workflow

namespace sessiond {

namespace {

Result<Document> import_files(const std::map<std::string, json::value>& files,
                              std::vector<Discrepancy>& warnings) {
  const auto state = files.find("session.json");
  if (state == files.end()) return Error(ErrorCode::damaged, "session.json is missing");
  return workflow_import(state->second, warnings);
}

std::optional<std::string> own_id(const Document& document) {
  const std::string_view id = string_or(document, "session_id", "");
  return id.empty() ? std::nullopt : std::optional<std::string>(id);
}

void rename(Document& document, std::string_view session_id) { document["session_id"] = session_id; }

}  // namespace

const Kind& workflow_kind() {
  static constexpr std::array<StateFile, 1> files{StateFile{"session.json", FileFormat::json, ""}};
  static constexpr Kind kind{.name = "workflow",
                             .files = files,
                             .import = import_files,
                             .own_id = own_id,
                             .rename = rename,
                             .ended = workflow::ended,
                             .summary = workflow::summary,
                             .check = workflow::check,
                             .context = workflow::context,
                             .pause = workflow::pause,
                             .resume = workflow::resume,
                             .complete = workflow::complete,
                             .abort = workflow::abort,
                             .update = workflow::update,
                             .migrate = workflow::migrate};
  return kind;
}

}  // namespace sessiond
