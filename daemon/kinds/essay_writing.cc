// Stage 4 and the end: paragraphs, the draft, the final essay.
#include "common/text.h"
#include "daemon/kinds/essay_step.h"
#include "daemon/kinds/essay_text.h"

namespace sessiond::essay {
namespace {

// Writing may begin with the sections whose arguments are done, while stage 3 goes on.
Status ensure_writable(const Document& document, std::int64_t section, std::string_view what) {
  SESSIOND_TRY(ensure_working(document, what));
  Document copy = document;
  SESSIOND_ASSIGN(const json::object* arguments, section_at(copy, 3, section));
  if (string_or(*arguments, "status", "") != "completed")
    return refused("Cannot " + std::string(what) + ", the arguments of section " + std::to_string(section) +
                       " are not completed",
                   next_step(document));
  if (status_of(document, 4) == "completed")
    return refused("Cannot " + std::string(what) + ", stage 4 is completed", next_step(document));
  return {};
}

void begin(Step& step) {
  json::object& stage = stage_at(step.document, 4);
  json::array& sections = array_at(stage, "sections");
  const std::int64_t total = section_count(step.document);
  while (std::cmp_less(sections.size(), total))
    sections.push_back(blank_writing_section(static_cast<std::int64_t>(sections.size()) + 1));
  if (status_of(step.document, 4) == "not_started") stage["status"] = "in_progress";
  if (member(stage, "current_section") == nullptr) stage["current_section"] = 1;
  if (member(stage, "current_paragraph") == nullptr) stage["current_paragraph"] = 1;
}

// After a paragraph or a plan: where the next paragraph goes. True when the section is finished with it.
bool settle(Step& step, std::int64_t number, json::object& section) {
  json::object& stage = stage_at(step.document, 4);
  const std::int64_t done = int_or(section, "completed_paragraphs", 0);
  const auto total = int_member(section, "total_paragraphs");
  section["status"] = total && done >= *total ? "completed" : done > 0 ? "in_progress" : "not_started";
  if (!total || done < *total) {
    if (int_or(stage, "current_section", 1) == number) stage["current_paragraph"] = done + 1;
    return false;
  }
  const bool last = number == section_count(step.document);
  stage["current_section"] = last ? number : number + 1;
  stage["current_paragraph"] = last ? *total : 1;
  return true;
}

std::string heading(const Step& step, std::int64_t number) {
  const auto outline = outline_sections(step.there.text(std::string(outline_name)));
  const bool known = std::cmp_less_equal(number, outline.size());
  return "## " +
         (known ? outline[static_cast<std::size_t>(number - 1)].title : "Section " + std::to_string(number));
}

json::value mean_score(const Document& document) {
  double sum = 0;
  int count = 0;
  if (const json::array* sections = array_member(stage_of(document, 4), "sections"))
    for (const json::value& item : *sections)
      if (const json::object* section = item.if_object())
        if (const auto score = number_member(*section, "voice_check_score")) sum += *score, ++count;
  return count == 0 ? json::value() : json::value(sum / count);
}

std::int64_t verified_claims(const Document& document) {
  std::int64_t sum = 0;
  if (const json::array* sections = array_member(stage_of(document, 3), "sections"))
    for (const json::value& item : *sections)
      if (const json::object* section = item.if_object()) sum += int_or(*section, "verified_claims", 0);
  return sum;
}

// Every deferred verification must be resolved or waived; names those that are not.
Status waive(Step& step, const std::vector<std::int64_t>& waived) {
  json::array& all = array_at(step.document, "deferred_verifications");
  for (const std::int64_t index : waived) {
    if (index < 0 || std::cmp_greater_equal(index, all.size()))
      return Error(ErrorCode::not_found, "there is no deferred verification " + std::to_string(index))
          .with("field", "params.waive");
    json::object& entry = all[static_cast<std::size_t>(index)].as_object();
    entry["waived"] = true;
    entry["waived_at"] = step.now;
  }
  std::vector<std::string> open;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const json::object* entry = all[i].if_object();
        entry != nullptr && !bool_or(*entry, "resolved", false) && !bool_or(*entry, "waived", false))
      open.push_back(std::to_string(i) + " (" + one_line(string_or(*entry, "claim_text", ""), 80) + ")");
  if (open.empty()) return {};
  return refused("Cannot finish, deferred verifications are open: " + join(open, ", "),
                 "essay.resolve_verification, or name their indexes in `waive`");
}

}  // namespace

Change plan_section(const Document& before, const EssayPlanSection::Params& params, const Moment& moment) {
  SESSIOND_TRY(ensure_writable(before, params.section, "plan section " + std::to_string(params.section)));
  Step step(before, moment);
  begin(step);
  SESSIOND_ASSIGN(json::object * section, section_at(step.document, 4, params.section));
  const std::int64_t done = int_or(*section, "completed_paragraphs", 0);
  if (params.total_paragraphs <= done)
    return refused("Cannot plan " + std::to_string(params.total_paragraphs) + " paragraphs, " +
                       std::to_string(done) + " are written",
                   "plan more than those");
  (*section)["total_paragraphs"] = params.total_paragraphs;
  settle(step, params.section, *section);
  return step.done("Section " + std::to_string(params.section) + " will have " +
                   std::to_string(params.total_paragraphs) + " paragraphs");
}

Change complete_paragraph(const Document& before, const EssayCompleteParagraph::Params& params,
                          const Moment& moment) {
  std::string place = "section ";
  place += std::to_string(params.section);
  place += ", paragraph ";
  place += std::to_string(params.paragraph);
  SESSIOND_TRY(ensure_writable(before, params.section, "complete " + place));
  Step step(before, moment);
  begin(step);
  SESSIOND_ASSIGN(json::object * section, section_at(step.document, 4, params.section));
  json::object& stage = stage_at(step.document, 4);
  if (params.section != int_or(stage, "current_section", 1) ||
      params.paragraph != int_or(*section, "completed_paragraphs", 0) + 1 ||
      params.paragraph > int_or(*section, "total_paragraphs", essay_paragraphs_max))
    return refused("Cannot complete " + place + ", " + position(step.document, true) + " is next",
                   next_step(before));
  (*section)["completed_paragraphs"] = params.paragraph;
  if (params.voice_check_score) (*section)["voice_check_score"] = *params.voice_check_score;
  const bool finished = settle(step, params.section, *section);
  if (!params.text && !step.there.has(std::string(draft_name)))
    return refused("stage-4-draft.md does not exist", "give the paragraph's text");
  if (params.text) {
    std::string draft = step.there.text(std::string(draft_name));
    if (!draft.empty()) draft += draft.ends_with('\n') ? "\n" : "\n\n";
    if (params.paragraph == 1) draft += heading(step, params.section) + "\n\n";
    draft += std::string(trim(*params.text)) + "\n" + (finished ? "\n---\n" : "");
    step.write(draft_name, std::move(draft));
  }
  stage["draft_file"] = path_in(step.document, draft_name);
  stage["paragraph_log"] =
      step.log(paragraph_log_name, "Completed " + place + (params.log ? ": " + *params.log : ""));
  if (params.voice_check_score)
    step.log("voice-check-log.md", "Checked " + place + ": " + to_json_text(*params.voice_check_score));
  return step.done("Completed " + place);
}

Change complete_draft(const Document& before, const EssayCompleteDraft::Params& params,
                      const Moment& moment) {
  SESSIOND_TRY(ensure_stage(before, 4, "complete the draft"));
  if (status_of(before, 3) != "completed")
    return refused("Cannot complete the draft, stage 3 is " + std::string(status_of(before, 3)),
                   next_step(before));
  Step step(before, moment);
  for (std::int64_t number = 1; number <= section_count(before); ++number) {
    SESSIOND_ASSIGN(const json::object* section, section_at(step.document, 4, number));
    if (string_or(*section, "status", "") != "completed")
      return refused("Cannot complete the draft, section " + std::to_string(number) + " is not completed",
                     next_step(before));
  }
  SESSIOND_ASSIGN(std::string path, step.artifact(draft_name, params.text));
  json::object& stage = stage_at(step.document, 4);
  stage["draft_file"] = path;
  stage["status"] = "completed";
  stage["completed_at"] = step.now;
  return step.done("Stage 4 is completed");
}

Change finish(const Document& before, const EssayFinish::Params& params, const Moment& moment) {
  SESSIOND_TRY(ensure_working(before, "finish"));
  for (int stage = 1; stage <= 4; ++stage)
    if (status_of(before, stage) != "completed")
      return refused(
          "Cannot finish, stage " + std::to_string(stage) + " is " + std::string(status_of(before, stage)),
          next_step(before));
  Step step(before, moment);
  SESSIOND_TRY(waive(step, params.waive.value_or(std::vector<std::int64_t>())));
  const std::string draft = step.there.text(std::string(draft_name));
  if (!params.text && draft.empty())
    return refused("Cannot assemble the essay, " + std::string(draft_name) + " is not there",
                   "give its text");
  const std::string text = params.text.value_or(assembled(draft));
  SESSIOND_ASSIGN(std::string path, step.artifact(final_name, text));
  json::object& output = object_at(step.document, "output");
  output["final_essay_file"] = path;
  output["sources_verified"] = params.sources_verified.value_or(verified_claims(before));
  output["voice_consistency_score"] =
      params.voice_consistency_score ? json::value(*params.voice_consistency_score) : mean_score(before);
  output["total_word_count"] = count_words(text);
  output["completed_at"] = step.now;
  step.document["status"] = "completed";
  return step.done("The essay is finished: " + std::to_string(count_words(text)) + " words");
}

}  // namespace sessiond::essay
