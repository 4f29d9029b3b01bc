// Going back to an earlier stage: the proposal, and the change itself. One commit: the documents, the
// artifacts that are archived, and the entry in revision_history.
#include <algorithm>

#include "common/text.h"
#include "daemon/kinds/essay_impact.h"
#include "daemon/kinds/essay_step.h"
#include "daemon/kinds/essay_text.h"

namespace sessiond::essay {
namespace {

using Revised = Result<Applied<EssayRevise::Reply>>;

template <class Params>
Rewrite rewrite_of(const Params& params) {
  return {static_cast<int>(params.stage), params.section, params.text, params.claim_type};
}

bool has_begun(const Document& document, int stage) { return status_of(document, stage) != "not_started"; }

// There must be something to go back from.
Status ensure_revisable(const Document& document, const Rewrite& rewrite) {
  const std::string what = "revise stage " + std::to_string(rewrite.stage);
  SESSIOND_TRY(ensure_working(document, what));
  const std::string status(status_of(document, rewrite.stage));
  bool built_on = status == "completed" || status == "needs_review" || rewrite.section.has_value();
  for (int behind = rewrite.stage + 1; behind <= 4; ++behind)
    built_on = built_on || has_begun(document, behind);
  if (status != "not_started" && built_on) return {};
  return refused("Cannot " + what + ", it is " + status + " and nothing is built on it", next_step(document));
}

// What the document says of a file that is archived.
void forget(Document& document, const std::string& name) {
  if (name == outline_name) {
    stage_at(document, 2)["outline_file"] = nullptr;
  } else if (const auto section = section_of(name)) {
    json::array& sections = array_at(stage_at(document, 3), "sections");
    stage_at(document, 3)["birds_eye_approved"] = false;
    if (std::cmp_greater(*section, sections.size())) return;
    json::object blank = blank_argument_section(*section);
    blank["status"] = "needs_review";
    sections[static_cast<std::size_t>(*section - 1)] = std::move(blank);
  } else if (name == draft_name) {
    json::object& stage = stage_at(document, 4);
    stage["draft_file"] = nullptr;
    stage["sections"] = json::array();
    stage["current_section"] = stage["current_paragraph"] = nullptr;
    prepare_writing(document);
  } else if (name == paragraph_log_name) {
    stage_at(document, 4)["paragraph_log"] = nullptr;
  } else if (name == final_name) {
    document["output"] = blank_output();
  }
}

void flag(Document& document, int stage) {
  if (has_begun(document, stage)) stage_at(document, stage)["status"] = "needs_review";
}

// The artifacts that go: none, those that are named or proposed, or all that are behind the stage.
Result<std::vector<std::string>> chosen(const Document& document, const EssayRevise::Params& params,
                                        const Artifacts& there) {
  const std::vector<std::string> all = downstream(static_cast<int>(params.stage), there);
  if (params.impact == "minor") return std::vector<std::string>();
  if (params.impact == "major") return all;
  if (!params.affected) {
    if (params.text || params.claim_type) return judge(document, rewrite_of(params), there).affected;
    return Error(ErrorCode::invalid_params, "params.affected: required when there is no text to compare")
        .with("field", "params.affected")
        .next("name some of: " + join(all, ", "));
  }
  for (const std::string& name : *params.affected)
    if (std::find(all.begin(), all.end(), name) == all.end())
      return Error(ErrorCode::invalid_params, "params.affected: " + quoted(name) +
                                                  " is no artifact behind stage " +
                                                  std::to_string(params.stage))
          .with("field", "params.affected")
          .next(all.empty() ? "there is none" : "name some of: " + join(all, ", "));
  std::vector<std::string> out = *params.affected;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// The stages behind: up for review, in part or all, or as if they had never begun.
void set_back(Document& document, const EssayRevise::Params& params, const std::vector<std::string>& gone) {
  for (const std::string& name : gone) forget(document, name);
  for (int stage = static_cast<int>(params.stage) + 1; stage <= 4; ++stage) {
    if (params.impact == "major") {
      object_at(document, "stages")["stage_" + std::to_string(stage)] = blank_stage(stage);
      continue;
    }
    const bool hit = std::any_of(gone.begin(), gone.end(),
                                 [&](const std::string& name) { return stage_of_file(name) == stage; });
    if (hit || gone.empty()) flag(document, stage);
  }
  if (params.impact == "major" && params.stage < 3) return;
  if (const std::int64_t left = unfinished_arguments(document); left != 0)
    stage_at(document, 3)["current_section"] = left;
}

// The stage itself is under way again, with its new output if there is one.
Status take_up(Step& step, const EssayRevise::Params& params) {
  const int number = static_cast<int>(params.stage);
  json::object& stage = stage_at(step.document, number);
  stage["status"] = "in_progress";
  stage["completed_at"] = nullptr;
  if (params.claim_type) stage["claim_type"] = *params.claim_type;
  if (number == 3) stage["birds_eye_approved"] = false;
  if (params.section) {
    SESSIOND_ASSIGN(json::object * section, section_at(step.document, 3, *params.section));
    (*section)["status"] = "in_progress";
    (*section)["completed_at"] = nullptr;
    stage["current_section"] = *params.section;
  }
  if (params.text) SESSIOND_TRY(step.artifact(output_name(rewrite_of(params)), params.text));
  step.document["current_stage"] = number;
  step.document["current_stage_name"] = stage_names[static_cast<std::size_t>(number - 1)];
  return {};
}

json::array names_of(const std::vector<std::string>& names) {
  return json::array(names.begin(), names.end());
}

json::object entry_of(const EssayRevise::Params& params, const std::vector<std::string>& archived,
                      const std::string& now) {
  return {{"stage_revisited", params.stage},
          {"impact", params.impact},
          {"reason", params.reason},
          {"downstream_archived", names_of(archived)},
          {"timestamp", now}};
}

std::string scope(std::string_view impact, int stage, std::size_t archived) {
  std::string out = std::string(impact) + " impact: stage " + std::to_string(stage) + " is taken up again, ";
  out += archived == 0   ? "nothing is archived"
         : archived == 1 ? "1 artifact is archived"
                         : std::to_string(archived) + " artifacts are archived";
  if (impact == "major" && stage < 4) out += ", and everything behind it starts anew";
  return out;
}

json::object statuses_of(const Document& document) {
  json::object out;
  for (int stage = 1; stage <= 4; ++stage) out["stage_" + std::to_string(stage)] = status_of(document, stage);
  return out;
}

}  // namespace

Revised revise(const Document& before, const EssayRevise::Params& params, const Moment& moment) {
  const Rewrite rewrite = rewrite_of(params);
  SESSIOND_TRY(check_rewrite(before, rewrite));
  SESSIOND_TRY(ensure_revisable(before, rewrite));
  Step step(before, moment);
  SESSIOND_ASSIGN(const std::vector<std::string> gone, chosen(before, params, step.there));
  EssayRevise::Reply reply;
  for (const std::string& name : gone) reply.archived.push_back(step.archive(name));
  set_back(step.document, params, gone);
  SESSIOND_TRY(take_up(step, params));
  array_at(step.document, "revision_history").push_back(entry_of(params, reply.archived, step.now));
  Applied<EssayReply> done = step.done(scope(params.impact, rewrite.stage, gone.size()));
  reply.current_stage = done.reply.current_stage;
  reply.position = std::move(done.reply.position);
  reply.next = std::move(done.reply.next);
  reply.message = std::move(done.reply.message);
  return Applied<EssayRevise::Reply>{std::move(done.document), std::move(reply), std::move(done.files)};
}

Result<EssayAssessImpact::Reply> assess_impact(const Document& document,
                                               const EssayAssessImpact::Params& params,
                                               const Moment& moment) {
  const Rewrite rewrite = rewrite_of(params);
  if (!params.text && !params.claim_type)
    return Error(ErrorCode::invalid_params, "params.text: required, there is nothing else to compare")
        .with("field", "params.text");
  SESSIOND_TRY(check_rewrite(document, rewrite));
  const Step step(document, moment);
  Impact impact = judge(document, rewrite, step.there);
  EssayRevise::Params trial;
  trial.stage = params.stage;
  trial.section = params.section;
  trial.text = params.text;
  trial.claim_type = params.claim_type;
  trial.impact = impact.impact;
  trial.affected = impact.affected;
  // What would happen is told by doing it, to a copy.
  SESSIOND_ASSIGN(const Applied<EssayRevise::Reply> tried, revise(document, trial, moment));
  EssayAssessImpact::Reply reply;
  reply.stage = params.stage;
  reply.impact = trial.impact;
  reply.reasons = std::move(impact.reasons);
  reply.archive = impact.impact == "major" ? downstream(rewrite.stage, step.there) : impact.affected;
  reply.stages = statuses_of(tried.document);
  reply.choices = {{"minor", json::array()},
                   {"moderate", names_of(impact.affected)},
                   {"major", names_of(downstream(rewrite.stage, step.there))}};
  if (params.text) reply.diff = line_diff(step.there.text(output_name(rewrite)), *params.text);
  reply.message = "Proposed: " + tried.reply.message + ". Confirm with essay.revise.";
  return reply;
}

}  // namespace sessiond::essay
