// Level 2 of recovery: what each set of files amounts to.
#include "tests/kinds/essay_support.h"

namespace sessiond {
namespace {

using namespace essay_test;
using Contents = std::map<std::string, std::string>;

const std::string outline = "# Plan\n\n## First\n\n## Second\n\n## Third\n";
const std::string arguments_1 = "stage-3-section-1-arguments.md",
                  arguments_2 = "stage-3-section-2-arguments.md",
                  arguments_3 = "stage-3-section-3-arguments.md";

// "1c 2i ..." with the first letter of each stage's status, then the place.
std::string spelled(const Document& document) {
  std::string out;
  for (int stage = 1; stage <= 4; ++stage)
    out += string_or(essay::stage_of(document, stage), "status", "?").substr(0, 1);
  out += " at " + part(document, "/current_stage") +
         " s3:" + part(document, "/stages/stage_3/current_section") + "/" +
         part(document, "/stages/stage_3/total_sections") +
         " s4:" + part(document, "/stages/stage_4/current_section") + "." +
         part(document, "/stages/stage_4/current_paragraph") + " " + part(document, "/status");
  return out;
}

TEST_CASE("reconstruct: sets of files") {
  struct Row {
    std::string_view what;
    Contents contents;
    std::string_view expected;
  };
  const std::string p1 = "## First\n\none\n\ntwo\n", p1_done = p1 + "\n---\n";
  const Row rows[] = {
      {"thesis", {{"stage-1-thesis.md", "t"}}, R"(cinn at 2 s3:null/null s4:null.null "in_progress")"},
      {"outline",
       {{"stage-1-thesis.md", "t"}, {"stage-2-outline.md", outline}},
       R"(ccin at 3 s3:1/3 s4:null.null "in_progress")"},
      {"an outline without headings",
       {{"stage-1-thesis.md", "t"}, {"stage-2-outline.md", "text"}},
       R"(ccin at 3 s3:null/null s4:null.null "in_progress")"},
      {"one section argued",
       {{"stage-1-thesis.md", "t"}, {"stage-2-outline.md", outline}, {arguments_1, "a"}},
       R"(ccin at 3 s3:2/3 s4:null.null "in_progress")"},
      {"sections argued with a gap",
       {{"stage-1-thesis.md", "t"}, {"stage-2-outline.md", outline}, {arguments_1, "a"}, {arguments_3, "a"}},
       R"(ccin at 3 s3:2/3 s4:null.null "in_progress")"},
      {"all sections argued",
       {{"stage-1-thesis.md", "t"},
        {"stage-2-outline.md", outline},
        {arguments_1, "a"},
        {arguments_2, "a"},
        {arguments_3, "a"}},
       R"(ccci at 4 s3:3/3 s4:1.1 "in_progress")"},
      {"a draft in its first section",
       {{"stage-1-thesis.md", "t"},
        {"stage-2-outline.md", outline},
        {arguments_1, "a"},
        {arguments_2, "a"},
        {arguments_3, "a"},
        {"stage-4-draft.md", p1}},
       R"(ccci at 4 s3:3/3 s4:1.3 "in_progress")"},
      {"a draft between sections",
       {{"stage-1-thesis.md", "t"},
        {"stage-2-outline.md", outline},
        {arguments_1, "a"},
        {arguments_2, "a"},
        {arguments_3, "a"},
        {"stage-4-draft.md", p1_done}},
       R"(ccci at 4 s3:3/3 s4:2.1 "in_progress")"},
      {"a draft with an unfinished second section",
       {{"stage-1-thesis.md", "t"},
        {"stage-2-outline.md", outline},
        {arguments_1, "a"},
        {arguments_2, "a"},
        {arguments_3, "a"},
        {"stage-4-draft.md", p1_done + "\n## Second\n\none\n"}},
       R"(ccci at 4 s3:3/3 s4:2.2 "in_progress")"},
      {"a draft although not all sections are argued",
       {{"stage-1-thesis.md", "t"},
        {"stage-2-outline.md", outline},
        {arguments_1, "a"},
        {"stage-4-draft.md", p1}},
       R"(ccci at 4 s3:2/3 s4:1.3 "in_progress")"},
      {"a finished draft",
       {{"stage-1-thesis.md", "t"},
        {"stage-2-outline.md", "## First\n"},
        {arguments_1, "a"},
        {"stage-4-draft.md", p1_done}},
       R"(ccci at 4 s3:1/1 s4:1.2 "in_progress")"},
      {"a finished essay",
       {{"stage-1-thesis.md", "t"},
        {"stage-2-outline.md", "## First\n"},
        {arguments_1, "a"},
        {"stage-4-draft.md", p1_done},
        {"final-essay.md", "four words are here"}},
       R"(cccc at 4 s3:1/1 s4:1.2 "completed")"},
      {"kept versions do not count",
       {{"stage-1-thesis.md", "t"},
        {"stage-1-thesis.v1.md", "t"},
        {"stage-2-outline.v1.md", outline},
        {"stage-3-section-1-arguments.v2.md", "a"},
        {"stage-4-draft.v1.md", p1}},
       R"(cinn at 2 s3:null/null s4:null.null "in_progress")"},
      {"arguments without an outline",
       {{"stage-1-thesis.md", "t"}, {arguments_2, "a"}},
       R"(cnin at 2 s3:1/2 s4:null.null "in_progress")"},
      {"a draft of which an older version is kept, with one section open",
       {{"stage-1-thesis.md", "t"},
        {"stage-2-outline.md", outline},
        {"stage-2-outline.v1.md", "## Only\n"},
        {arguments_1, "a"},
        {arguments_2, "a"},
        {arguments_3, "a"},
        {"stage-3-section-4-arguments.v1.md", "a"},
        {"stage-4-draft.md", p1_done + "\n## Second\n\none\n\n---\n\n## Third\n\none\n\ntwo\n"},
        {"stage-4-draft.v3.md", p1}},
       R"(ccci at 4 s3:3/3 s4:3.3 "in_progress")"},
      {"a draft with fenced code that looks like headings and rules",
       {{"stage-1-thesis.md", "t"},
        {"stage-2-outline.md", outline},
        {arguments_1, "a"},
        {arguments_2, "a"},
        {arguments_3, "a"},
        {"stage-4-draft.md", "## First\n\none\n\n```\n## not one\n\n---\n```\n\nthree\n"}},
       R"(ccci at 4 s3:3/3 s4:1.4 "in_progress")"},
      {"only a draft", {{"stage-4-draft.md", p1}}, R"(nnci at 1 s3:1/1 s4:1.3 "in_progress")"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const auto document =
        essay::reconstruct(files(row.contents), "essay-pipeline-20260214-143022", minute(99));
    REQUIRE(document.ok());
    CHECK(spelled(*document) == row.expected);
    for (const std::string& rule : rules_of(essay::check(*document)))
      CHECK_MESSAGE(rule.starts_with("W"), rule);
    for (const std::string& rule : rules_of(essay::check_files(*document, files(row.contents))))
      CHECK_MESSAGE(false, rule);
  }
}

TEST_CASE("reconstruct: what the members say") {
  const auto document = essay::reconstruct(files({{"final-essay.md", "four words are here"},
                                                  {"stage-1-development-log.md", "x"},
                                                  {"stage-1-thesis.md", "t"},
                                                  {"stage-4-paragraph-log.md", "x"}}),
                                           "mine", minute(99));
  REQUIRE(document.ok());
  CHECK(part(*document, "/pipeline_id") == "\"essay-mine\"");
  CHECK(part(*document, "/started_at") == "\"2026-02-14T14:30:22Z\"");
  CHECK(part(*document, "/last_activity") == "\"2026-02-14T14:33:22Z\"");
  CHECK(part(*document, "/output/total_word_count") == "4");
  CHECK(part(*document, "/stages/stage_1/thesis_file") == "\"" + directory + "/stage-1-thesis.md\"");
  CHECK(part(*document, "/stages/stage_1/development_log") ==
        "\"" + directory + "/stage-1-development-log.md\"");
  CHECK(part(*document, "/stages/stage_2/status") == "\"needs_review\"");
}

TEST_CASE("reconstruct: without a file of a stage there is nothing to tell") {
  for (const Contents& contents :
       {Contents{}, Contents{{"notes.md", "x"}, {"stage-1-thesis.v1.md", "x"}},
        Contents{{"stage-3-section-x-arguments.md", "x"}}, Contents{{"stage-3-section-0-arguments.md", "x"}}})
    CHECK(!essay::reconstruct(files(contents), "x", minute(0)).ok());
}

}  // namespace
}  // namespace sessiond
