// The three levels of recovery of an essay, and directories that other tools left.
#include "tests/session/essay_support.h"

namespace sessiond {
namespace {

const std::string state = "session-state.yaml";
const std::string reconstructed =
    "Session state reconstructed from artifact files. Some metadata may be approximate.";

bool contains(const json::value& list, std::string_view text) {
  for (const json::value& item : list.as_array())
    if (item.as_string() == text) return true;
  return false;
}

// What another tool would have left: the directory without what is the daemon's own.
void make_foreign(const fs::path& place) {
  fs::remove(place / "history.jsonl");
  fs::remove(place / ".lock");
}

// Gives `key` another value in the part of the state file that follows `part`.
void set_value(const fs::path& file, const std::string& part, const std::string& key,
               const std::string& value) {
  std::string text = read_text(file);
  const std::size_t at = text.find(" " + key + ": ", text.find(part));
  REQUIRE(at != std::string::npos);
  const std::size_t from = at + key.size() + 3;
  text.replace(from, text.find('\n', from) - from, value);
  write_text(file, text);
}

}  // namespace

TEST_CASE("essay resume: every row of the validation table is reported, with the choices") {
  struct Row {
    std::string_view what;
    std::string missing;              // a file that is removed, or
    std::array<std::string, 3> edit;  // part, key and value in the state file
    std::string_view rule, path;
    std::size_t count = 1;
  };
  const Row rows[] = {
      {"a completed stage's file", "stage-1-thesis.md", {}, "stage_artifact", "/stages/stage_1/thesis_file"},
      {"a completed section's map",
       "stage-3-section-2-arguments.md",
       {},
       "section_artifact",
       "/stages/stage_3/sections/1/argument_map_file"},
      {"current_section",
       "",
       {"stage_3:", "current_section", "9"},
       "current_section",
       "/stages/stage_3/current_section"},
      {"current_paragraph",
       "",
       {"stage_4:", "current_paragraph", "7"},
       "current_paragraph",
       "/stages/stage_4/current_paragraph"},
      {"a referenced file", "stage-4-paragraph-log.md", {}, "file_path", "/stages/stage_4/paragraph_log"},
      {"a prerequisite",
       "",
       {"stage_1:", "status", "\"not_started\""},
       "status_consistency",
       "/stages/stage_2/status",
       3},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    Essays first;
    const std::string id = "essay-pipeline-1";
    first.write_essay(id, 4);
    make_foreign(first.place(id));
    if (!row.missing.empty()) fs::remove(first.place(id) / row.missing);
    if (row.missing.empty()) set_value(first.place(id) / state, row.edit[0], row.edit[1], row.edit[2]);
    Essays s(first.state_dir);
    const json::object resumed = s.result("session.resume", Essays::of(id));
    const json::array& found = resumed.at("context").at("discrepancies").as_array();
    REQUIRE(found.size() == row.count);
    CHECK(text_of(found[0].at("rule")) == row.rule);
    CHECK(text_of(found[0].at("path")) == row.path);
    CHECK(text_of(found[0].at("severity")) == "error");
    CHECK(resumed.at("context").at("choices").as_array().size() == 4);
    CHECK(text_of(resumed.at("message"))
              .ends_with(std::to_string(row.count) + " discrepancies: see context.choices"));
    CHECK(text_of(resumed.at("text")).find("Discrepancy: " + std::string(row.path)) != std::string::npos);
  }
}

TEST_CASE("essay recovery, level 1: the backup takes the place of an unreadable state file") {
  TempDir root;
  {
    Essays s;
    s.write_essay("essay-pipeline-1", 3);
    s.ok("essay.plan_section", "essay-pipeline-1", R"("section":1,"total_paragraphs":2)");
    fs::copy(s.place("essay-pipeline-1"), root.path() + "/essay-pipeline-1");
  }
  const fs::path place = root.path() + "/essay-pipeline-1";
  make_foreign(place);
  write_text(place / state, "pipeline_id: \"torn");
  Essays s;
  CHECK(s.result("root.add", R"({"path":")" + root.path() + R"(","kind":"essay","name":"old"})")
            .at("problems") == 1);
  const json::object got = s.result("session.get", Essays::of("essay-pipeline-1"));
  CHECK(contains(got.at("session").at("warnings"),
                 "Session state recovered from backup. Last state update may be lost."));
  const std::string id = "essay-pipeline-1";
  CHECK(s.last_command(id) == "session.recovered");
  CHECK(s.history(id).back().at("arguments").at("level") == 1);
  // The unreadable file is kept, and both the state file and its backup are good.
  CHECK(fs::exists(place / "quarantine"));
  for (const std::string& name : {state, state + ".bak"})
    CHECK(read_text(place / name).find("\ncurrent_stage: 4\n") != std::string::npos);
}

TEST_CASE("essay recovery, level 2: from the artifacts, in every stage") {
  struct Row {
    int stage;
    std::string_view expected;
  };
  const Row rows[] = {
      {1, "Stage 2"}, {2, "Stage 3, Section 1"}, {3, "Stage 4, Section 1"}, {4, "Stage 4, Section 2"}};
  for (const Row& row : rows) {
    CAPTURE(row.stage);
    Essays first;
    const std::string id = "essay-pipeline-20260214-143022";
    first.write_essay(id, row.stage);
    make_foreign(first.place(id));
    write_text(first.place(id) / state, "\tnot: yaml: at all");
    write_text(first.place(id) / (state + ".bak"), "[1, 2");
    Essays s(first.state_dir);
    const json::object listed =
        s.result("session.list", R"({"kind":"essay"})").at("sessions").at(0).as_object();
    CHECK(text_of(listed.at("position")) == row.expected);
    CHECK(text_of(listed.at("problem")).ends_with("; told from its artifact files"));
    const json::object got = s.result("session.get", Essays::of(id));
    CHECK(contains(got.at("session").at("warnings"), reconstructed));
    CHECK(got.at("session").at("revision") == 1);
    CHECK(s.last_command(id) == "session.recovered");
    CHECK(s.history(id).back().at("arguments").at("level") == 2);
    CHECK(s.result("session.validate", Essays::of(id)).at("valid") == true);
    // Both damaged originals are kept, and the state file is good again.
    std::size_t kept = 0;
    for (const auto& entry : fs::directory_iterator(s.place(id) / "quarantine"))
      kept += entry.exists() ? 1 : 0;
    CHECK(kept == 2);
    CHECK(s.file(id, state).find("current_stage: ") != std::string::npos);
    CHECK(s.member(id, "/session_dir") == "\"" + s.place(id).string() + "\"");
    // And work goes on, in this daemon and the next.
    s.ok("essay.set_pushback", id, R"("level":"light")");
    Essays next(first.state_dir);
    CHECK(next.revision(id) == 2);
    CHECK(next.history(id).size() == 2);
  }
}

TEST_CASE("essay recovery, level 2: a directory of which only the artifacts are left is found by its name") {
  Essays first;
  for (const std::string id : {"essay-pipeline-1", "other"}) {
    first.write_essay(id, 2);
    make_foreign(first.place(id));
    fs::remove(first.place(id) / state);
    fs::remove(first.place(id) / (state + ".bak"));
  }
  Essays s(first.state_dir);
  const json::object found = s.result("session.list", R"({"kind":"essay"})");
  REQUIRE(found.at("total") == 1);
  CHECK(text_of(found.at("sessions").at(0).at("session_id")) == "essay-pipeline-1");
  CHECK(text_of(found.at("sessions").at(0).at("problem")) ==
        "session-state.yaml is missing; told from its artifact files");
  s.ok("essay.complete_section", "essay-pipeline-1", R"("section":1,"text":"a")");
  CHECK(s.member("essay-pipeline-1", "/stages/stage_1/status") == "\"completed\"");
}

TEST_CASE("essay recovery, level 2: a damaged history is never cut for it") {
  Essays first;
  const std::string id = "essay-pipeline-1";
  first.write_essay(id, 2);
  const fs::path place = first.place(id);
  std::string history = read_text(place / "history.jsonl");
  history[20] ^= 1;  // the first line has the only whole document
  write_text(place / "history.jsonl", history);
  write_text(place / state, "{");
  write_text(place / (state + ".bak"), "{");
  Essays s(first.state_dir);
  const json::object got = s.result("session.get", Essays::of(id));
  CHECK(contains(got.at("session").at("warnings"), reconstructed));
  CHECK(s.outcome("essay.set_pushback", Essays::of(id, R"("level":"light")")) == "read_only");
  CHECK(read_text(place / "history.jsonl") == history);
  const json::object recovered = s.result("session.recover", Essays::of(id, R"("from":"artifacts")"));
  CHECK(text_of(recovered.at("message")) == reconstructed);
  CHECK(recovered.at("recovery").at("level") == 2);
  s.ok("essay.set_pushback", id, R"("level":"light")");
  Essays next(first.state_dir);
  CHECK(next.member(id, "/pushback_level") == "\"light\"");
}

TEST_CASE("essay recovery, level 3: what is there is listed, and the user says where to go on") {
  Essays first;
  const std::string id = "essay-pipeline-1";
  first.write_essay(id, 0);
  const fs::path place = first.place(id);
  make_foreign(place);
  write_text(place / state, "{");
  write_text(place / "notes.md", "ideas");
  Essays s(first.state_dir);
  const json::object failed = s.error("session.get", Essays::of(id));
  CHECK(text_of(failed.at("message")).starts_with("Session state could not be automatically recovered."));
  CHECK(failed.at("data").at("level") == 3);
  CHECK(contains(failed.at("data").at("files"), "notes.md"));
  CHECK(s.refusal("session.recover", id, R"("from":"artifacts")") == "no file of an essay's stages is there");
  CHECK(s.refusal("session.recover", id, R"("from":"fresh")").starts_with("params.directions: required"));
  CHECK(s.refusal("session.recover", id, R"("from":"fresh","directions":{"stage":5})") ==
        "params.directions.stage: expected a whole number from 1 to 4");
  CHECK(s.refusal("session.recover", id, R"("from":"fresh","directions":{"chapter":1})") ==
        "params.directions.chapter: expected stage, section, paragraph, total_sections, or a whole document");
  const json::object recovered = s.result(
      "session.recover",
      Essays::of(id,
                 R"("from":"fresh","directions":{"stage":4,"section":2,"paragraph":3,"total_sections":4})"));
  CHECK(recovered.at("recovery").at("level") == 3);
  CHECK(text_of(s.result("session.context", Essays::of(id)).at("context").at("position")) ==
        "Stage 4, Section 2, Paragraph 3");
  CHECK(s.member(id, "/stages/stage_1/status") == "\"needs_review\"");
  CHECK(s.member(id, "/stages/stage_4/sections/0/status") == "\"completed\"");
  CHECK(s.result("session.validate", Essays::of(id)).at("valid") == true);
}

TEST_CASE("essay: directories that another tool made are found through a root, comments and all") {
  TempDir root;
  const fs::path place = root.path() + "/essay-pipeline-20260212-091500";
  fs::create_directory(place);
  fs::create_directory(root.path() + "/something-else");
  write_text(root.path() + "/something-else/final-essay.md", "not one of ours");
  write_text(place / "stage-1-thesis.md", "Trees.");
  const std::string text = R"(# Session Identity
pipeline_id: "essay-7f3a"
started_at: "2026-01-15T09:15:00Z"
last_activity: "2026-01-15T14:30:00Z"
status: in_progress  # in_progress | paused | completed | abandoned

# Configuration
style_profile_path: null
samples_dir_path:
pushback_level: full
session_dir: ")" + place.string() +
                           R"(/"
current_stage: 2  # 1-4
current_stage_name: essay_structuring
stages:
  stage_1:
    status: completed
    thesis_file: ")" + place.string() +
                           R"(/stage-1-thesis.md"
    development_log: null
    claim_type: argument
    completed_at: "2026-01-15T10:00:00Z"
  # Stage 2: Essay Structuring
  stage_2: {status: in_progress, outline_file: null, total_sections: null, target_word_count: 1500, audience: general, completed_at: null}
  stage_3:
    status: not_started
    sections:
      # - section_index: 1
    birds_eye_approved: false
  stage_4:
    status: not_started
    sections:
deferred_verifications: []
my_own_note: keep me
)";
  write_text(place / state, text);
  Essays s;
  const json::object added =
      s.result("root.add", R"({"path":")" + root.path() + R"(","kind":"essay","name":"tmp"})");
  CHECK(added.at("sessions") == 1);
  CHECK(added.at("problems") == 0);
  CHECK(text_of(s.result("session.list", R"({"root":"tmp"})").at("text")) ==
        "Sessions found:\n1. essay-pipeline-20260212-091500 -- Stage 2 -- Last active: 2 days ago\n");
  const std::string id = "essay-pipeline-20260212-091500";
  CHECK(s.result("session.validate", Essays::of(id)).at("valid") == true);
  CHECK(read_text(place / state) == text);
  CHECK(!fs::exists(place / "history.jsonl"));
  // The first change writes the state file anew, in the schema's order; the file of before is the backup.
  s.ok("essay.complete_outline", id, R"("total_sections":1,"text":"## A\n")");
  CHECK(read_text(place / (state + ".bak")) == text);
  const std::string now = read_text(place / state);
  CHECK(now.starts_with("pipeline_id: \"essay-7f3a\"\nstarted_at: \"2026-01-15T09:15:00Z\"\n"));
  CHECK(now.ends_with("my_own_note: \"keep me\"\n"));
  CHECK(now.find("target_word_count: 1500\n") != std::string::npos);
  CHECK(s.member(id, "/session_dir") == "\"" + place.string() + "/\"");
  CHECK(s.member(id, "/stages/stage_2/outline_file") == "\"" + place.string() + "/stage-2-outline.md\"");
}

}  // namespace sessiond
