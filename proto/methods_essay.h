// The methods of the kind `essay`: a text that is written in four stages, thesis, outline, arguments of each
// section, paragraphs.
#pragma once

#include "proto/envelope.h"
#include "proto/method.h"
#include "proto/methods_reading.h"

namespace sessiond {

// Limits of an essay. Longer texts belong into artifact files.
inline constexpr std::int64_t essay_sections_max = 1'000;
inline constexpr std::int64_t essay_paragraphs_max = 10'000;
inline constexpr std::size_t essay_claim_max = 10'000;

inline constexpr std::array<std::string_view, 4> essay_claim_types{"argument", "explainer", "prediction",
                                                                   "hybrid"};
inline constexpr std::array<std::string_view, 3> essay_audiences{"general", "semi-technical", "expert"};
inline constexpr std::array<std::string_view, 3> essay_pushback_levels{"full", "light", "minimal"};
inline constexpr std::array<std::string_view, 3> essay_voice_modes{"profile", "sample", "hybrid"};
inline constexpr std::array<std::string_view, 3> essay_defer_reasons{"timeout", "service_unavailable",
                                                                     "no_results"};
inline constexpr std::array<std::string_view, 3> essay_impacts{"minor", "moderate", "major"};

// Where the essay stands after a change, and what is next.
struct EssayReply {
  Envelope session;
  std::int64_t current_stage = 0;
  std::string position, next, message;
  static constexpr auto fields() {
    using R = EssayReply;
    return std::array{field<&R::session>("session", "the session"),
                      field<&R::current_stage>("current_stage", "the stage to work on, 1 to 4"),
                      field<&R::position>("position", "where work stands"),
                      field<&R::next>("next", "what to do next"),
                      field<&R::message>("message", "what happened, for a person")};
  }
};

struct EssayCreate {
  static constexpr std::string_view name = "essay.create";
  static constexpr std::string_view summary = "Starts an essay at stage 1, the thesis";
  static constexpr Access access = Access::write;
  struct Params {
    std::optional<std::string> session_id, root, style_profile_path, samples_dir_path, pushback_level;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "default: essay-pipeline-YYYYMMDD-HHMMSS", length(1, 128)),
          field<&P::root>("root", "name of the root to create it in; default: the kind's own",
                          length(1, 128)),
          field<&P::style_profile_path>("style_profile_path", "the writer's style profile", length(1, 4'096)),
          field<&P::samples_dir_path>("samples_dir_path", "samples of the writer's texts", length(1, 4'096)),
          field<&P::pushback_level>("pushback_level", "full (default), light or minimal",
                                    one_of(essay_pushback_levels))};
    }
  };
  using Reply = EssayReply;
};

struct EssayCompleteThesis {
  static constexpr std::string_view name = "essay.complete_thesis";
  static constexpr std::string_view summary = "Ends stage 1 with the thesis; the outline is next";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id, claim_type;
    std::optional<std::string> text, log;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::claim_type>("claim_type", "what the essay claims", one_of(essay_claim_types)),
          field<&P::text>("text", "of stage-1-thesis.md; left out: the file is there"),
          field<&P::log>("log", "added to stage-1-development-log.md")};
    }
  };
  using Reply = EssayReply;
};

struct EssayCompleteOutline {
  static constexpr std::string_view name = "essay.complete_outline";
  static constexpr std::string_view summary = "Ends stage 2 with the outline; the arguments are next";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::int64_t total_sections = 0;
    std::optional<std::int64_t> target_word_count;
    std::optional<std::string> audience, text;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::total_sections>("total_sections", "sections of the outline",
                                                  between(1, essay_sections_max)),
                        field<&P::target_word_count>("target_word_count", "how long the essay is to be",
                                                     between(1, 10'000'000)),
                        field<&P::audience>("audience", "for whom", one_of(essay_audiences)),
                        field<&P::text>("text", "of stage-2-outline.md; left out: the file is there")};
    }
  };
  using Reply = EssayReply;
};

struct EssayStartSection {
  static constexpr std::string_view name = "essay.start_section";
  static constexpr std::string_view summary = "Begins the arguments of a section (stage 3)";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::int64_t section = 0;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::section>("section", "from 1", between(1, essay_sections_max))};
    }
  };
  using Reply = EssayReply;
};

struct EssayCompleteSection {
  static constexpr std::string_view name = "essay.complete_section";
  static constexpr std::string_view summary = "Ends the arguments of a section with their map (stage 3)";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::int64_t section = 0;
    std::optional<std::int64_t> verified_claims, deferred_claims;
    std::optional<std::string> text;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::section>("section", "from 1", between(1, essay_sections_max)),
          field<&P::verified_claims>("verified_claims", "claims that were verified", between(0, 100'000)),
          field<&P::deferred_claims>("deferred_claims", "claims put off; default: those recorded",
                                     between(0, 100'000)),
          field<&P::text>("text", "of stage-3-section-N-arguments.md; left out: the file is there")};
    }
  };
  using Reply = EssayReply;
};

struct EssayApproveBirdsEye {
  static constexpr std::string_view name = "essay.approve_birds_eye";
  static constexpr std::string_view summary = "Approves the arguments as a whole and ends stage 3";
  static constexpr Access access = Access::write;
  using Params = SessionParams;
  using Reply = EssayReply;
};

struct EssayPlanSection {
  static constexpr std::string_view name = "essay.plan_section";
  static constexpr std::string_view summary = "Says how many paragraphs a section will have (stage 4)";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::int64_t section = 0, total_paragraphs = 0;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::section>("section", "from 1", between(1, essay_sections_max)),
                        field<&P::total_paragraphs>("total_paragraphs", "paragraphs of the section",
                                                    between(1, essay_paragraphs_max))};
    }
  };
  using Reply = EssayReply;
};

struct EssayCompleteParagraph {
  static constexpr std::string_view name = "essay.complete_paragraph";
  static constexpr std::string_view summary = "Adds the next paragraph to the draft (stage 4)";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::int64_t section = 0, paragraph = 0;
    std::optional<std::string> text, log;
    std::optional<double> voice_check_score;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::section>("section", "the current one", between(1, essay_sections_max)),
          field<&P::paragraph>("paragraph", "the next one, from 1", between(1, essay_paragraphs_max)),
          field<&P::text>("text", "added to stage-4-draft.md; left out: it is there"),
          field<&P::log>("log", "added to stage-4-paragraph-log.md", length(1, essay_claim_max)),
          field<&P::voice_check_score>("voice_check_score", "how well the voice was met", between(0, 100))};
    }
  };
  using Reply = EssayReply;
};

struct EssayCompleteDraft {
  static constexpr std::string_view name = "essay.complete_draft";
  static constexpr std::string_view summary = "Ends stage 4: the draft is whole";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::optional<std::string> text;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::text>("text", "of stage-4-draft.md instead of what is there")};
    }
  };
  using Reply = EssayReply;
};

struct EssayFinish {
  static constexpr std::string_view name = "essay.finish";
  static constexpr std::string_view summary =
      "Completes the essay; the final text is assembled from the draft";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::optional<std::string> text;
    std::optional<std::int64_t> sources_verified;
    std::optional<double> voice_consistency_score;
    std::optional<std::vector<std::int64_t>> waive;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::text>("text", "of final-essay.md; default: the draft"),
          field<&P::sources_verified>("sources_verified", "default: the claims verified in stage 3",
                                      between(0, 1'000'000)),
          field<&P::voice_consistency_score>("voice_consistency_score", "default: the mean of the sections",
                                             between(0, 100)),
          field<&P::waive>("waive", "indexes of deferred verifications to do without", length(0, 1'000))};
    }
  };
  using Reply = EssayReply;
};

struct EssayDeferVerification {
  static constexpr std::string_view name = "essay.defer_verification";
  static constexpr std::string_view summary = "Records a claim that could not be verified yet";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id, claim_text, reason;
    std::int64_t section = 0;
    std::optional<std::int64_t> paragraph;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::claim_text>("claim_text", "the claim", length(1, essay_claim_max)),
                        field<&P::section>("section", "from 1", between(1, essay_sections_max)),
                        field<&P::paragraph>("paragraph", "from 1", between(1, essay_paragraphs_max)),
                        field<&P::reason>("reason", "why it was not verified", one_of(essay_defer_reasons))};
    }
  };
  using Reply = EssayReply;
};

struct EssayResolveVerification {
  static constexpr std::string_view name = "essay.resolve_verification";
  static constexpr std::string_view summary = "Records how a deferred verification came out";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id, result;
    std::int64_t index = 0;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::index>("index", "in deferred_verifications, from 0", between(0, 100'000)),
                        field<&P::result>("result", "what was found", length(1, essay_claim_max))};
    }
  };
  using Reply = EssayReply;
};

struct EssayOverrideClaim {
  static constexpr std::string_view name = "essay.override_claim";
  static constexpr std::string_view summary = "Keeps a claim against the fact checker, with the reason";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id, claim_text, fact_checker_result, user_rationale;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::claim_text>("claim_text", "the claim", length(1, essay_claim_max)),
          field<&P::fact_checker_result>("fact_checker_result", "what the checker said", length(1, 2'000)),
          field<&P::user_rationale>("user_rationale", "why it stays", length(1, essay_claim_max))};
    }
  };
  using Reply = EssayReply;
};

struct EssayCalibrateVoice {
  static constexpr std::string_view name = "essay.calibrate_voice";
  static constexpr std::string_view summary = "Records how well the voice is met, and what to go by";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::optional<std::int64_t> user_rating;
    std::optional<std::string> notes, voice_reference_mode;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::user_rating>("user_rating", "1 to 5; the first one is kept, all are logged",
                                               between(1, 5)),
                        field<&P::notes>("notes", "what to do otherwise", length(1, essay_claim_max)),
                        field<&P::voice_reference_mode>("voice_reference_mode", "profile, sample or hybrid",
                                                        one_of(essay_voice_modes))};
    }
  };
  using Reply = EssayReply;
};

struct EssaySetPushback {
  static constexpr std::string_view name = "essay.set_pushback";
  static constexpr std::string_view summary = "Sets how much the writer is contradicted";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id, level;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::level>("level", "full, light or minimal", one_of(essay_pushback_levels))};
    }
  };
  using Reply = EssayReply;
};

struct EssayAssessImpact {
  static constexpr std::string_view name = "essay.assess_impact";
  static constexpr std::string_view summary =
      "Compares a stage's output with a new one and proposes the impact; changes nothing";
  static constexpr Access access = Access::read;
  struct Params {
    std::string session_id;
    std::int64_t stage = 0;
    std::optional<std::int64_t> section;
    std::optional<std::string> text, claim_type;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::stage>("stage", "the stage to revisit", between(1, 4)),
          field<&P::section>("section", "stage 3: whose arguments change", between(1, essay_sections_max)),
          field<&P::text>("text", "the stage's new output"),
          field<&P::claim_type>("claim_type", "stage 1: the new one", one_of(essay_claim_types))};
    }
  };
  struct Reply {
    Envelope session;
    std::int64_t stage = 0, revision = 0;
    std::string impact, diff, message;
    std::vector<std::string> reasons, archive;
    json::object stages, choices;
    static constexpr auto fields() {
      using R = Reply;
      return std::array{field<&R::session>("session", "the session"),
                        field<&R::stage>("stage", "the stage to revisit"),
                        field<&R::impact>("impact", "minor, moderate or major, as proposed"),
                        field<&R::reasons>("reasons", "why"),
                        field<&R::diff>("diff", "lines that go (-) and come (+)"),
                        field<&R::archive>("archive", "artifacts that would be archived"),
                        field<&R::stages>("stages", "what the stages would become"),
                        field<&R::choices>("choices", "what each impact would archive"),
                        field<&R::revision>("revision", "give it to essay.revise as if_revision"),
                        field<&R::message>("message", "the proposal, for a person to confirm")};
    }
  };
};

struct EssayRevise {
  static constexpr std::string_view name = "essay.revise";
  static constexpr std::string_view summary =
      "Goes back to a stage, as assessed; needs if_revision; session.revert undoes it";
  static constexpr Access access = Access::write;
  static constexpr bool needs_revision = true;
  struct Params {
    std::string session_id, impact, reason;
    std::int64_t stage = 0;
    std::optional<std::int64_t> section;
    std::optional<std::string> text, claim_type;
    std::optional<std::vector<std::string>> affected;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::stage>("stage", "the stage to revisit", between(1, 4)),
          field<&P::section>("section", "stage 3: whose arguments change", between(1, essay_sections_max)),
          field<&P::impact>("impact", "minor, moderate or major", one_of(essay_impacts)),
          field<&P::reason>("reason", "what the user wants", length(1, essay_claim_max)),
          field<&P::text>("text", "the stage's new output; the one before is archived"),
          field<&P::claim_type>("claim_type", "stage 1: the new one", one_of(essay_claim_types)),
          field<&P::affected>("affected", "moderate: artifacts to archive (those of the assessment)",
                              length(0, essay_sections_max))};
    }
  };
  struct Reply {
    Envelope session;
    std::int64_t current_stage = 0;
    std::string position, next, message;
    std::vector<std::string> archived;
    static constexpr auto fields() {
      using R = Reply;
      return std::array{field<&R::session>("session", "the session"),
                        field<&R::current_stage>("current_stage", "the stage to work on, 1 to 4"),
                        field<&R::position>("position", "where work stands"),
                        field<&R::archived>("archived", "kept versions of what is downstream"),
                        field<&R::next>("next", "what to do next"),
                        field<&R::message>("message", "what happened, for a person")};
    }
  };
};

using EssayMethods =
    MethodList<EssayCreate, EssayCompleteThesis, EssayCompleteOutline, EssayStartSection,
               EssayCompleteSection, EssayApproveBirdsEye, EssayPlanSection, EssayCompleteParagraph,
               EssayCompleteDraft, EssayFinish, EssayDeferVerification, EssayResolveVerification,
               EssayOverrideClaim, EssayCalibrateVoice, EssaySetPushback, EssayAssessImpact, EssayRevise>;

}  // namespace sessiond
