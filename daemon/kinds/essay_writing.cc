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

// Stage 4 may begin while stage 3 goes on.
void begin(Step& step) {
  prepare_writing(step.document);
  if (status_of(step.document, 4) == "not_started") stage_at(step.document, 4)["status"] = "in_progress";
}

// After a paragraph or a plan: how far the section is, and where the next paragraph goes. True when the
// section is finished with it.
bool settle(Step& step, json::object& section) {
  const std::int64_t done = int_or(section, "completed_paragraphs", 0);
  const auto total = int_member(section, "total_paragraphs");
  const bool finished = total && done >= *total;
  section["status"] = finished ? "completed" : done > 0 ? "in_progress" : "not_started";
  settle_writing(step.document);
  return finished;
}

std::string heading(const Step& step, std::int64_t number) {
  const auto outline = outline_sections(step.there.text(std::string(outline_name)));
  const bool known = std::cmp_less_equal(number, outline.size());
  return "## " +
         (known ? outline[static_cast<std::size_t>(number - 1)].title : "Section " + std::to_string(number));
}

// "Section 2, Paragraph 3".
std::string position_of_writing(const Document& document) {
  const json::object& stage = stage_of(document, 4);
  return "Section " + std::to_string(int_or(stage, "current_section", 1)) + ", Paragraph " +
         std::to_string(int_or(stage, "current_paragraph", 1));
}

// A paragraph that was given goes behind the draft; one that was not must be in it already.
Status add_to_draft(Step& step, const EssayCompleteParagraph::Params& params, bool finished) {
  const std::string name(draft_name);
  if (!params.text && !step.there.has(name))
    return refused(name + " does not exist", "give the paragraph's text");
  stage_at(step.document, 4)["draft_file"] = path_in(step.document, draft_name);
  if (!params.text) return {};
  std::string draft = step.there.text(name);
  if (!draft.empty()) draft += draft.ends_with('\n') ? "\n" : "\n\n";
  if (params.paragraph == 1) draft += heading(step, params.section) + "\n\n";
  draft += std::string(trim(*params.text)) + "\n" + (finished ? "\n---\n" : "");
  step.write(draft_name, std::move(draft));
  return {};
}

// The last section of the draft turned out to be finished.
void close_section(Step& step) {
  std::string draft = step.there.text(std::string(draft_name));
  if (draft.empty()) return;
  draft += draft.ends_with('\n') ? "\n---\n" : "\n\n---\n";
  step.write(draft_name, std::move(draft));
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

// Deferred verifications that the user does without.
Status waive(Step& step, const std::vector<std::int64_t>& waived) {
  json::array& all = array_at(step.document, "deferred_verifications");
  std::string entries;
  for (const std::int64_t index : waived) {
    if (index < 0 || std::cmp_greater_equal(index, all.size()) ||
        !all[static_cast<std::size_t>(index)].is_object())
      return Error(ErrorCode::not_found, "there is no deferred verification " + std::to_string(index))
          .with("field", "params.waive");
    json::object& entry = all[static_cast<std::size_t>(index)].get_object();
    entry["waived"] = true;
    entry["waived_at"] = step.now;
    entries += "\n\nWaived: " + one_line(string_or(entry, "claim_text", ""), 2'000);
  }
  if (!entries.empty()) step.log(fact_log_name, "The essay is finished without these." + entries);
  return {};
}

// Every deferred verification must be resolved or waived; names those that are not.
Status ensure_verified(const Document& document) {
  const json::array* all = array_member(document, "deferred_verifications");
  std::vector<std::string> open;
  for (std::size_t i = 0; all != nullptr && i < all->size(); ++i)
    if (const json::object* entry = (*all)[i].if_object();
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
  if (string_or(*section, "status", "") == "completed")
    return refused("Cannot plan section " + std::to_string(params.section) + ", it is written",
                   "essay.revise goes back to stage 4");
  if (params.total_paragraphs < done)
    return refused("Cannot plan " + std::to_string(params.total_paragraphs) + " paragraphs, " +
                       std::to_string(done) + " are written",
                   "plan at least those");
  (*section)["total_paragraphs"] = params.total_paragraphs;
  if (settle(step, *section)) close_section(step);
  return step.done("Section " + std::to_string(params.section) + " will have " +
                   std::to_string(params.total_paragraphs) + " paragraphs");
}

Change complete_paragraph(const Document& before, const EssayCompleteParagraph::Params& params,
                          const Moment& moment) {
  const std::string place =
      "section " + std::to_string(params.section) + ", paragraph " + std::to_string(params.paragraph);
  SESSIOND_TRY(ensure_writable(before, params.section, "complete " + place));
  Step step(before, moment);
  begin(step);
  SESSIOND_ASSIGN(json::object * section, section_at(step.document, 4, params.section));
  if (params.section != int_or(stage_of(step.document, 4), "current_section", 1) ||
      params.paragraph != int_or(*section, "completed_paragraphs", 0) + 1 ||
      params.paragraph > int_or(*section, "total_paragraphs", essay_paragraphs_max))
    return refused("Cannot complete " + place + ", " + position_of_writing(step.document) + " is next",
                   next_step(before));
  (*section)["completed_paragraphs"] = params.paragraph;
  if (params.voice_check_score) (*section)["voice_check_score"] = *params.voice_check_score;
  const bool finished = settle(step, *section);
  SESSIOND_TRY(add_to_draft(step, params, finished));
  stage_at(step.document, 4)["paragraph_log"] =
      step.log(paragraph_log_name, "Completed " + place + (params.log ? ": " + *params.log : ""));
  if (params.voice_check_score)
    step.log(voice_log_name, "Checked " + place + ": " + to_json_text(*params.voice_check_score));
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
  SESSIOND_TRY(ensure_verified(step.document));
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
