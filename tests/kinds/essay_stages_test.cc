// Stages, sections and paragraphs: what each command does at each place, the handoffs, the gates, the logs.
#include "tests/kinds/essay_play.h"

namespace sessiond {
namespace {

using namespace essay_test;

TEST_CASE("essay stages: each stage hands over to the next") {
  Play play;
  CHECK(play.stages() == "innn 1");
  play.reach(1);
  CHECK(play.stages() == "cinn 2");
  CHECK(play.outline(3, "## A\n## B\n## C\n") == "ok");
  CHECK(play.stages() == "ccin 3");
  CHECK(part(play.document, "/stages/stage_3/total_sections") == "3");
  CHECK(part(play.document, "/stages/stage_3/current_section") == "1");
  CHECK(part(play.document, "/stages/stage_3/sections/2") ==
        R"({"section_index":3,"status":"not_started","argument_map_file":null,"verified_claims":0,)"
        R"("deferred_claims":0,"completed_at":null})");
  for (const std::int64_t section : {1, 3, 2}) CHECK(play.argue(section) == "ok");
  CHECK(play.stages() == "ccin 3");
  CHECK(play.approve() == "ok");
  CHECK(play.stages() == "ccci 4");
  CHECK(essay::position(play.document, true) == "Stage 4, Section 1, Paragraph 1");
}

// Every command at the end of every stage: accepted, or the words of the refusal.
TEST_CASE("essay stages: every command at every place") {
  struct Row {
    std::string_view what;
    std::function<std::string(Play&)> command;
    std::array<std::string_view, 6> expected;  // fresh, after 1, 2, 3, 4, and paused after 2
  };
  const std::string_view paused = "the session is paused";
  const Row rows[] = {
      {"thesis",
       [](Play& play) { return play.thesis(); },
       {"ok", "stage 1 is completed", "stage 1 is completed", "stage 1 is completed", "stage 1 is completed",
        paused}},
      {"outline",
       [](Play& play) { return play.outline(1, "## A\n"); },
       {"stage 2 is not_started", "ok", "stage 2 is completed", "stage 2 is completed",
        "stage 2 is completed", paused}},
      {"start section",
       [](Play& play) { return play.start(1); },
       {"stage 3 is not_started", "stage 3 is not_started", "ok", "stage 3 is completed",
        "stage 3 is completed", paused}},
      {"complete section",
       [](Play& play) { return play.argue(1); },
       {"stage 3 is not_started", "stage 3 is not_started", "ok", "stage 3 is completed",
        "stage 3 is completed", paused}},
      {"a section beyond the last",
       [](Play& play) { return play.argue(3); },
       {"stage 3 is not_started", "stage 3 is not_started", "expected 1 to 2, got 3", "stage 3 is completed",
        "stage 3 is completed", paused}},
      {"approve",
       [](Play& play) { return play.approve(); },
       {"stage 3 is not_started", "stage 3 is not_started", "section 1 is not completed",
        "stage 3 is completed", "stage 3 is completed", paused}},
      {"plan",
       [](Play& play) { return play.plan(1, 5); },
       {"stage 3 has no sections yet", "stage 3 has no sections yet",
        "the arguments of section 1 are not completed", "ok", "stage 4 is completed", paused}},
      {"paragraph",
       [](Play& play) { return play.write(1, 1); },
       {"stage 3 has no sections yet", "stage 3 has no sections yet",
        "the arguments of section 1 are not completed", "ok", "stage 4 is completed", paused}},
      {"the wrong paragraph",
       [](Play& play) { return play.write(1, 2); },
       {"stage 3 has no sections yet", "stage 3 has no sections yet",
        "the arguments of section 1 are not completed", "Section 1, Paragraph 1 is next",
        "stage 4 is completed", paused}},
      {"a paragraph that is nowhere",
       [](Play& play) { return play.write(1, 1, false); },
       {"stage 3 has no sections yet", "stage 3 has no sections yet",
        "the arguments of section 1 are not completed", "stage-4-draft.md does not exist",
        "stage 4 is completed", paused}},
      {"draft",
       [](Play& play) { return play.draft(); },
       {"stage 4 is not_started", "stage 4 is not_started", "stage 4 is not_started",
        "section 1 is not completed", "stage 4 is completed", paused}},
      {"finish",
       [](Play& play) { return play.finish(); },
       {"stage 1 is in_progress", "stage 2 is in_progress", "stage 3 is in_progress",
        "stage 4 is in_progress", "ok", paused}},
      {"revise",
       [](Play& play) { return play.revise(1, "minor"); },
       {"nothing is built on it", "ok", "ok", "ok", "ok", paused}},
  };
  for (const Row& row : rows)
    for (std::size_t place = 0; place < row.expected.size(); ++place) {
      CAPTURE(row.what);
      CAPTURE(place);
      Play play;
      play.reach(place == 5 ? 2 : static_cast<int>(place));
      if (place == 5) play.document["status"] = "paused";
      const std::string before = to_json_text(play.document);
      const std::string got = row.command(play);
      CAPTURE(got);
      CHECK(got.ends_with(row.expected[place]));
      if (got != "ok") CHECK(to_json_text(play.document) == before);
      CHECK(play.broken() == "");
    }
}

TEST_CASE("essay stages: writing may begin while arguments are still worked out") {
  Play play;
  play.reach(2);
  CHECK(play.argue(1) == "ok");
  CHECK(play.write(1, 1) == "ok");
  CHECK(play.stages() == "ccii 3");
  CHECK(play.write(1, 2) == "ok");
  CHECK(play.plan(1, 1).ends_with("2 are written"));
  // The plan says that what is there is all.
  CHECK(play.plan(1, 2) == "ok");
  CHECK(part(play.document, "/stages/stage_4/sections/0/status") == "\"completed\"");
  CHECK(play.contents["stage-4-draft.md"] == "## Shade\n\nParagraph 1 of 1.\n\nParagraph 2 of 1.\n\n---\n");
  CHECK(play.plan(1, 3).ends_with("it is written"));
  CHECK(play.write(2, 1).ends_with("the arguments of section 2 are not completed"));
  CHECK(play.argue(2) == "ok");
  CHECK(play.plan(2, 1) == "ok");
  CHECK(play.write(2, 1) == "ok");
  CHECK(play.draft().ends_with("stage 3 is in_progress"));
  CHECK(play.approve() == "ok");
  CHECK(play.draft() == "ok");
  CHECK(play.finish() == "ok");
  CHECK(play.contents["final-essay.md"] ==
        "## Shade\n\nParagraph 1 of 1.\n\nParagraph 2 of 1.\n\n## Water\n\nParagraph 1 of 2.\n");
  CHECK(part(play.document, "/output") ==
        R"({"final_essay_file":")" + directory +
            R"(/final-essay.md","sources_verified":3,"voice_consistency_score":80.0,)"
            R"("total_word_count":14,"completed_at":"2026-02-14T14:46:22Z"})");
}

TEST_CASE("essay stages: logs grow by what the commands say") {
  Play play;
  play.reach(4);
  CHECK(play.contents["stage-1-development-log.md"] ==
        "## 2026-02-14T14:31:22Z\n\ntalked about Trees make cities cooler.\n");
  CHECK(play.contents["stage-4-paragraph-log.md"] ==
        "## 2026-02-14T14:38:22Z\n\nCompleted section 1, paragraph 1\n\n"
        "## 2026-02-14T14:39:22Z\n\nCompleted section 2, paragraph 1\n\n"
        "## 2026-02-14T14:40:22Z\n\nCompleted section 2, paragraph 2\n");
  CHECK(play.contents["voice-check-log.md"].ends_with("Checked section 2, paragraph 2: 80.0\n"));
  EssayDeferVerification::Params defer;
  defer.claim_text = "It rains: #1 \"fact\"";
  defer.section = 1;
  defer.reason = "no_results";
  CHECK(play.run(essay::defer_verification, defer) == "ok");
  CHECK(play.run(essay::defer_verification, defer) == "ok");
  EssayResolveVerification::Params resolve;
  resolve.result = "it does";
  CHECK(play.run(essay::resolve_verification, resolve) == "ok");
  CHECK(play.run(essay::resolve_verification, resolve) == "Verification 0 is resolved already");
  resolve.index = 2;
  CHECK(play.run(essay::resolve_verification, resolve) == "there is no deferred verification 2");
  EssayOverrideClaim::Params keep;
  keep.claim_text = "Trees talk";
  keep.fact_checker_result = "unlikely";
  keep.user_rationale = "a picture";
  CHECK(play.run(essay::override_claim, keep) == "ok");
  CHECK(play.finish() == "Cannot finish, deferred verifications are open: 1 (It rains: #1 \"fact\")");
  EssayFinish::Params finish;
  finish.waive = std::vector<std::int64_t>{1};
  CHECK(play.run(essay::finish, finish) == "ok");
  const std::string& log = play.contents["fact-check-log.md"];
  for (const std::string_view entry :
       {"Deferred (no_results), section 1: It rains", "Resolved: It rains", "Result: it does",
        "Override: Trees talk", "Rationale: a picture", "Waived: It rains"})
    CHECK_MESSAGE(log.find(entry) != std::string::npos, entry);
}

TEST_CASE("essay stages: the voice is calibrated, and the first rating stays") {
  Play play;
  EssayCalibrateVoice::Params params;
  CHECK(play.run(essay::calibrate_voice, params).starts_with("params: give"));
  params.user_rating = 2;
  params.notes = "shorter";
  CHECK(play.run(essay::calibrate_voice, params) == "ok");
  params.user_rating = 5;
  params.notes.reset();
  params.voice_reference_mode = "hybrid";
  CHECK(play.run(essay::calibrate_voice, params) == "ok");
  CHECK(
      part(play.document, "/voice_calibration") ==
      R"({"first_assessment_user_rating":2,"calibration_notes":"shorter","voice_reference_mode":"hybrid"})");
  CHECK(play.contents["voice-check-log.md"].find("rated 5 of 5, going by hybrid") != std::string::npos);
}

TEST_CASE("essay stages: an outline with fewer or more sections sets the rest right") {
  Play play;
  play.reach(4);
  REQUIRE(play.revise(2, "minor") == "ok");
  SUBCASE("fewer: arguments of sections that are gone are archived") {
    CHECK(play.outline(1, "## Shade\n\nleaves\n") == "ok");
    CHECK(play.names().contains("stage-3-section-2-arguments.v1.md"));
    CHECK(!play.names().contains("stage-3-section-2-arguments.md"));
    CHECK(part(play.document, "/stages/stage_4/sections/1") == "-");
    CHECK(part(play.document, "/stages/stage_4/current_section") == "1");
  }
  SUBCASE("more: the stages behind have work left") {
    CHECK(play.outline(3, "## Shade\n\nleaves\n\n## Water\n\nroots\n\n## Air\n") == "ok");
    CHECK(play.stages() == "ccnn 3");
    CHECK(essay::status_of(play.document, 3) == "needs_review");
    CHECK(part(play.document, "/stages/stage_3/current_section") == "3");
    CHECK(play.approve().ends_with("section 3 is not completed"));
    CHECK(play.argue(3) == "ok");
    CHECK(play.approve() == "ok");
    CHECK(play.draft().ends_with("section 3 is not completed"));
    CHECK(play.plan(3, 1) == "ok");
    CHECK(play.write(3, 1) == "ok");
    CHECK(play.draft() == "ok");
    CHECK(play.finish() == "ok");
  }
  CHECK(play.broken() == "");
}

TEST_CASE("essay stages: a directory that moved is followed by its document") {
  Play play;
  play.reach(2);
  Artifacts there = files(play.contents);
  there.directory = "/elsewhere/mine";
  EssayCompleteSection::Params params;
  params.section = 1;
  params.text = "a";
  const auto applied = essay::complete_section(play.document, params, Moment{minute(9), "", "", &there});
  REQUIRE(applied.ok());
  CHECK(part(applied->document, "/session_dir") == "\"/elsewhere/mine\"");
  CHECK(part(applied->document, "/stages/stage_1/thesis_file") == "\"/elsewhere/mine/stage-1-thesis.md\"");
  CHECK(part(applied->document, "/stages/stage_3/sections/0/argument_map_file") ==
        "\"/elsewhere/mine/stage-3-section-1-arguments.md\"");
}

}  // namespace
}  // namespace sessiond
