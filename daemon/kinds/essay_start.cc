// Level 3 of recovery: nobody but the writer knows where the essay stands. The files that are there count for
// what they are; the writer says the rest.
#include <algorithm>

#include "common/json.h"
#include "daemon/kinds/essay_step.h"

namespace sessiond::essay {
namespace {

struct Directions {
  int stage = 1;
  std::optional<std::int64_t> section, paragraph, total_sections;
};

Error wrong(std::string_view name, std::string_view message) {
  const std::string path = "params.directions." + std::string(name);
  return Error(ErrorCode::invalid_params, path + ": " + std::string(message)).with("field", path);
}

Result<Directions> read_directions(const json::object& given) {
  Directions out;
  for (const auto& [name, value] : given) {
    const auto number = whole_number(value);
    const std::int64_t high = name == "stage"       ? 4
                              : name == "paragraph" ? essay_paragraphs_max
                                                    : essay_sections_max;
    if (name != "stage" && name != "section" && name != "paragraph" && name != "total_sections")
      return wrong(name, "expected stage, section, paragraph, total_sections, or a whole document");
    if (!number || *number < 1 || *number > high)
      return wrong(name, "expected a whole number from 1 to " + std::to_string(high));
    if (name == "stage") out.stage = static_cast<int>(*number);
    if (name == "section") out.section = number;
    if (name == "paragraph") out.paragraph = number;
    if (name == "total_sections") out.total_sections = number;
  }
  if (!given.contains("stage")) return wrong("stage", "required: where to go on, 1 to 4");
  return out;
}

// The sections of stage 3, as many as anybody knows of.
void set_sections(Document& document, const Directions& directions) {
  json::object& stage = stage_at(document, 3);
  const std::int64_t known = std::max(int_or(stage, "total_sections", 0), directions.section.value_or(1));
  const std::int64_t total = std::max(directions.total_sections.value_or(known), known);
  json::array& sections = array_at(stage, "sections");
  while (std::cmp_less(sections.size(), total))
    sections.push_back(blank_argument_section(static_cast<std::int64_t>(sections.size()) + 1));
  stage["total_sections"] = total;
  if (member(stage, "current_section") == nullptr) stage["current_section"] = 1;
  if (directions.stage == 3 && directions.section) stage["current_section"] = *directions.section;
}

// Stage 4: what stands before the given place is written.
void set_paragraph(Document& document, const Directions& directions) {
  json::object& stage = stage_at(document, 4);
  prepare_writing(document);
  if (!directions.section && !directions.paragraph) return;
  const std::int64_t current = directions.section.value_or(int_or(stage, "current_section", 1));
  std::int64_t number = 0;
  for (json::value& item : array_at(stage, "sections")) {
    json::object& section = item.get_object();
    ++number;
    if (number < current) section["status"] = "completed";
    if (number != current) continue;
    section["completed_paragraphs"] = directions.paragraph.value_or(1) - 1;
    section["status"] = directions.paragraph.value_or(1) > 1 ? "in_progress" : "not_started";
    section["total_paragraphs"] = nullptr;
  }
  stage["current_section"] = current;
  stage["current_paragraph"] = directions.paragraph.value_or(1);
}

void set_stages(Document& document, int current) {
  for (int stage = 1; stage <= 4; ++stage) {
    json::object& state = stage_at(document, stage);
    const std::string status(status_of(document, stage));
    if (stage < current && status != "completed") state["status"] = "needs_review";
    if (stage == current) state["status"] = "in_progress";
    if (stage > current && status != "not_started") state["status"] = "needs_review";
  }
  stage_at(document, current)["completed_at"] = nullptr;
  document["status"] = "in_progress";
  document["current_stage"] = current;
  document["current_stage_name"] = stage_names[static_cast<std::size_t>(current - 1)];
}

}  // namespace

Result<Document> start_from(const json::object& directions, const Artifacts& artifacts,
                            std::string_view session_id, TimePoint now) {
  std::vector<Discrepancy> warnings;
  if (directions.contains("stages")) return import_document(directions, warnings);
  SESSIOND_ASSIGN(const Directions where, read_directions(directions));
  Result<Document> told = reconstruct(artifacts, session_id, now);
  Document document =
      told ? std::move(*told) : blank_document("essay-" + std::string(session_id), artifacts.directory, now);
  if (where.stage >= 3) set_sections(document, where);
  if (where.stage == 4) set_paragraph(document, where);
  set_stages(document, where.stage);
  document["last_activity"] = format_rfc3339(now);
  return document;
}

}  // namespace sessiond::essay
