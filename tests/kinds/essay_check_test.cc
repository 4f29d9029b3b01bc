// Every row of the specification's validation table, the schema's values, and files of other tools.
#include "common/yaml.h"
#include "common/yaml_writer.h"
#include "tests/kinds/essay_support.h"

namespace sessiond {
namespace {

using namespace essay_test;

const std::map<std::string, std::string> whole{{"stage-1-thesis.md", "t"},
                                               {"stage-2-outline.md", "## A\n## B\n"},
                                               {"stage-3-section-1-arguments.md", "a"},
                                               {"stage-3-section-2-arguments.md", "b"},
                                               {"stage-4-draft.md", "## A\n\none\n\n---\n\n## B\n\none\n"}};

Document good() {
  auto made = essay::reconstruct(files(whole), "essay-pipeline-20260214-143022", minute(0));
  REQUIRE(made.ok());
  return *made;
}

Document changed(std::string_view changes) {
  json::value document = good();
  const auto patch = parse_json(changes);
  REQUIRE(patch.ok());
  const Status applied = apply_json_patch(document, patch->get_array());
  REQUIRE(applied.ok());
  return document.get_object();
}

TEST_CASE("essay check: a good document has nothing to report") {
  CHECK(rules_of(essay::check(good())).empty());
  CHECK(rules_of(essay::check_files(good(), files(whole))).empty());
  CHECK(rules_of(essay::check(essay::blank_document("essay-1", "/x", minute(0)))).empty());
}

TEST_CASE("essay check: every rule of the document") {
  struct Row {
    std::string_view changes, expected;
  };
  const Row rows[] = {
      {R"([{"op":"replace","path":"/stages/stage_1/thesis_file","value":null}])",
       "E stage_artifact /stages/stage_1/thesis_file"},
      {R"([{"op":"replace","path":"/stages/stage_2/outline_file","value":null}])",
       "E stage_artifact /stages/stage_2/outline_file"},
      {R"([{"op":"replace","path":"/stages/stage_4/status","value":"completed"},
           {"op":"replace","path":"/stages/stage_4/draft_file","value":null}])",
       "E stage_artifact /stages/stage_4/draft_file"},
      {R"([{"op":"replace","path":"/stages/stage_3/sections/1/argument_map_file","value":null}])",
       "E section_artifact /stages/stage_3/sections/1/argument_map_file"},
      {R"([{"op":"replace","path":"/stages/stage_3/current_section","value":3}])",
       "E current_section /stages/stage_3/current_section"},
      {R"([{"op":"replace","path":"/stages/stage_3/current_section","value":0}])",
       "E current_section /stages/stage_3/current_section"},
      {R"([{"op":"replace","path":"/stages/stage_4/current_paragraph","value":3}])",
       "E current_paragraph /stages/stage_4/current_paragraph"},
      {R"([{"op":"replace","path":"/stages/stage_4/current_paragraph","value":0}])",
       "E current_paragraph /stages/stage_4/current_paragraph"},
      {R"([{"op":"replace","path":"/stages/stage_1/status","value":"not_started"},
           {"op":"replace","path":"/stages/stage_3/status","value":"in_progress"}])",
       "E status_consistency /stages/stage_2/status"},
      {R"([{"op":"replace","path":"/status","value":"running"}])", "E value /status"},
      {R"([{"op":"replace","path":"/pushback_level","value":"none"}])", "E value /pushback_level"},
      {R"([{"op":"replace","path":"/current_stage","value":5}])", "E current_stage /current_stage"},
      {R"([{"op":"replace","path":"/current_stage_name","value":"x"}])",
       "W current_stage_name /current_stage_name"},
      {R"([{"op":"replace","path":"/stages/stage_1/claim_type","value":"rant"}])",
       "E value /stages/stage_1/claim_type"},
      {R"([{"op":"replace","path":"/stages/stage_2/audience","value":"all"}])",
       "E value /stages/stage_2/audience"},
      {R"([{"op":"replace","path":"/stages/stage_2/status","value":"done"}])",
       "E value /stages/stage_2/status"},
      {R"([{"op":"replace","path":"/stages/stage_3/sections/0/section_index","value":2}])",
       "E section_index /stages/stage_3/sections/0/section_index"},
      {R"([{"op":"replace","path":"/stages/stage_3/birds_eye_approved","value":false}])",
       "W birds_eye /stages/stage_3/birds_eye_approved"},
      {R"([{"op":"replace","path":"/voice_calibration/first_assessment_user_rating","value":6}])",
       "E range /voice_calibration/first_assessment_user_rating"},
      {R"([{"op":"replace","path":"/started_at","value":"yesterday"}])", "W time_format /started_at"},
      {R"([{"op":"replace","path":"/started_at","value":"2026-02-14T14:30:22"}])",
       "W time_naive /started_at"},
      {R"([{"op":"replace","path":"/user_overrides","value":"x"}])", "E type /user_overrides"},
      {R"([{"op":"replace","path":"/style_profile_path","value":7}])", "E type /style_profile_path"},
      {R"([{"op":"replace","path":"/pipeline_id","value":null}])", "E required /pipeline_id"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.changes);
    CHECK(rules_of(essay::check(changed(row.changes))) ==
          std::vector<std::string>{std::string(row.expected)});
  }
}

TEST_CASE("essay check: every file that the document names must exist") {
  struct Row {
    std::string_view missing, expected;
  };
  const Row rows[] = {
      {"stage-1-thesis.md", "E stage_artifact /stages/stage_1/thesis_file"},
      {"stage-2-outline.md", "E stage_artifact /stages/stage_2/outline_file"},
      {"stage-3-section-2-arguments.md", "E section_artifact /stages/stage_3/sections/1/argument_map_file"},
      {"stage-4-draft.md", "E file_path /stages/stage_4/draft_file"},
  };
  const Document document = good();
  for (const Row& row : rows) {
    CAPTURE(row.missing);
    auto left = whole;
    left.erase(std::string(row.missing));
    CHECK(rules_of(essay::check_files(document, files(left))) ==
          std::vector<std::string>{std::string(row.expected)});
  }
  Artifacts moved = files(whole);
  moved.directory = "/elsewhere";
  CHECK(rules_of(essay::check_files(document, moved)) ==
        std::vector<std::string>{"W session_dir /session_dir"});
}

TEST_CASE("essay import: the schema's own form, comments and sections without a value") {
  const auto parsed = parse_yaml(R"(# Session Identity
pipeline_id: "essay-1"
started_at: "2026-02-14T14:30:22Z"
last_activity: "2026-02-14T14:30:22Z"
status: "in_progress"  # in_progress | paused | completed | abandoned
style_profile_path: "/p"
samples_dir_path: null
pushback_level: "full"
session_dir: "/tmp/essay-pipeline-1"
current_stage: 1  # 1-4
current_stage_name: "thesis_development"
stages:
  stage_1:
    status: "not_started"
    thesis_file: null
    development_log: null
    claim_type: null
    completed_at: null
  stage_2: {status: not_started, outline_file: null, total_sections: null, target_word_count: null, audience: null, completed_at: null}
  stage_3:
    status: "not_started"
    total_sections: null
    current_section: null
    sections:
      # Populated dynamically based on outline
    birds_eye_approved: false
    completed_at: null
  stage_4:
    status: "not_started"
    current_section: null
    current_paragraph: null
    draft_file: null
    paragraph_log: null
    sections:
    completed_at: null
mood: "good"
voice_calibration: {first_assessment_user_rating: null, calibration_notes: null, voice_reference_mode: profile}
deferred_verifications: []
user_overrides: []
output: {final_essay_file: null, sources_verified: null, voice_consistency_score: null, total_word_count: null, completed_at: null}
)");
  REQUIRE(parsed.ok());
  std::vector<Discrepancy> warnings;
  const auto document = essay::import_document(*parsed, warnings);
  REQUIRE(document.ok());
  CHECK(rules_of(warnings) == std::vector<std::string>{"W missing /revision_history"});
  CHECK(rules_of(essay::check(*document)).empty());
  CHECK(part(*document, "/stages/stage_3/sections") == "[]");
  CHECK(part(*document, "/stages/stage_4/sections") == "[]");
  CHECK(part(*document, "/mood") == "\"good\"");
  CHECK(std::prev(document->end())->key() == "mood");
  const auto again = parse_yaml(to_yaml_text(*document));
  REQUIRE(again.ok());
  CHECK(to_json_text(*again) == to_json_text(*document));
}

TEST_CASE("essay import: what is no essay is refused") {
  std::vector<Discrepancy> warnings;
  for (const std::string_view text :
       {"null", "[]", "{}", R"({"stages":[]})", R"({"stages":{},"current_stage":9})"}) {
    CAPTURE(text);
    CHECK(!essay::import_document(*parse_json(text), warnings).ok());
  }
}

}  // namespace
}  // namespace sessiond
