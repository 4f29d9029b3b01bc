// A whole essay through the dispatcher, files and all.
#include <doctest/doctest.h>

#include <filesystem>

#include "support/test_dispatcher.h"

using namespace sessiond;

namespace {

std::string with(const std::string& id, const std::string& more = "") {
  return R"({"session_id":")" + id + "\"" + (more.empty() ? "" : "," + more) + "}";
}

std::string text_of(TestDispatcher& daemon, const std::string& id, const std::string& name) {
  return std::string(
      daemon.result("artifact.get", with(id, R"("name":")" + name + "\"")).at("text").as_string());
}

}  // namespace

TEST_CASE("essay: from the thesis to the final text") {
  TestDispatcher daemon;
  const json::object made = daemon.result("essay.create");
  const std::string id(made.at("session").at("session_id").as_string());
  CHECK(id.starts_with("essay-pipeline-"));
  CHECK(daemon.result("essay.create").at("session").at("session_id").as_string() == id + "-2");
  CHECK(daemon.error("essay.complete_thesis", with(id, R"("claim_type":"argument")"))
            .at("message")
            .as_string() == "stage-1-thesis.md does not exist");
  daemon.result("essay.complete_thesis",
                with(id, R"("claim_type":"argument","text":"Trees.","log":"talked")"));
  daemon.result("essay.complete_outline", with(id, R"("total_sections":1,"text":"## Shade\n")"));
  const std::string paused(daemon.result("session.pause", with(id)).at("message").as_string());
  CHECK(paused ==
        "Session paused at [Stage 3, Section 1]. To resume, invoke essay-pipeline and select this session.");
  const json::object resumed = daemon.result("session.resume", with(id));
  CHECK(resumed.at("message").as_string().starts_with("Resuming at [Stage 3]. Here's where you left off: "));
  CHECK(resumed.at("context").at("discrepancies").as_array().empty());
  CHECK(daemon.error("essay.approve_birds_eye", with(id)).at("message").as_string() ==
        "Cannot approve the bird's-eye view, section 1 is not completed");
  daemon.result("essay.start_section", with(id, R"("section":1)"));
  daemon.result("essay.complete_section", with(id, R"("section":1,"verified_claims":2,"text":"map")"));
  daemon.result("essay.approve_birds_eye", with(id));
  daemon.result("essay.plan_section", with(id, R"("section":1,"total_paragraphs":2)"));
  daemon.result("essay.complete_paragraph", with(id, R"("section":1,"paragraph":1,"text":"One two.")"));
  CHECK(daemon.error("essay.complete_draft", with(id)).at("message").as_string() ==
        "Cannot complete the draft, section 1 is not completed");
  daemon.result("essay.complete_paragraph",
                with(id, R"("section":1,"paragraph":2,"text":"Three.","voice_check_score":80)"));
  CHECK(text_of(daemon, id, "stage-4-draft.md") == "## Shade\n\nOne two.\n\nThree.\n\n---\n");
  daemon.result("essay.defer_verification", with(id, R"("claim_text":"x","section":1,"reason":"timeout")"));
  daemon.result("essay.complete_draft", with(id));
  CHECK(daemon.error("essay.finish", with(id)).at("message").as_string() ==
        "Cannot finish, deferred verifications are open: 0 (x)");
  daemon.result("essay.finish", with(id, R"("waive":[0])"));
  CHECK(text_of(daemon, id, "final-essay.md") == "## Shade\n\nOne two.\n\nThree.\n");
  const json::object whole = daemon.result("session.get", with(id));
  CHECK(whole.at("document").at("output").at("total_word_count") == 4);
  CHECK(whole.at("document").at("output").at("sources_verified") == 2);
  CHECK(whole.at("session").at("status") == "completed");
  CHECK(daemon.result("session.validate", with(id)).at("valid") == true);
  CHECK(daemon.error("essay.set_pushback", with(id, R"("level":"light")")).at("code") == -32016);
}

TEST_CASE("essay: a missing file is reported on resume, with the choices") {
  TestDispatcher daemon;
  daemon.result("essay.create", with("mine"));
  daemon.result("essay.complete_thesis", with("mine", R"("claim_type":"hybrid","text":"t")"));
  daemon.result("session.pause", with("mine"));
  std::filesystem::remove(daemon.directory.path() + "/roots/essay/mine/stage-1-thesis.md");
  const json::object resumed = daemon.result("session.resume", with("mine"));
  CHECK(resumed.at("context").at("discrepancies").at(0).at("message") == "stage-1-thesis.md does not exist");
  CHECK(resumed.at("context").at("choices").as_array().size() == 4);
  CHECK(daemon.result("session.validate", with("mine")).at("valid") == false);
}
