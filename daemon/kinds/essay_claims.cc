// Claims and the voice: what cuts across the stages, each with its entry in a log.
#include "common/text.h"
#include "daemon/kinds/essay_step.h"

namespace sessiond::essay {
namespace {

std::string line(std::string_view text) { return one_line(text, 2'000); }

}  // namespace

Change defer_verification(const Document& before, const EssayDeferVerification::Params& params,
                          const Moment& moment) {
  SESSIOND_TRY(ensure_working(before, "defer a verification"));
  const std::int64_t total = section_count(before);
  if (total > 0 && params.section > total)
    return Error(ErrorCode::invalid_params, "params.section: expected 1 to " + std::to_string(total))
        .with("field", "params.section");
  Step step(before, moment);
  json::array& all = array_at(step.document, "deferred_verifications");
  all.push_back(json::object{{"claim_text", params.claim_text},
                             {"section", params.section},
                             {"paragraph", params.paragraph ? json::value(*params.paragraph) : json::value()},
                             {"reason", params.reason},
                             {"added_at", step.now},
                             {"resolved", false}});
  const std::string index = std::to_string(all.size() - 1);
  step.log(fact_log_name, "Deferred (" + params.reason + "), section " + std::to_string(params.section) +
                              ": " + line(params.claim_text));
  return step.done("Verification " + index + " is deferred");
}

Change resolve_verification(const Document& before, const EssayResolveVerification::Params& params,
                            const Moment& moment) {
  SESSIOND_TRY(ensure_working(before, "resolve a verification"));
  Step step(before, moment);
  json::array& all = array_at(step.document, "deferred_verifications");
  if (std::cmp_greater_equal(params.index, all.size()) ||
      !all[static_cast<std::size_t>(params.index)].is_object())
    return Error(ErrorCode::not_found, "there is no deferred verification " + std::to_string(params.index))
        .with("field", "params.index");
  json::object& entry = all[static_cast<std::size_t>(params.index)].get_object();
  if (bool_or(entry, "resolved", false))
    return refused("Verification " + std::to_string(params.index) + " is resolved already",
                   next_step(before));
  entry["resolved"] = true;
  entry["result"] = params.result;
  entry["resolved_at"] = step.now;
  step.log(fact_log_name,
           "Resolved: " + line(string_or(entry, "claim_text", "")) + "\n\nResult: " + line(params.result));
  return step.done("Verification " + std::to_string(params.index) + " is resolved");
}

Change override_claim(const Document& before, const EssayOverrideClaim::Params& params,
                      const Moment& moment) {
  SESSIOND_TRY(ensure_working(before, "override a claim"));
  Step step(before, moment);
  array_at(step.document, "user_overrides")
      .push_back(json::object{{"claim_text", params.claim_text},
                              {"fact_checker_result", params.fact_checker_result},
                              {"user_action", "override"},
                              {"user_rationale", params.user_rationale},
                              {"logged_at", step.now}});
  step.log(fact_log_name, "Override: " + line(params.claim_text) +
                              "\n\nFact checker: " + line(params.fact_checker_result) +
                              "\n\nRationale: " + line(params.user_rationale));
  return step.done("The claim stays");
}

Change calibrate_voice(const Document& before, const EssayCalibrateVoice::Params& params,
                       const Moment& moment) {
  SESSIOND_TRY(ensure_working(before, "calibrate the voice"));
  if (!params.user_rating && !params.notes && !params.voice_reference_mode)
    return Error(ErrorCode::invalid_params, "params: give user_rating, notes or voice_reference_mode")
        .with("field", "params.user_rating");
  Step step(before, moment);
  json::object& voice = object_at(step.document, "voice_calibration");
  std::string entry = "Calibration";
  if (params.user_rating) {
    if (member(voice, "first_assessment_user_rating") == nullptr)
      voice["first_assessment_user_rating"] = *params.user_rating;
    entry += ", rated " + std::to_string(*params.user_rating) + " of 5";
  }
  if (params.voice_reference_mode) {
    voice["voice_reference_mode"] = *params.voice_reference_mode;
    entry += ", going by " + *params.voice_reference_mode;
  }
  if (params.notes) {
    voice["calibration_notes"] = *params.notes;
    entry += ": " + line(*params.notes);
  }
  step.log(voice_log_name, entry);
  return step.done("The voice is calibrated");
}

Change set_pushback(const Document& before, const EssaySetPushback::Params& params, const Moment& moment) {
  SESSIOND_TRY(ensure_working(before, "set the pushback level"));
  Step step(before, moment);
  step.document["pushback_level"] = params.level;
  return step.done("Pushback is " + params.level);
}

}  // namespace sessiond::essay
