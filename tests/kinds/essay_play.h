// An essay that is played in memory: its document, and its directory as a map of files that each accepted
// command changes as a commit would.
#pragma once

#include <set>

#include "daemon/kinds/essay.h"
#include "tests/kinds/essay_support.h"

namespace sessiond::essay_test {

struct Play {
  Document document;
  std::map<std::string, std::string> contents;
  std::int64_t minutes = 0;

  Play() {
    const auto made = essay::create({"essay-1", directory}, EssayCreate::Params(), Moment{minute(0), "", ""});
    REQUIRE(made.ok());
    document = made->document;
  }

  // Does the command; "ok" or why it was refused.
  template <class Params, class Function>
  std::string run(Function function, const Params& params) {
    const Artifacts there = files(contents);
    const auto applied = function(document, params, Moment{minute(++minutes), "", "", &there});
    if (!applied.ok()) return applied.error().message;
    document = applied->document;
    for (const FileOp& op : applied->files) commit(op);
    return "ok";
  }

  std::string thesis(const std::string& text = "Trees make cities cooler.", std::string type = "argument") {
    EssayCompleteThesis::Params params;
    params.claim_type = std::move(type);
    params.text = text;
    params.log = "talked about " + text;
    return run(essay::complete_thesis, params);
  }
  std::string outline(std::int64_t total, std::optional<std::string> text) {
    EssayCompleteOutline::Params params;
    params.total_sections = total;
    params.text = std::move(text);
    return run(essay::complete_outline, params);
  }
  std::string start(std::int64_t section) {
    EssayStartSection::Params params;
    params.section = section;
    return run(essay::start_section, params);
  }
  std::string argue(std::int64_t section) {
    EssayCompleteSection::Params params;
    params.section = section;
    params.text = "arguments of " + std::to_string(section);
    params.verified_claims = section;
    return run(essay::complete_section, params);
  }
  std::string approve() { return run(essay::approve_birds_eye, EssayApproveBirdsEye::Params()); }
  std::string plan(std::int64_t section, std::int64_t total) {
    EssayPlanSection::Params params;
    params.section = section;
    params.total_paragraphs = total;
    return run(essay::plan_section, params);
  }
  std::string write(std::int64_t section, std::int64_t paragraph, bool text = true) {
    EssayCompleteParagraph::Params params;
    params.section = section;
    params.paragraph = paragraph;
    if (text) params.text = "Paragraph " + std::to_string(paragraph) + " of " + std::to_string(section) + ".";
    params.voice_check_score = 80;
    return run(essay::complete_paragraph, params);
  }
  std::string draft() { return run(essay::complete_draft, EssayCompleteDraft::Params()); }
  std::string finish() { return run(essay::finish, EssayFinish::Params()); }
  std::string revise(
      std::int64_t stage, std::string impact,
      const std::function<void(EssayRevise::Params&)>& more = [](EssayRevise::Params&) {}) {
    EssayRevise::Params params;
    params.stage = stage;
    params.impact = std::move(impact);
    params.reason = "a better idea";
    more(params);
    return run(essay::revise, params);
  }

  // To the end of a stage, with two sections of one and two paragraphs.
  void reach(int stage) {
    if (stage >= 1) REQUIRE(thesis() == "ok");
    if (stage >= 2) REQUIRE(outline(2, "## Shade\n\nleaves\n\n## Water\n\nroots\n") == "ok");
    if (stage >= 3) {
      for (const std::int64_t section : {1, 2}) REQUIRE(argue(section) == "ok");
      REQUIRE(approve() == "ok");
    }
    if (stage < 4) return;
    REQUIRE(plan(1, 1) == "ok");
    REQUIRE(plan(2, 2) == "ok");
    REQUIRE(write(1, 1) == "ok");
    REQUIRE(write(2, 1) == "ok");
    REQUIRE(write(2, 2) == "ok");
    REQUIRE(draft() == "ok");
  }

  // The first letters of the stages' statuses, and the current stage: "ccin 3".
  std::string stages() const {
    std::string out;
    for (int stage = 1; stage <= 4; ++stage) out += essay::status_of(document, stage).substr(0, 1);
    return out + " " + part(document, "/current_stage");
  }
  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& [name, text] : contents) out.insert(name);
    return out;
  }
  // The first rule that document or files break.
  std::string broken() const {
    for (const Discrepancy& one : essay::check(document))
      if (one.severity == Discrepancy::Severity::error) return one.path + ": " + one.message;
    for (const Discrepancy& one : essay::check_files(document, files(contents)))
      return one.path + ": " + one.message;
    return "";
  }

 private:
  void commit(const FileOp& op) {
    if (op.action == FileOp::Action::write) {
      contents[op.name] = op.bytes;
      return;
    }
    REQUIRE(contents.contains(op.name));
    REQUIRE(!contents.contains(op.to));
    contents[op.to] = contents[op.name];
    contents.erase(op.name);
  }
};

}  // namespace sessiond::essay_test
