#include "daemon/kinds/essay_step.h"

#include "common/text.h"

namespace sessiond::essay {
namespace {

const Artifacts& artifacts_of(const Moment& moment) {
  static const Artifacts none;
  return moment.artifacts == nullptr ? none : *moment.artifacts;
}

// Stage 4 begins at the first paragraph of the first section.
void begin_writing(Document& document) {
  json::object& stage = stage_at(document, 4);
  json::array& sections = array_at(stage, "sections");
  for (auto index = static_cast<std::int64_t>(sections.size()) + 1; index <= section_count(document); ++index)
    sections.push_back(blank_writing_section(index));
  if (member(stage, "current_section") == nullptr) stage["current_section"] = 1;
  if (member(stage, "current_paragraph") == nullptr) stage["current_paragraph"] = 1;
}

}  // namespace

Step::Step(const Document& before, const Moment& moment)
    : document(before), now(format_rfc3339(moment.now)), there(artifacts_of(moment)) {}

void Step::write(std::string_view name, std::string bytes) {
  files.push_back({.action = FileOp::Action::write, .name = std::string(name), .bytes = std::move(bytes)});
}

Result<std::string> Step::artifact(std::string_view name, const std::optional<std::string>& text) {
  const std::string file(name);
  if (text) {
    if (there.has(file) && there.text(file) != *text)
      files.push_back({.action = FileOp::Action::archive, .name = file});
    write(name, *text);
  } else if (!there.has(file)) {
    return refused(file + " does not exist", "give its text, or write it into " + there.directory + " first");
  }
  return path_in(document, name);
}

std::string Step::log(std::string_view name, const std::string& entry) {
  std::string content = there.text(std::string(name));
  if (!content.empty()) content += content.ends_with('\n') ? "\n" : "\n\n";
  write(name, content + "## " + now + "\n\n" + entry + "\n");
  return path_in(document, name);
}

void Step::advance() {
  int stage = 1;
  while (stage < 4 && status_of(document, stage) == "completed") ++stage;
  json::object& state = stage_at(document, stage);
  if (status_of(document, stage) == "not_started") state["status"] = "in_progress";
  if (stage == 4) begin_writing(document);
  document["current_stage"] = stage;
  document["current_stage_name"] = stage_names[static_cast<std::size_t>(stage - 1)];
}

Applied<EssayReply> Step::done(std::string message) {
  document["last_activity"] = now;
  EssayReply reply;
  reply.current_stage = int_or(document, "current_stage", 1);
  reply.position = position(document, true);
  reply.next = next_step(document);
  reply.message = std::move(message);
  return {std::move(document), std::move(reply), std::move(files)};
}

Error refused(const std::string& message, std::string_view next) {
  return Error(ErrorCode::refused, message).next(next);
}

Status ensure_working(const Document& document, std::string_view what) {
  const std::string status(string_or(document, "status", "in_progress"));
  if (status == "in_progress") return {};
  const bool can_resume = status != "completed";
  return refused("Cannot " + std::string(what) + ", the session is " + status,
                 can_resume ? "session.resume" : "session.revert brings back an earlier revision");
}

std::string_view status_of(const Document& document, int stage) {
  return string_or(stage_of(document, stage), "status", "not_started");
}

Status ensure_stage(const Document& document, int stage, std::string_view what) {
  SESSIOND_TRY(ensure_working(document, what));
  const std::string status(status_of(document, stage));
  if (status == "in_progress" || status == "needs_review") return {};
  return refused("Cannot " + std::string(what) + ", stage " + std::to_string(stage) + " is " + status,
                 next_step(document));
}

std::int64_t section_count(const Document& document) {
  return int_or(stage_of(document, 3), "total_sections", 0);
}

Result<json::object*> section_at(Document& document, int stage, std::int64_t section) {
  json::array& sections = array_at(stage_at(document, stage), "sections");
  if (section < 1 || std::cmp_greater(section, sections.size()))
    return Error(ErrorCode::invalid_params, "params.section: expected 1 to " +
                                                std::to_string(sections.size()) + ", got " +
                                                std::to_string(section))
        .with("field", "params.section");
  json::value& entry = sections[static_cast<std::size_t>(section - 1)];
  if (!entry.is_object()) entry = json::object();
  return &entry.get_object();
}

}  // namespace sessiond::essay
