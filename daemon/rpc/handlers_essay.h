// The methods of an essay that only change its document: which function of the kind each of them is.
#pragma once

#include "daemon/kinds/essay.h"

namespace sessiond {

template <class M>
inline constexpr auto essay_function = nullptr;
template <>
inline constexpr auto essay_function<EssayCompleteThesis> = essay::complete_thesis;
template <>
inline constexpr auto essay_function<EssayCompleteOutline> = essay::complete_outline;
template <>
inline constexpr auto essay_function<EssayStartSection> = essay::start_section;
template <>
inline constexpr auto essay_function<EssayCompleteSection> = essay::complete_section;
template <>
inline constexpr auto essay_function<EssayApproveBirdsEye> = essay::approve_birds_eye;
template <>
inline constexpr auto essay_function<EssayPlanSection> = essay::plan_section;
template <>
inline constexpr auto essay_function<EssayCompleteParagraph> = essay::complete_paragraph;
template <>
inline constexpr auto essay_function<EssayCompleteDraft> = essay::complete_draft;
template <>
inline constexpr auto essay_function<EssayFinish> = essay::finish;
template <>
inline constexpr auto essay_function<EssayDeferVerification> = essay::defer_verification;
template <>
inline constexpr auto essay_function<EssayResolveVerification> = essay::resolve_verification;
template <>
inline constexpr auto essay_function<EssayOverrideClaim> = essay::override_claim;
template <>
inline constexpr auto essay_function<EssayCalibrateVoice> = essay::calibrate_voice;
template <>
inline constexpr auto essay_function<EssaySetPushback> = essay::set_pushback;
template <>
inline constexpr auto essay_function<EssayRevise> = essay::revise;

template <class M>
concept ChangesEssay = !std::is_null_pointer_v<std::remove_cv_t<decltype(essay_function<M>)>>;

template <ChangesEssay M>
Change<M> change(For<M>, const View&, const Document& document, const typename M::Params& params,
                 const Moment& moment) {
  return essay_function<M>(document, params, moment);
}

}  // namespace sessiond
