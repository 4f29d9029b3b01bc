// What every session can do, for essays; where work stands; and the kind's table.
#include "common/json.h"
#include "common/text.h"
#include "daemon/kinds/essay_step.h"

namespace sessiond::essay {
namespace {

std::string number_of(const json::object& object, std::string_view name) {
  return std::to_string(int_or(object, name, 1));
}

bool ended(const Document& document) {
  const std::string_view status = string_or(document, "status", "");
  return status == "completed" || status == "abandoned";
}

double progress(const Document& document) {
  double done = 0;
  for (int stage = 1; stage <= 4; ++stage) done += status_of(document, stage) == "completed" ? 0.25 : 0;
  return done;
}

Summary summary(const Document& document, TimePoint) {
  Summary out;
  out.status = string_or(document, "status", "in_progress");
  const std::string_view type = string_or(stage_of(document, 1), "claim_type", "");
  out.title = type.empty() ? "Essay" : "Essay: " + std::string(type);
  out.position = position(document, false);
  out.progress = progress(document);
  out.created_at = string_or(document, "started_at", "");
  out.updated_at = string_or(document, "last_activity", "");
  return out;
}

ContextFacts context(const Document& document, TimePoint) {
  json::object facts{{"status", string_or(document, "status", "in_progress")},
                     {"position", position(document, true)},
                     {"next", next_step(document)}};
  for (const std::string_view name :
       {"current_stage", "current_stage_name", "stages", "voice_calibration", "deferred_verifications",
        "user_overrides", "revision_history", "output", "paused", "pushback_level", "session_dir"})
    if (const json::value* value = member(document, name)) facts[name] = *value;
  std::string text = position(document, true) + " (" + std::string(string_or(document, "status", "")) + ")\n";
  for (int stage = 1; stage <= 4; ++stage)
    text += "Stage " + std::to_string(stage) + ", " +
            std::string(stage_names[static_cast<std::size_t>(stage - 1)]) + ": " +
            std::string(status_of(document, stage)) + "\n";
  if (const json::object* paused = object_member(document, "paused"))
    text += "Paused: " + one_line(string_or(*paused, "reason", "no reason given")) + ". " +
            one_line(string_or(*paused, "context", "")) + "\n";
  text += "Next: " + next_step(document) + "\n";
  return {std::move(facts), std::move(text)};
}

Applied<MessageReply> changed(Document document, const Moment& moment, std::string message) {
  document["last_activity"] = format_rfc3339(moment.now);
  return {std::move(document), MessageReply{.session = {}, .message = std::move(message)}, {}};
}

Result<Applied<SessionPause::Reply>> pause(const Document& before, const SessionPause::Params& params,
                                           const Moment& moment) {
  SESSIOND_TRY(ensure_working(before, "pause"));
  Document document = before;
  document["status"] = "paused";
  document["paused"] =
      json::object{{"at", format_rfc3339(moment.now)},
                   {"reason", params.reason.value_or("user_request")},
                   {"context", params.context.value_or("Working at " + position(before, true))}};
  return changed(std::move(document), moment,
                 "Session paused at [" + position(before, true) +
                     "]. To resume, invoke essay-pipeline and select this session.");
}

Result<Applied<SessionResume::Reply>> resume(const Document& before, const SessionResume::Params&,
                                             const Moment& moment) {
  if (string_or(before, "status", "") == "completed") SESSIOND_TRY(ensure_working(before, "resume"));
  const json::object* paused = object_member(before, "paused");
  std::string context(paused == nullptr ? "" : one_line(string_or(*paused, "context", "")));
  if (context.empty()) context = position(before, true);
  if (context.ends_with('.')) context.pop_back();
  Document document = before;
  document["status"] = "in_progress";
  document.stable_erase("paused");
  document["last_activity"] = format_rfc3339(moment.now);
  SessionResume::Reply reply;
  reply.message = "Resuming at [Stage " + number_of(before, "current_stage") +
                  "]. Here's where you left off: " + context + ". Next: " + next_step(document);
  return Applied<SessionResume::Reply>{std::move(document), std::move(reply), {}};
}

Result<Applied<SessionComplete::Reply>> complete(const Document& before, const SessionComplete::Params&,
                                                 const Moment&) {
  SESSIOND_TRY(ensure_working(before, "complete the session"));
  return refused("An essay is completed with its final text", "essay.finish");
}

Result<Applied<SessionAbort::Reply>> abort(const Document& before, const SessionAbort::Params&,
                                           const Moment& moment) {
  Document document = before;
  document["status"] = "abandoned";
  return changed(std::move(document), moment, "Abandoned at " + position(before, true));
}

Result<Applied<SessionUpdate::Reply>> update(const Document& before, const SessionUpdate::Params& params,
                                             const Moment& moment) {
  Document document = before;
  for (const auto& [name, value] : params.changes) {
    if (name != "style_profile_path" && name != "samples_dir_path")
      return refused("Cannot change /" + std::string(name) + ": it is kept by the essay itself",
                     "change style_profile_path or samples_dir_path; the essay's methods change the rest");
    document[name] = value;
  }
  return changed(std::move(document), moment, "Updated");
}

Result<Applied<MessageReply>> migrate(const Document&, const Moment&) {
  return Error(ErrorCode::refused, "Nothing to migrate: the session already has the current form");
}

Result<Document> import(const std::map<std::string, json::value>& files, std::vector<Discrepancy>& warnings) {
  const auto state = files.find("session-state.yaml");
  if (state == files.end()) return Error(ErrorCode::damaged, "session-state.yaml is missing");
  return import_document(state->second, warnings);
}

// A session is called as its directory.
std::optional<std::string> own_id(const Document& document) {
  const std::string_view directory = string_or(document, "session_dir", "");
  const std::string_view name = directory.substr(directory.find_last_of('/') + 1);
  return name.empty() ? std::nullopt : std::optional<std::string>(name);
}

// The new directory stands beside the old one.
void rename(Document& document, std::string_view session_id) {
  const std::string from(string_or(document, "session_dir", ""));
  relocate(document, from.substr(0, from.rfind('/') + 1) + std::string(session_id));
  document["pipeline_id"] = "essay-" + std::string(session_id);
}

}  // namespace

std::string position(const Document& document, bool with_paragraph) {
  const std::int64_t stage = int_or(document, "current_stage", 1);
  const json::object& state = stage_of(document, static_cast<int>(stage));
  std::string out = "Stage " + std::to_string(stage);
  if (stage >= 3 && int_member(state, "current_section"))
    out += ", Section " + number_of(state, "current_section");
  if (with_paragraph && stage == 4 && int_member(state, "current_paragraph"))
    out += ", Paragraph " + number_of(state, "current_paragraph");
  return out;
}

std::string next_step(const Document& document) {
  const std::string_view status = string_or(document, "status", "");
  if (status == "completed") return "nothing, the essay is finished";
  if (status != "in_progress") return "session.resume";
  const int stage = static_cast<int>(int_or(document, "current_stage", 1));
  if (stage == 1) return "write the thesis, then essay.complete_thesis";
  if (stage == 2) return "write the outline, then essay.complete_outline";
  if (stage == 3)
    return "work out the arguments of section " + number_of(stage_of(document, 3), "current_section") +
           ", then essay.complete_section; when all are done, essay.approve_birds_eye";
  if (status_of(document, 4) == "completed") return "essay.finish";
  return "write " + position(document, true) +
         ", then essay.complete_paragraph; when all are done, essay.complete_draft";
}

}  // namespace sessiond::essay

namespace sessiond {

const Kind& essay_kind() {
  static constexpr std::array<StateFile, 1> files{StateFile{"session-state.yaml", FileFormat::yaml, ""}};
  static constexpr Kind kind{.name = "essay",
                             .files = files,
                             .import = essay::import,
                             .own_id = essay::own_id,
                             .rename = essay::rename,
                             .ended = essay::ended,
                             .summary = essay::summary,
                             .check = essay::check,
                             .context = essay::context,
                             .pause = essay::pause,
                             .resume = essay::resume,
                             .complete = essay::complete,
                             .abort = essay::abort,
                             .update = essay::update,
                             .migrate = essay::migrate,
                             .check_files = essay::check_files,
                             .reconstruct = essay::reconstruct,
                             .start_from = essay::start_from,
                             .directory_prefix = "essay-pipeline-",
                             .logs = essay::log_names};
  return kind;
}

}  // namespace sessiond
