// Essays through the dispatcher, with their real directories.
#pragma once

#include "common/text.h"
#include "tests/session/session_support.h"

namespace sessiond {

struct Essays : Sessions {
  using Sessions::Sessions;

  fs::path place(const std::string& id) const { return fs::path(state_dir) / "roots/essay" / id; }
  void ok(std::string_view method, const std::string& id, const std::string& more = "") {
    const json::object reply = call(method, of(id, more));
    const std::string text = to_json_text(reply);
    INFO(std::string(method), " ", text);
    REQUIRE(reply.contains("result"));
  }
  std::string refusal(std::string_view method, const std::string& id, const std::string& more = "") {
    return text_of(error(method, of(id, more)).at("message"));
  }
  std::string member(const std::string& id, const std::string& pointer) {
    return to_json_text(result("session.get", of(id, R"("pointer":")" + pointer + "\"")).at("document"));
  }
  std::string file(const std::string& id, const std::string& name) { return read_text(place(id) / name); }
  bool has(const std::string& id, const std::string& name) { return fs::exists(place(id) / name); }

  // An essay of two sections with a draft of one paragraph in each, at the end of the stage.
  void write_essay(const std::string& id, int stage) {
    ok("essay.create", id);
    if (stage >= 1) ok("essay.complete_thesis", id, R"("claim_type":"argument","text":"Trees cool cities.")");
    if (stage >= 2)
      ok("essay.complete_outline", id,
         R"("total_sections":2,"text":"## Shade\n\nleaves\n\n## Water\n\nroots\n")");
    if (stage >= 3) {
      ok("essay.complete_section", id, R"("section":1,"text":"one")");
      ok("essay.complete_section", id, R"("section":2,"text":"two")");
      ok("essay.approve_birds_eye", id);
    }
    if (stage < 4) return;
    for (const std::string section : {"1", "2"}) {
      ok("essay.plan_section", id, "\"section\":" + section + R"(,"total_paragraphs":1)");
      ok("essay.complete_paragraph", id,
         "\"section\":" + section + R"(,"paragraph":1,"text":"Text of )" + section + ".\"");
    }
    ok("essay.complete_draft", id);
  }
};

}  // namespace sessiond
