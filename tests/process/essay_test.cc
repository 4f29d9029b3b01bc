// A whole essay through the real daemon, killed in every stage. Each command carries an idempotency key and
// is sent again after the restart: whether the kill came before or after the change, it happens once, and the
// essay that comes out is the same.
#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>

#include "tests/support/test_daemon.h"

using namespace sessiond::test;

namespace {

struct Step {
  std::string method, params;
};

const std::string id = "essay-pipeline-20260214-143022";

std::vector<Step> script() {
  return {
      {"essay.create", R"("pushback_level":"light")"},
      {"essay.calibrate_voice", R"("user_rating":4,"notes":"dry: no \"jokes\" # please")"},
      {"essay.complete_thesis", R"("claim_type":"argument","text":"Trees cool cities.","log":"talked")"},
      {"essay.complete_outline",
       R"("total_sections":2,"target_word_count":900,"audience":"expert","text":"## Shade\n\nleaves\n\n## Water\n")"},
      {"essay.start_section", R"("section":1)"},
      {"essay.complete_section", R"("section":1,"verified_claims":3,"text":"map one")"},
      {"essay.defer_verification", R"("claim_text":"It rains.","section":2,"reason":"timeout")"},
      {"essay.complete_section", R"("section":2,"verified_claims":2,"text":"map two")"},
      {"session.pause", R"("context":"both sections are argued")"},
      {"session.resume", ""},
      {"essay.approve_birds_eye", ""},
      {"essay.plan_section", R"("section":1,"total_paragraphs":2)"},
      {"essay.complete_paragraph", R"("section":1,"paragraph":1,"text":"One two.","voice_check_score":70)"},
      // Everything behind the thesis is archived, and brought back.
      {"essay.revise",
       R"("stage":1,"impact":"major","reason":"a try","text":"Trees drink.","if_revision":@)"},
      {"session.revert", R"("revision":<)"},
      {"essay.complete_paragraph", R"("section":1,"paragraph":2,"text":"Three.")"},
      {"essay.revise",
       R"("stage":3,"section":2,"impact":"minor","reason":"more","text":"map 2","if_revision":@)"},
      {"essay.complete_section", R"("section":2,"verified_claims":2)"},
      {"essay.approve_birds_eye", ""},
      {"essay.override_claim",
       R"("claim_text":"Trees talk","fact_checker_result":"no","user_rationale":"a picture")"},
      {"essay.complete_paragraph", R"("section":2,"paragraph":1,"text":"Four five.","voice_check_score":90)"},
      {"essay.plan_section", R"("section":2,"total_paragraphs":1)"},
      {"essay.resolve_verification", R"("index":0,"result":"it does")"},
      {"essay.complete_draft", ""},
      {"essay.finish", ""}};
}

// Each step makes one revision: "@" stands for the newest one before the step, "<" for the one before that.
std::string params_of(const Step& step, std::size_t number) {
  std::string params = step.params;
  if (const std::size_t at = params.rfind('@'); at != std::string::npos)
    params.replace(at, 1, std::to_string(number));
  if (const std::size_t at = params.rfind('<'); at != std::string::npos)
    params.replace(at, 1, std::to_string(number - 1));
  return R"({"session_id":")" + id + R"(","idempotency_key":"step-)" + std::to_string(number) + "\"" +
         (params.empty() ? "" : "," + params) + "}";
}

// Logs have times in them: the number of their entries will do.
std::string entries_of(const std::string& log) {
  std::size_t count = 0;
  for (std::size_t at = log.find("## "); at != std::string::npos; at = log.find("\n## ", at + 1)) ++count;
  return std::to_string(count) + " entries";
}

// Everything that the essay consists of: equal however often the daemon was killed.
std::map<std::string, std::string> essay_in(const std::string& state_dir) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(state_dir + "/roots/essay/" + id)) {
    const std::string name = entry.path().filename();
    const std::string text = name.ends_with(".md") ? read_file(entry.path()) : "";
    if (name.ends_with(".md")) out[name] = name.find("-log.") == std::string::npos ? text : entries_of(text);
  }
  return out;
}

std::string told(const std::map<std::string, std::string>& essay) {
  std::string out;
  for (const auto& [name, text] : essay) out += "== " + name + "\n" + text + "\n";
  return out;
}

// Which steps the daemon is killed in, and whether it may answer before.
struct Plan {
  std::vector<bool> kills;
  bool answered = false;
};

// Plays the script. In a step with a kill the daemon gets the request and SIGKILL; the request is repeated to
// the next daemon.
std::map<std::string, std::string> play(const Plan& plan, std::int64_t& revisions) {
  const DaemonFiles files;
  const std::vector<Step> steps = script();
  auto daemon = std::make_unique<Process>(ProcessOptions{.command = files.command()});
  REQUIRE(eventually([&] { return TestClient(files.socket()).connected(); }));
  auto client = std::make_unique<TestClient>(files.socket());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (plan.kills[i]) {
      client->send(request(99, steps[i].method, params_of(steps[i], i)));
      if (plan.answered) CHECK(client->read_line().has_value());
      daemon->signal(SIGKILL);
      CHECK(daemon->wait() == 128 + SIGKILL);
      daemon = std::make_unique<Process>(ProcessOptions{.command = files.command()});
      REQUIRE(eventually([&] { return TestClient(files.socket()).connected(); }));
      client = std::make_unique<TestClient>(files.socket());
    }
    const json::value reply = client->call(steps[i].method, params_of(steps[i], i));
    REQUIRE_MESSAGE(reply.as_object().contains("result"), steps[i].method, " ", json::serialize(reply));
  }
  const json::value valid = client->call("session.validate", R"({"session_id":")" + id + "\"}");
  CHECK_MESSAGE(valid.at("result").at("valid") == true, json::serialize(valid));
  const json::value got = client->call("session.get", R"({"session_id":")" + id + "\"}");
  const json::value& output = got.at("result").at("document").at("output");
  CHECK(output.at("total_word_count") == 7);
  CHECK(output.at("sources_verified") == 5);
  CHECK(output.at("voice_consistency_score") == 80.0);
  CHECK(got.at("result").at("session").at("status") == "completed");
  revisions = got.at("result").at("session").at("revision").as_int64();
  daemon->signal(SIGTERM);
  CHECK(daemon->wait() == 0);
  return essay_in(files.state_dir());
}

}  // namespace

TEST_CASE("an essay survives a kill in every stage") {
  const std::size_t count = script().size();
  std::int64_t revisions = 0;
  const auto expected = play({std::vector<bool>(count, false)}, revisions);
  CHECK(revisions == static_cast<std::int64_t>(count));
  CHECK(expected.at("final-essay.md") == "## Shade\n\nOne two.\n\nThree.\n\n## Water\n\nFour five.\n");
  CHECK(expected.at("stage-4-paragraph-log.md") == "3 entries");
  CHECK(expected.at("fact-check-log.md") == "3 entries");
  CHECK(expected.at("stage-1-thesis.md") == "Trees cool cities.");
  CHECK(expected.at("stage-1-thesis.v2.md") == "Trees drink.");
  CHECK(expected.at("stage-3-section-2-arguments.md") == "map 2");
  CHECK(expected.size() == 18);
  std::size_t kills = 0;
  for (const bool answered : {false, true})
    for (const std::size_t first : {0U, 1U}) {
      // Every second step, so that each step is killed in one of the two runs.
      Plan plan{std::vector<bool>(count, false), answered};
      for (std::size_t i = first; i < count; i += 2, ++kills) plan.kills[i] = true;
      std::int64_t got = 0;
      CHECK(told(play(plan, got)) == told(expected));
      CHECK(got == revisions);
    }
  std::printf("killed %zu times in an essay of %zu steps, nothing lost, nothing done twice\n", kills, count);
}
