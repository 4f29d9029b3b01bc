// Essays through the dispatcher: creating, listing, revising and its undo, forks, files that are missing.
#include "tests/session/essay_support.h"

namespace sessiond {

TEST_CASE("essay.create: the same key answers as the first did, also after a restart") {
  Essays s;
  const std::string key = R"({"idempotency_key":"k-1"})";
  const json::object first = s.result("essay.create", key);
  const std::string id = text_of(first.at("session").at("session_id"));
  CHECK(id == "essay-pipeline-20260117-143000");
  s.ok("essay.complete_thesis", id, R"("claim_type":"argument","text":"t")");
  s.clock.advance(Millis(5'000));
  CHECK(s.result("essay.create", key) == first);
  Essays next(s.state_dir);
  next.clock.advance(Millis(50'000));
  CHECK(next.result("essay.create", key) == first);
  CHECK(next.result("session.list").at("total") == 1);
  const json::object other = next.result("essay.create", R"({"idempotency_key":"k-2"})");
  CHECK(text_of(other.at("session").at("session_id")) == "essay-pipeline-20260117-143050");
  const std::string named = R"({"session_id":"mine","idempotency_key":"k-3"})";
  CHECK(next.result("essay.create", named) == next.result("essay.create", named));
  CHECK(next.outcome("essay.create", R"({"session_id":"mine"})") == "already_exists");
}

TEST_CASE("essay.create: the same key at the same time makes one essay") {
  Essays s;
  std::string frame = "[";
  for (int i = 0; i < 8; ++i)
    frame += std::string(i == 0 ? "" : ",") + R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
             R"(,"method":"essay.create","params":{"idempotency_key":"k"}})";
  const json::value replies = *parse_json(s.ask(frame + "]"));
  REQUIRE(replies.as_array().size() == 8);
  for (const json::value& reply : replies.as_array()) CHECK(reply.at("result") == replies.at(0).at("result"));
  CHECK(s.result("session.list").at("total") == 1);
}

TEST_CASE("essays of one second get names of their own") {
  Essays s;
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(text_of(s.result("essay.create").at("session").at("session_id")));
  CHECK(ids == std::vector<std::string>{"essay-pipeline-20260117-143000", "essay-pipeline-20260117-143000-2",
                                        "essay-pipeline-20260117-143000-3"});
  for (const std::string& id : ids) CHECK(s.member(id, "/session_dir") == "\"" + s.place(id).string() + "\"");
}

TEST_CASE("the list of sessions says where each stands and when it was last active") {
  Essays s;
  CHECK(text_of(s.result("session.list").at("text")) == "No sessions found.\n");
  s.write_essay("essay-pipeline-20260212-091500", 3);
  s.clock.advance(Millis(46LL * 3'600'000));
  s.write_essay("essay-pipeline-20260214-143022", 2);
  s.ok("essay.complete_section", "essay-pipeline-20260214-143022", R"("section":1,"text":"a")");
  s.clock.advance(Millis(2LL * 3'600'000));
  CHECK(text_of(s.result("session.list").at("text")) ==
        "Sessions found:\n"
        "1. essay-pipeline-20260214-143022 -- Stage 3, Section 2 -- Last active: 2 hours ago\n"
        "2. essay-pipeline-20260212-091500 -- Stage 4, Section 1 -- Last active: 2 days ago\n");
}

TEST_CASE("essay.revise: proposed, confirmed for that revision only, and undone with its files") {
  Essays s;
  const std::string id = "mine";
  s.write_essay(id, 4);
  const std::string change = R"("stage":1,"claim_type":"explainer","text":"How trees drink.")";
  const std::string document = to_json_text(s.document(id));
  const std::int64_t revision = s.revision(id);
  const json::object proposed = s.result("essay.assess_impact", Essays::of(id, change));
  CHECK(text_of(proposed.at("impact")) == "major");
  CHECK(proposed.at("revision") == revision);
  CHECK(proposed.at("archive").as_array().size() == 5);
  CHECK(to_json_text(s.document(id)) == document);
  const std::string confirm = change + R"(,"impact":"major","reason":"another aim")";
  CHECK(s.refusal("essay.revise", id, confirm).starts_with("params.if_revision: required"));
  CHECK(s.outcome("essay.revise",
                  Essays::of(id, confirm + ",\"if_revision\":" + std::to_string(revision - 1))) ==
        "revision_conflict");
  const json::object revised =
      s.result("essay.revise", Essays::of(id, confirm + ",\"if_revision\":" + std::to_string(revision)));
  CHECK(revised.at("archived").as_array().size() == 5);
  CHECK(revised.at("current_stage") == 1);
  CHECK(s.file(id, "stage-1-thesis.md") == "How trees drink.");
  CHECK(s.file(id, "stage-1-thesis.v1.md") == "Trees cool cities.");
  CHECK(!s.has(id, "stage-2-outline.md"));
  CHECK(s.has(id, "stage-2-outline.v1.md"));
  CHECK(s.result("session.validate", Essays::of(id)).at("valid") == true);

  const json::object back =
      s.result("session.revert", Essays::of(id, "\"revision\":" + std::to_string(revision)));
  CHECK(text_of(back.at("message")).ends_with("Its files are back as well."));
  CHECK(to_json_text(s.document(id)) == document);
  CHECK(s.file(id, "stage-1-thesis.md") == "Trees cool cities.");
  CHECK(s.file(id, "stage-2-outline.md") == "## Shade\n\nleaves\n\n## Water\n\nroots\n");
  CHECK(s.file(id, "stage-3-section-2-arguments.md") == "two");
  CHECK(s.file(id, "stage-4-draft.md") == "## Shade\n\nText of 1.\n\n---\n\n## Water\n\nText of 2.\n\n---\n");
  CHECK(s.result("session.validate", Essays::of(id)).at("valid") == true);
  s.ok("essay.finish", id);
  // And forward again: the revised one is a revision like any other.
  s.ok("session.revert", id, "\"revision\":" + std::to_string(revision + 1));
  CHECK(s.file(id, "stage-1-thesis.md") == "How trees drink.");
  CHECK(!s.has(id, "stage-4-draft.md"));
  CHECK(!s.has(id, "final-essay.md"));
  CHECK(s.has(id, "final-essay.v1.md"));
}

TEST_CASE("session.revert takes paragraphs out of the draft, and leaves the logs alone") {
  Essays s;
  const std::string id = "mine";
  s.write_essay(id, 3);
  s.ok("essay.complete_paragraph", id, R"("section":1,"paragraph":1,"text":"One.")");
  const std::int64_t revision = s.revision(id);
  s.ok("essay.complete_paragraph", id, R"("section":1,"paragraph":2,"text":"Two.")");
  s.ok("essay.complete_paragraph", id, R"("section":1,"paragraph":3,"text":"Three.")");
  const std::string log = s.file(id, "stage-4-paragraph-log.md");
  s.ok("session.revert", id, "\"revision\":" + std::to_string(revision));
  CHECK(s.file(id, "stage-4-draft.md") == "## Shade\n\nOne.\n");
  CHECK(s.file(id, "stage-4-draft.v1.md") == "## Shade\n\nOne.\n\nTwo.\n\nThree.\n");
  CHECK(s.file(id, "stage-4-paragraph-log.md") == log);
  s.ok("essay.complete_paragraph", id, R"("section":1,"paragraph":2,"text":"Other.")");
  CHECK(s.file(id, "stage-4-draft.md") == "## Shade\n\nOne.\n\nOther.\n");
  // To before there was a draft.
  s.ok("session.revert", id, "\"revision\":" + std::to_string(revision - 1));
  CHECK(!s.has(id, "stage-4-draft.md"));
}

TEST_CASE("session.revert names a file whose content nobody kept") {
  Essays s;
  const std::string id = "mine";
  s.write_essay(id, 3);
  s.ok("essay.complete_paragraph", id, R"("section":1,"paragraph":1,"text":"One.")");
  const std::int64_t revision = s.revision(id);
  s.ok("essay.complete_paragraph", id, R"("section":1,"paragraph":2,"text":"Two.")");
  write_text(s.place(id) / "stage-4-draft.md", "rewritten by hand, from the first word on");
  const json::object back =
      s.result("session.revert", Essays::of(id, "\"revision\":" + std::to_string(revision)));
  CHECK(text_of(back.at("message")).ends_with("These could not be brought back: stage-4-draft.md."));
  CHECK(s.file(id, "stage-4-draft.md") == "rewritten by hand, from the first word on");
}

TEST_CASE("session.fork takes the artifacts along, as they were at that revision") {
  Essays s;
  s.write_essay("mine", 4);
  const std::int64_t revision = s.revision("mine");
  s.ok("essay.revise", "mine",
       R"("stage":2,"impact":"major","reason":"r","text":"## New\n","if_revision":)" +
           std::to_string(revision));
  s.ok("session.fork", "mine", R"("new_session_id":"now")");
  CHECK(s.file("now", "stage-2-outline.md") == "## New\n");
  CHECK(s.has("now", "stage-4-draft.v1.md"));
  CHECK(!s.has("now", "stage-4-draft.md"));
  s.ok("session.fork", "mine", R"("new_session_id":"then","revision":)" + std::to_string(revision));
  CHECK(s.file("then", "stage-2-outline.md") == "## Shade\n\nleaves\n\n## Water\n\nroots\n");
  CHECK(s.file("then", "stage-4-draft.md") ==
        "## Shade\n\nText of 1.\n\n---\n\n## Water\n\nText of 2.\n\n---\n");
  CHECK(s.member("then", "/stages/stage_4/draft_file") ==
        "\"" + s.place("then").string() + "/stage-4-draft.md\"");
  for (const std::string id : {"now", "then"})
    CHECK(s.result("session.validate", Essays::of(id)).at("valid") == true);
  s.ok("essay.finish", "then");
}

TEST_CASE("the writer's own files are looked for where the document says") {
  Essays s;
  const std::string profile = s.state_dir + "/profile.md";
  write_text(profile, "style");
  s.ok("essay.create", "mine",
       R"("style_profile_path":")" + profile + R"(","samples_dir_path":")" + s.state_dir + "\"");
  CHECK(s.result("session.validate", Essays::of("mine")).at("valid") == true);
  fs::remove(profile);
  s.ok("session.pause", "mine");
  const json::object resumed = s.result("session.resume", Essays::of("mine"));
  CHECK(text_of(resumed.at("context").at("discrepancies").at(0).at("path")) == "/style_profile_path");
  CHECK(text_of(resumed.at("text")).find("Discrepancy: /style_profile_path: " + profile) !=
        std::string::npos);
  CHECK(s.result("session.resume", Essays::of("mine", R"("skip_verify":true)"))
            .at("context")
            .as_object()
            .contains("discrepancies") == false);
}

TEST_CASE("an essay that was imported elsewhere follows its directory") {
  Essays s;
  s.write_essay("mine", 2);
  const std::string bundle = s.state_dir + "/mine.tar";
  CHECK(s.outcome("session.export", Essays::of("mine", R"("path":")" + bundle + "\"")) == "ok");
  Essays other;
  CHECK(other.outcome("session.import", R"({"path":")" + bundle + R"(","session_id":"theirs"})") == "ok");
  other.ok("essay.complete_section", "theirs", R"("section":1,"text":"a")");
  CHECK(other.member("theirs", "/session_dir") == "\"" + other.place("theirs").string() + "\"");
  CHECK(other.result("session.validate", Essays::of("theirs")).at("valid") == true);
  CHECK(other.result("session.validate", Essays::of("theirs")).at("discrepancies").as_array().empty());
}

}  // namespace sessiond
