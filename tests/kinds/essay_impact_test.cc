// Going back to an earlier stage: every class of impact as proposed, and what each does.
#include "tests/kinds/essay_play.h"

namespace sessiond {
namespace {

using namespace essay_test;
using Names = std::vector<std::string>;

const std::string outline = "## Shade\n\nleaves and light\n\n## Water\n\nroots and rain\n";

EssayAssessImpact::Params rewrite(std::int64_t stage, std::optional<std::string> text,
                                  std::optional<std::string> type = std::nullopt,
                                  std::optional<std::int64_t> section = std::nullopt) {
  EssayAssessImpact::Params params;
  params.stage = stage;
  params.text = std::move(text);
  params.claim_type = std::move(type);
  params.section = section;
  return params;
}

Result<EssayAssessImpact::Reply> assess(const Play& play, const EssayAssessImpact::Params& params) {
  const Artifacts there = files(play.contents);
  return essay::assess_impact(play.document, params, Moment{minute(99), "", "", &there});
}

// An essay at the end of stage 4, with words that its parts are recognised by.
Play whole() {
  Play play;
  REQUIRE(play.thesis("Street trees make crowded cities cooler during summer.") == "ok");
  REQUIRE(play.outline(2, outline) == "ok");
  REQUIRE(play.argue(1) == "ok");
  REQUIRE(play.argue(2) == "ok");
  REQUIRE(play.approve() == "ok");
  REQUIRE(play.plan(1, 1) == "ok");
  REQUIRE(play.write(1, 1) == "ok");
  return play;
}

TEST_CASE("essay impact: what is proposed for each change") {
  struct Row {
    std::string_view what;
    EssayAssessImpact::Params params;
    std::string_view impact, reason;
    Names archive;
  };
  const Names all{"stage-2-outline.md", "stage-3-section-1-arguments.md", "stage-3-section-2-arguments.md",
                  "stage-4-draft.md", "stage-4-paragraph-log.md"};
  const Row rows[] = {
      {"the thesis with its words in another order",
       rewrite(1, "During summer, street trees make crowded cities cooler!"),
       "minor",
       "the thesis is reworded: 100 % of the words are shared",
       {}},
      {"the same claim type",
       rewrite(1, std::nullopt, "argument"),
       "minor",
       "the claim type stays argument",
       {}},
      {"another claim type", rewrite(1, std::nullopt, "explainer"), "major",
       "the claim type changes from argument to explainer", all},
      {"another claim type, however alike the words",
       rewrite(1, "Street trees make crowded cities cooler during summer.", "prediction"), "major",
       "the claim type changes from argument to prediction", all},
      {"another thesis", rewrite(1, "Rivers need room to flood."), "major",
       "it is another thesis: 0 % of the words are shared", all},
      {"half of the thesis, with words that an argument uses",
       rewrite(1, "Street trees make villages greener during autumn."),
       "moderate",
       "stage-3-section-1-arguments.md goes on about crowded",
       {"stage-3-section-1-arguments.md"}},
      {"the outline as it is",
       rewrite(2, outline),
       "minor",
       "the sections stay what they were; at most their wording changes",
       {}},
      {"a preface to the outline",
       rewrite(2, "# Plan\n\nFor all.\n\n" + outline),
       "minor",
       "the sections stay what they were; at most their wording changes",
       {}},
      {"a section that is not written is rewritten",
       rewrite(2, "## Shade\n\nleaves and light\n\n## Water\n\ndrains, pipes, pumps\n"),
       "moderate",
       "section 2, Water, is rewritten",
       {"stage-3-section-2-arguments.md"}},
      {"a section that is written is rewritten",
       rewrite(2, "## Shade\n\nawnings, roofs, sails\n\n## Water\n\nroots and rain\n"),
       "moderate",
       "section 1, Shade, is rewritten",
       {"stage-3-section-1-arguments.md", "stage-4-draft.md"}},
      {"a section is removed",
       rewrite(2, "## Shade\n\nleaves and light\n"),
       "moderate",
       "section 2, Water, is removed",
       {"stage-3-section-2-arguments.md"}},
      {"a section is added at the end",
       rewrite(2, outline + "\n## Air\n\nlungs\n"),
       "moderate",
       "section 3, Air, is added",
       {}},
      {"a section is added in front",
       rewrite(2, "## Air\n\nlungs\n\n" + outline),
       "moderate",
       "section 1, Shade, becomes section 2",
       {"stage-3-section-1-arguments.md", "stage-3-section-2-arguments.md", "stage-4-draft.md"}},
      {"a section has another name",
       rewrite(2, "## Shadow\n\nleaves and light\n\n## Water\n\nroots and rain\n"),
       "minor",
       "section 1, Shade, is called Shadow now",
       {}},
      {"every section is another",
       rewrite(2, "## Noise\n\nengines\n\n## Money\n\nprices\n"),
       "major",
       "no section stays what it was",
       {all.begin() + 1, all.end()}},
      {"an outline without sections",
       rewrite(2, "no headings at all"),
       "major",
       "it is another outline: 0 % of the words are shared",
       {all.begin() + 1, all.end()}},
      {"arguments of a section that is not written",
       rewrite(3, "quite other things", std::nullopt, 2),
       "minor",
       "nothing of section 2 is written yet",
       {}},
      {"arguments that are reworded",
       rewrite(3, "Crowded: arguments of 1", std::nullopt, 1),
       "minor",
       "the arguments of section 1 are reworded: 100 % of the words are shared",
       {}},
      {"arguments of a section that is written",
       rewrite(3, "quite other things", std::nullopt, 1),
       "moderate",
       "the draft has section 1, and its arguments change: 0 % of the words are shared",
       {"stage-4-draft.md"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    Play play = whole();
    play.contents["stage-3-section-1-arguments.md"] = "arguments of 1: crowded";
    const std::string before = to_json_text(play.document);
    const auto reply = assess(play, row.params);
    REQUIRE_MESSAGE(reply.ok(), (reply.ok() ? "" : reply.error().message));
    CHECK(reply->impact == row.impact);
    CHECK_MESSAGE(std::find(reply->reasons.begin(), reply->reasons.end(), row.reason) != reply->reasons.end(),
                  reply->reasons.front());
    CHECK(reply->archive == row.archive);
    CHECK(to_json_text(play.document) == before);
  }
}

TEST_CASE("essay impact: the draft, with and without an essay made of it") {
  Play play;
  play.reach(4);
  auto reply = assess(play, rewrite(4, "## Shade\n\nOther.\n"));
  REQUIRE(reply.ok());
  CHECK(reply->impact == "minor");
  CHECK(reply->reasons == Names{"no essay is made of the draft yet"});
  play.contents["final-essay.md"] = "Old.";
  reply = assess(play, rewrite(4, "## Shade\n\nOther.\n"));
  REQUIRE(reply.ok());
  CHECK(reply->impact == "moderate");
  CHECK(reply->archive == Names{"final-essay.md"});
  reply = assess(play, rewrite(4, play.contents["stage-4-draft.md"]));
  REQUIRE(reply.ok());
  CHECK(reply->impact == "minor");
}

TEST_CASE("essay impact: the proposal says what would become of everything") {
  const Play play = whole();
  const auto reply = assess(play, rewrite(2, "## Shade\n\nleaves and light\n\n## Water\n\npumps\n"));
  REQUIRE(reply.ok());
  CHECK(reply->diff == "- roots and rain\n+ pumps\n");
  CHECK(
      to_json_text(reply->stages) ==
      R"({"stage_1":"completed","stage_2":"in_progress","stage_3":"needs_review","stage_4":"in_progress"})");
  CHECK(
      to_json_text(reply->choices) ==
      R"({"minor":[],"moderate":["stage-3-section-2-arguments.md"],"major":["stage-3-section-1-arguments.md",)"
      R"("stage-3-section-2-arguments.md","stage-4-draft.md","stage-4-paragraph-log.md"]})");
  CHECK(reply->message ==
        "Proposed: moderate impact: stage 2 is taken up again, 1 artifact is archived. "
        "Confirm with essay.revise.");
}

TEST_CASE("essay impact: parameters that make no sense are refused by name") {
  const Play play = whole();
  struct Row {
    EssayAssessImpact::Params params;
    std::string_view message;
  };
  const Row rows[] = {
      {rewrite(1, std::nullopt), "params.text: required, there is nothing else to compare"},
      {rewrite(2, "x", "hybrid"), "params.claim_type: only stage 1 has one"},
      {rewrite(2, "x", std::nullopt, 1), "params.section: only with stage 3"},
      {rewrite(3, "x"), "params.section: whose arguments are these?"},
      {rewrite(3, "x", std::nullopt, 3), "params.section: expected 1 to 2"},
  };
  for (const Row& row : rows) {
    const auto reply = assess(play, row.params);
    REQUIRE(!reply.ok());
    CHECK(reply.error().message == row.message);
  }
  Play fresh;
  fresh.reach(1);
  CHECK(assess(fresh, rewrite(2, "x")).error().message ==
        "Cannot revise stage 2, it is in_progress and nothing is built on it");
  CHECK(fresh.revise(3, "major").ends_with("it is not_started and nothing is built on it"));
}

TEST_CASE("essay revise: a minor change flags what follows and moves nothing") {
  Play play;
  play.reach(4);
  const auto before = play.contents;
  CHECK(play.revise(1, "minor") == "ok");
  CHECK(play.stages() == "innn 1");
  for (const int stage : {2, 3, 4}) CHECK(essay::status_of(play.document, stage) == "needs_review");
  CHECK(play.contents == before);
  CHECK(part(play.document, "/revision_history") ==
        R"([{"stage_revisited":1,"impact":"minor","reason":"a better idea","downstream_archived":[],)"
        R"("timestamp":"2026-02-14T14:42:22Z"}])");
  CHECK(play.broken() == "");
  // Everything is confirmed as it is, and the essay can be finished.
  CHECK(play.thesis("Trees make cities a little cooler.") == "ok");
  CHECK(play.names().contains("stage-1-thesis.v1.md"));
  CHECK(play.outline(2, std::nullopt) == "ok");
  CHECK(play.approve() == "ok");
  CHECK(play.draft() == "ok");
  CHECK(play.finish() == "ok");
}

TEST_CASE("essay revise: a moderate change archives what is named and flags its stages") {
  Play play;
  play.reach(4);
  CHECK(play.revise(2, "moderate", [](auto& params) {
    params.affected = Names{"stage-3-section-2-arguments.md", "stage-4-draft.md"};
    params.text = "## Shade\n\nleaves\n\n## Drains\n\npipes\n";
  }) == "ok");
  CHECK(play.names().contains("stage-3-section-2-arguments.v1.md"));
  CHECK(play.names().contains("stage-4-draft.v1.md"));
  CHECK(play.names().contains("stage-2-outline.v1.md"));
  CHECK(play.names().contains("stage-3-section-1-arguments.md"));
  CHECK(!play.names().contains("stage-4-draft.md"));
  CHECK(play.stages() == "cinn 2");
  CHECK(part(play.document, "/stages/stage_3/sections/0/status") == "\"completed\"");
  CHECK(part(play.document, "/stages/stage_3/sections/1/status") == "\"needs_review\"");
  CHECK(part(play.document, "/stages/stage_3/sections/1/argument_map_file") == "null");
  CHECK(part(play.document, "/stages/stage_3/birds_eye_approved") == "false");
  CHECK(part(play.document, "/stages/stage_4/draft_file") == "null");
  CHECK(part(play.document, "/stages/stage_4/sections/1/completed_paragraphs") == "0");
  CHECK(part(play.document, "/revision_history/0/downstream_archived") ==
        R"(["stage-3-section-2-arguments.v1.md","stage-4-draft.v1.md"])");
  CHECK(play.broken() == "");
  CHECK(play.outline(2, std::nullopt) == "ok");
  CHECK(play.approve().ends_with("section 2 is not completed"));
  CHECK(play.argue(2) == "ok");
  CHECK(play.approve() == "ok");
  CHECK(play.write(1, 1) == "ok");
  CHECK(play.contents["stage-4-draft.md"] == "## Shade\n\nParagraph 1 of 1.\n");
}

TEST_CASE("essay revise: a moderate change that names nothing archives what the text implies") {
  Play play;
  play.reach(3);
  CHECK(play.revise(2, "moderate", [](auto& params) {
    params.text = "## Shade\n\nleaves\n\n## Drains\n\npipes\n";
  }) == "ok");
  CHECK(play.names().contains("stage-3-section-2-arguments.v1.md"));
  CHECK(play.names().contains("stage-3-section-1-arguments.md"));
  Play other;
  other.reach(3);
  CHECK(other.revise(2, "moderate") == "params.affected: required when there is no text to compare");
  CHECK(other.revise(2, "moderate", [](auto& params) { params.affected = Names{"stage-1-thesis.md"}; }) ==
        "params.affected: \"stage-1-thesis.md\" is no artifact behind stage 2");
  CHECK(other.revise(2, "moderate", [](auto& params) { params.affected = Names{}; }) == "ok");
  CHECK(other.stages() == "cinn 2");
}

TEST_CASE("essay revise: a major change archives all that follows and starts anew") {
  Play play;
  play.reach(4);
  CHECK(play.revise(1, "major", [](auto& params) {
    params.claim_type = "explainer";
    params.text = "How trees drink.";
  }) == "ok");
  CHECK(play.names() == std::set<std::string>{"stage-1-development-log.md", "stage-1-thesis.md",
                                              "stage-1-thesis.v1.md", "stage-2-outline.v1.md",
                                              "stage-3-section-1-arguments.v1.md",
                                              "stage-3-section-2-arguments.v1.md", "stage-4-draft.v1.md",
                                              "stage-4-paragraph-log.v1.md", "voice-check-log.md"});
  CHECK(play.stages() == "innn 1");
  for (const int stage : {2, 3, 4})
    CHECK(to_json_text(essay::stage_of(play.document, stage)) == to_json_text(essay::blank_stage(stage)));
  CHECK(part(play.document, "/stages/stage_1/claim_type") == "\"explainer\"");
  CHECK(play.broken() == "");
  // A second time the next free version is taken.
  REQUIRE(play.thesis("How trees drink water.", "explainer") == "ok");
  REQUIRE(play.outline(1, "## Roots\n") == "ok");
  CHECK(play.revise(1, "major") == "ok");
  CHECK(part(play.document, "/revision_history/1/downstream_archived") == R"(["stage-2-outline.v2.md"])");
  CHECK(play.broken() == "");
}

TEST_CASE("essay revise: a section's arguments, and the draft") {
  Play play;
  play.reach(4);
  CHECK(play.revise(3, "minor", [](auto& params) { params.section = 2; }) == "ok");
  CHECK(play.stages() == "ccin 3");
  CHECK(essay::position(play.document, true) == "Stage 3, Section 2");
  CHECK(part(play.document, "/stages/stage_3/sections/1/status") == "\"in_progress\"");
  CHECK(play.approve().ends_with("section 2 is not completed"));
  CHECK(play.argue(2) == "ok");
  CHECK(play.approve() == "ok");
  CHECK(play.draft() == "ok");
  CHECK(play.revise(4, "minor", [](auto& params) { params.text = "## Shade\n\nNew.\n\n---\n"; }) == "ok");
  CHECK(play.contents["stage-4-draft.v1.md"].starts_with("## Shade\n\nParagraph 1"));
  CHECK(play.draft() == "ok");
  CHECK(play.finish() == "ok");
  CHECK(play.contents["final-essay.md"] == "## Shade\n\nNew.\n");
  CHECK(play.revise(1, "minor").ends_with("the session is completed"));
}

}  // namespace
}  // namespace sessiond
