#include "daemon/kinds/essay_step.h"

#include <algorithm>

#include "common/text.h"

namespace sessiond::essay {
namespace {

const Artifacts& artifacts_of(const Moment& moment) {
  static const Artifacts none;
  return moment.artifacts == nullptr ? none : *moment.artifacts;
}

}  // namespace

Step::Step(const Document& before, const Moment& moment)
    : document(before), now(format_rfc3339(moment.now)), there(artifacts_of(moment)) {
  if (!there.directory.empty()) relocate(document, there.directory);
}

void Step::write(std::string_view name, std::string bytes) {
  files.push_back({.action = FileOp::Action::write, .name = std::string(name), .bytes = std::move(bytes)});
}

std::string Step::archive(const std::string& name) {
  files.push_back({.action = FileOp::Action::archive, .name = name, .to = there.kept_name(name)});
  return files.back().to;
}

Result<std::string> Step::artifact(std::string_view name, const std::optional<std::string>& text) {
  const std::string file(name);
  if (text) {
    if (there.has(file) && there.text(file) != *text) archive(file);
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
  if (stage == 4) prepare_writing(document);
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

void prepare_writing(Document& document) {
  json::object& stage = stage_at(document, 4);
  json::array& sections = array_at(stage, "sections");
  while (std::cmp_less(sections.size(), section_count(document)))
    sections.push_back(blank_writing_section(static_cast<std::int64_t>(sections.size()) + 1));
  if (member(stage, "current_section") == nullptr) stage["current_section"] = 1;
  if (member(stage, "current_paragraph") == nullptr) stage["current_paragraph"] = 1;
}

void settle_writing(Document& document) {
  json::object& stage = stage_at(document, 4);
  if (status_of(document, 4) == "not_started") return;
  prepare_writing(document);
  std::int64_t number = 0;
  for (const json::value& item : array_at(stage, "sections")) {
    ++number;
    const json::object* section = item.if_object();
    if (section == nullptr) continue;
    const std::int64_t done = int_or(*section, "completed_paragraphs", 0);
    const bool written = string_or(*section, "status", "") == "completed";
    stage["current_section"] = number;
    stage["current_paragraph"] = written ? std::max<std::int64_t>(done, 1) : done + 1;
    if (!written) return;
  }
}

std::int64_t unfinished_arguments(const Document& document) {
  const json::array* sections = array_member(stage_of(document, 3), "sections");
  for (std::size_t i = 0; sections != nullptr && i < sections->size(); ++i)
    if (const json::object* section = (*sections)[i].if_object();
        section == nullptr || string_or(*section, "status", "") != "completed")
      return static_cast<std::int64_t>(i) + 1;
  return 0;
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
  if (sections.empty())
    return refused("stage " + std::to_string(stage) + " has no sections yet", next_step(document));
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
