// Stages 1 to 3: thesis, outline, arguments.
#include <algorithm>

#include "daemon/kinds/essay_step.h"

namespace sessiond::essay {
namespace {

void complete_stage(Step& step, int stage) {
  stage_at(step.document, stage)["status"] = "completed";
  stage_at(step.document, stage)["completed_at"] = step.now;
}

std::int64_t recorded_deferrals(const Document& document, std::int64_t section) {
  const json::array* all = array_member(document, "deferred_verifications");
  if (all == nullptr) return 0;
  return std::count_if(all->begin(), all->end(), [&](const json::value& item) {
    const json::object* one = item.if_object();
    return one != nullptr && int_or(*one, "section", 0) == section && !bool_or(*one, "resolved", false);
  });
}

// A stage with work left is not completed any more.
void reopen(Document& document, int stage, bool work_left) {
  if (work_left && status_of(document, stage) == "completed")
    stage_at(document, stage)["status"] = "needs_review";
}

// The outline has so many sections now. Arguments of sections that are gone are archived.
void resize(Step& step, std::int64_t total) {
  for (const auto& [name, info] : step.there.files)
    if (const auto section = section_of(name); section && *section > total) step.archive(name);
  json::object& arguments = stage_at(step.document, 3);
  arguments["total_sections"] = total;
  json::array& sections = array_at(arguments, "sections");
  while (std::cmp_greater(sections.size(), total)) sections.pop_back();
  while (std::cmp_less(sections.size(), total))
    sections.push_back(blank_argument_section(static_cast<std::int64_t>(sections.size()) + 1));
  const std::int64_t left = unfinished_arguments(step.document);
  arguments["current_section"] = left == 0 ? total : left;
  reopen(step.document, 3, left != 0);
  json::object& writing = stage_at(step.document, 4);
  json::array& written = array_at(writing, "sections");
  while (std::cmp_greater(written.size(), total)) written.pop_back();
  if (int_or(writing, "current_section", 0) > total) writing["current_section"] = total;
  reopen(step.document, 4, std::cmp_less(written.size(), total));
  settle_writing(step.document);
}

}  // namespace

Change create(const NewEssay& fresh, const EssayCreate::Params& params, const Moment& moment) {
  Step step(blank_document(fresh.pipeline_id, fresh.directory, moment.now), moment);
  if (params.style_profile_path) step.document["style_profile_path"] = *params.style_profile_path;
  if (params.samples_dir_path) step.document["samples_dir_path"] = *params.samples_dir_path;
  if (params.pushback_level) step.document["pushback_level"] = *params.pushback_level;
  step.advance();
  return step.done("Essay started at stage 1, the thesis");
}

Change complete_thesis(const Document& before, const EssayCompleteThesis::Params& params,
                       const Moment& moment) {
  SESSIOND_TRY(ensure_stage(before, 1, "complete the thesis"));
  Step step(before, moment);
  SESSIOND_ASSIGN(std::string path, step.artifact(thesis_name, params.text));
  json::object& stage = stage_at(step.document, 1);
  stage["thesis_file"] = path;
  if (params.log)
    stage["development_log"] = step.log(development_log_name, *params.log);
  else if (step.there.has(std::string(development_log_name)))
    stage["development_log"] = path_in(step.document, development_log_name);
  stage["claim_type"] = params.claim_type;
  complete_stage(step, 1);
  step.advance();
  return step.done("Stage 1 is completed");
}

Change complete_outline(const Document& before, const EssayCompleteOutline::Params& params,
                        const Moment& moment) {
  SESSIOND_TRY(ensure_stage(before, 2, "complete the outline"));
  Step step(before, moment);
  SESSIOND_ASSIGN(std::string path, step.artifact(outline_name, params.text));
  json::object& outline = stage_at(step.document, 2);
  outline["outline_file"] = path;
  outline["total_sections"] = params.total_sections;
  if (params.target_word_count) outline["target_word_count"] = *params.target_word_count;
  if (params.audience) outline["audience"] = *params.audience;
  resize(step, params.total_sections);
  complete_stage(step, 2);
  step.advance();
  return step.done("Stage 2 is completed");
}

Change start_section(const Document& before, const EssayStartSection::Params& params, const Moment& moment) {
  const std::string number = std::to_string(params.section);
  SESSIOND_TRY(ensure_stage(before, 3, "start section " + number));
  Step step(before, moment);
  SESSIOND_ASSIGN(json::object * section, section_at(step.document, 3, params.section));
  if (string_or(*section, "status", "") == "completed" && status_of(before, 3) != "needs_review")
    return refused("Cannot start section " + number + ", it is completed", next_step(before));
  (*section)["status"] = "in_progress";
  (*section)["completed_at"] = nullptr;
  stage_at(step.document, 3)["current_section"] = params.section;
  return step.done("Section " + number + " is in progress");
}

Change complete_section(const Document& before, const EssayCompleteSection::Params& params,
                        const Moment& moment) {
  const std::string number = std::to_string(params.section);
  SESSIOND_TRY(ensure_stage(before, 3, "complete section " + number));
  Step step(before, moment);
  SESSIOND_ASSIGN(json::object * section, section_at(step.document, 3, params.section));
  if (string_or(*section, "status", "") == "completed")
    return refused("Cannot complete section " + number + ", it is completed", next_step(before));
  SESSIOND_ASSIGN(std::string path, step.artifact(arguments_name(params.section), params.text));
  (*section)["status"] = "completed";
  (*section)["argument_map_file"] = path;
  (*section)["verified_claims"] = params.verified_claims.value_or(0);
  (*section)["deferred_claims"] = params.deferred_claims.value_or(recorded_deferrals(before, params.section));
  (*section)["completed_at"] = step.now;
  const std::int64_t next = unfinished_arguments(step.document);
  stage_at(step.document, 3)["current_section"] = next == 0 ? section_count(before) : next;
  return step.done("Section " + number + " is completed");
}

Change approve_birds_eye(const Document& before, const EssayApproveBirdsEye::Params&, const Moment& moment) {
  SESSIOND_TRY(ensure_stage(before, 3, "approve the bird's-eye view"));
  if (const std::int64_t left = unfinished_arguments(before); left != 0)
    return refused(
        "Cannot approve the bird's-eye view, section " + std::to_string(left) + " is not completed",
        next_step(before));
  Step step(before, moment);
  stage_at(step.document, 3)["birds_eye_approved"] = true;
  complete_stage(step, 3);
  step.advance();
  return step.done("Stage 3 is completed");
}

}  // namespace sessiond::essay
