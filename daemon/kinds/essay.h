// The kind `essay`: a text written in four stages. One state file, session-state.yaml; essay_document.h tells
// of its form. Members beyond the schema appear when they happen: `paused` (at, reason, context) while the
// session is paused; result and resolved_at, or waived and waived_at, in deferred verifications.
//
// Files of the stages are given as text, or written into the directory by others and then named. A log grows
// by being written anew with one more entry, so a commit never leaves half of one.
#pragma once

#include "daemon/kinds/essay_document.h"
#include "proto/methods_essay.h"

namespace sessiond {

const Kind& essay_kind();

namespace essay {

using Change = Result<Applied<EssayReply>>;

// What the session layer settles on for a new essay.
struct NewEssay {
  std::string pipeline_id, directory;
};
Change create(const NewEssay& fresh, const EssayCreate::Params&, const Moment&);
// Each refuses without a change, or returns the whole next document; moment.artifacts is the directory.
Change complete_thesis(const Document&, const EssayCompleteThesis::Params&, const Moment&);
Change complete_outline(const Document&, const EssayCompleteOutline::Params&, const Moment&);
Change start_section(const Document&, const EssayStartSection::Params&, const Moment&);
Change complete_section(const Document&, const EssayCompleteSection::Params&, const Moment&);
Change approve_birds_eye(const Document&, const EssayApproveBirdsEye::Params&, const Moment&);
Change plan_section(const Document&, const EssayPlanSection::Params&, const Moment&);
Change complete_paragraph(const Document&, const EssayCompleteParagraph::Params&, const Moment&);
Change complete_draft(const Document&, const EssayCompleteDraft::Params&, const Moment&);
Change finish(const Document&, const EssayFinish::Params&, const Moment&);
Change defer_verification(const Document&, const EssayDeferVerification::Params&, const Moment&);
Change resolve_verification(const Document&, const EssayResolveVerification::Params&, const Moment&);
Change override_claim(const Document&, const EssayOverrideClaim::Params&, const Moment&);
Change calibrate_voice(const Document&, const EssayCalibrateVoice::Params&, const Moment&);
Change set_pushback(const Document&, const EssaySetPushback::Params&, const Moment&);
// Goes back to an earlier stage: the stage is under way again, and what was built on it is flagged, archived
// in part or archived as a whole.
Result<Applied<EssayRevise::Reply>> revise(const Document&, const EssayRevise::Params&, const Moment&);
// What a new output of a stage would mean for the stages behind it. Proposes, changes nothing.
Result<EssayAssessImpact::Reply> assess_impact(const Document&, const EssayAssessImpact::Params&,
                                               const Moment&);

// "Stage 3, Section 2"; with the paragraph "Stage 4, Section 1, Paragraph 2".
std::string position(const Document& document, bool with_paragraph);
// One sentence: what to do now.
std::string next_step(const Document& document);

}  // namespace essay
}  // namespace sessiond
