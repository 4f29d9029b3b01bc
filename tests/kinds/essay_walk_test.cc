// Random sequences of commands with the files they leave: whatever was accepted leaves a valid document whose
// files are all there, whatever was refused changes nothing, and what the files alone tell is valid, too.
#include <random>

#include "tests/kinds/essay_play.h"

namespace sessiond {
namespace {

using namespace essay_test;

constexpr int sequences = 400, commands_each = 60;

class Walk {
 public:
  explicit Walk(unsigned seed) : random_(seed) {}

  std::string step() {
    if (pick(0, 1) == 0) return forward();
    const std::int64_t section = near("current_section"), paragraph = near("current_paragraph");
    switch (pick(0, 15)) {
      case 0:
        return play.thesis(text(), pick(0, 3) == 0 ? "hybrid" : "argument");
      case 1:
      case 2:
        return outline();
      case 3:
        return play.start(section);
      case 4:
      case 5:
      case 6:
        return play.argue(section);
      case 7:
        return play.approve();
      case 8:
        return play.plan(section, pick(1, 3));
      case 9:
      case 10:
      case 11:
      case 12:
        return play.write(section, paragraph, pick(0, 9) > 0);
      case 13:
        return pick(0, 1) == 0 ? play.draft() : play.finish();
      default:
        return pick(0, 2) == 0 ? revise() : play.write(section, paragraph);
    }
  }

  Play play;

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  // What a writer would do next.
  std::string forward() {
    const json::object& writing = essay::stage_of(play.document, 4);
    const std::int64_t section = int_or(writing, "current_section", 1);
    switch (int_or(play.document, "current_stage", 1)) {
      case 1:
        return play.thesis(text());
      case 2:
        return outline();
      case 3:
        return essay::status_of(play.document, 3) == "completed" || pick(0, 3) == 0
                   ? play.approve()
                   : play.argue(int_or(essay::stage_of(play.document, 3), "current_section", 1));
      default:
        if (pick(0, 2) == 0) return play.plan(section, int_or(writing, "current_paragraph", 1));
        if (pick(0, 3) == 0) return play.draft();
        if (essay::status_of(play.document, 4) == "completed") return play.finish();
        return play.write(section, int_or(writing, "current_paragraph", 1));
    }
  }
  // Mostly the current one.
  std::int64_t near(std::string_view name) {
    const json::object& writing = essay::stage_of(play.document, 4);
    const json::object& stage =
        member(writing, name) == nullptr ? essay::stage_of(play.document, 3) : writing;
    return pick(0, 9) == 0 ? pick(1, 4)
                           : int_or(pick(0, 2) == 0 ? essay::stage_of(play.document, 3) : stage, name, 1);
  }
  std::string text() { return "thesis " + std::to_string(pick(1, 5)); }
  std::string outline() {
    const std::int64_t total = pick(1, 3);
    std::string text;
    for (std::int64_t i = 1; i <= total; ++i) text += "## S" + std::to_string(pick(1, 4)) + "\n\nbody\n\n";
    return play.outline(total, pick(0, 4) == 0 ? std::optional<std::string>() : text);
  }
  std::string revise() {
    static constexpr std::array<std::string_view, 3> impacts{"minor", "moderate", "major"};
    const std::int64_t stage = pick(1, 4);
    return play.revise(stage, std::string(impacts[static_cast<std::size_t>(pick(0, 2))]), [&](auto& params) {
      if (pick(0, 1) == 0) params.text = text();
      if (stage == 3 && pick(0, 3) > 0) params.section = pick(1, 3);
      if (pick(0, 2) == 0) params.affected = std::vector<std::string>{"stage-4-draft.md"};
    });
  }

  std::mt19937 random_;
};

std::string problem(const Walk& walk) {
  const std::string broken = walk.play.broken();
  if (!broken.empty()) return broken;
  const Artifacts there = files(walk.play.contents);
  const auto told = essay::reconstruct(there, "essay-pipeline-x", minute(0));
  if (!told.ok()) return "";  // nothing of a stage is there yet
  for (const Discrepancy& one : essay::check(*told))
    if (one.severity == Discrepancy::Severity::error) return "reconstructed: " + one.path + " " + one.message;
  for (const Discrepancy& one : essay::check_files(*told, there))
    return "reconstructed: " + one.path + " " + one.message;
  return "";
}

TEST_CASE("essay: random walks keep every rule and every file") {
  int accepted = 0, refused = 0, revised = 0, finished = 0;
  for (unsigned seed = 1; seed <= sequences; ++seed) {
    Walk walk(seed);
    for (int i = 0; i < commands_each; ++i) {
      const std::string before = to_json_text(walk.play.document);
      const auto files_before = walk.play.contents;
      const std::string outcome = walk.step();
      ++(outcome == "ok" ? accepted : refused);
      const bool untouched = before == to_json_text(walk.play.document) && files_before == walk.play.contents;
      const std::string wrong = outcome == "ok" ? problem(walk) : untouched ? "" : "a refusal changed it";
      if (wrong.empty()) continue;
      FAIL("seed " << seed << " step " << i << ": " << wrong << " in " << to_json_text(walk.play.document));
    }
    revised += !array_member(walk.play.document, "revision_history")->empty();
    finished += string_or(walk.play.document, "status", "") == "completed";
  }
  MESSAGE(accepted << " accepted, " << refused << " refused, " << revised << " revised, " << finished
                   << " of " << sequences << " finished");
  CHECK(accepted > sequences * commands_each / 5);
  CHECK(refused > sequences * commands_each / 10);
  CHECK(revised > sequences / 4);
  CHECK(finished > 0);
}

}  // namespace
}  // namespace sessiond
