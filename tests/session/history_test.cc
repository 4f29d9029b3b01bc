// Every revision stays: pages of the history, earlier documents, differences, revert and fork.
#include "tests/session/session_support.h"

namespace sessiond {

TEST_CASE("history forwards and backwards, and documents of every revision") {
  Sessions s;
  constexpr int phases = 600;
  s.create("long", phases);
  std::vector<json::value> documents{s.document("long")};
  for (int i = 0; i < phases - 1; ++i) {
    REQUIRE(s.complete("long", i).contains("result"));
    documents.push_back(s.document("long"));
  }
  for (const bool reverse : {false, true}) {
    std::vector<std::int64_t> seqs;
    std::string from;
    for (;;) {
      const json::object page = s.result(
          "session.history",
          Sessions::of("long", R"("limit":77,"reverse":)" + std::string(reverse ? "true" : "false") + from));
      for (const json::value& line : page.at("entries").as_array()) seqs.push_back(line.at("seq").as_int64());
      if (!page.contains("next") || page.at("next").is_null()) break;
      from = ",\"from\":" + to_json_text(page.at("next"));
    }
    REQUIRE(seqs.size() == phases);
    for (std::size_t i = 0; i < seqs.size(); ++i)
      CHECK(seqs[i] == static_cast<std::int64_t>(reverse ? seqs.size() - i : i + 1));
  }
  Sessions again(s.state_dir);
  for (std::size_t i = 0; i < documents.size(); i += test::scaled(1, 37)) {
    const std::string params = Sessions::of("long", "\"at_revision\":" + std::to_string(i + 1));
    REQUIRE(again.result("session.get", params).at("document") == documents[i]);
  }
  CHECK(again.outcome("session.get", Sessions::of("long", R"("at_revision":601)")) == "not_found");
  const json::object diff = s.result("session.diff", Sessions::of("long", R"("from":5,"to":6)"));
  CHECK(diff.at("changes").as_array().size() > 1);
  CHECK(s.result("session.diff", Sessions::of("long", R"("from":5,"to":5)")).at("text") == "no difference\n");
  CHECK(s.result("session.get", Sessions::of("long", R"("pointer":"/current_phase")")).at("document") == 599);
}

TEST_CASE("lines of other tools between ours are on the pages, each once") {
  Sessions s;
  std::vector<std::string> expected;
  {
    Sessions first(s.state_dir);
    first.create("demo", 9);
    for (int i = 0; i < 8; ++i) first.complete("demo", i);
  }
  // Before our lines, between them and behind them; one is no JSON at all.
  std::string text;
  std::istringstream ours(read_text(s.dir("demo") / "history.jsonl"));
  int number = 0;
  for (std::string line; std::getline(ours, line);) {
    for (int i = 0; i < (number * 5 + 3) % 7; ++i)
      text += "{\"tool\":" + std::to_string(number * 10 + i) + "}\n";
    text += line + "\n";
    ++number;
  }
  text += "{\"tool\":\"last\"}\n";
  write_text(s.dir("demo") / "history.jsonl", text);
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) expected.push_back(to_json_text(*parse_json(line)));
  Sessions again(s.state_dir);
  for (const int limit : {1, 2, 3, 5, 8, 100}) {
    for (const bool reverse : {false, true}) {
      CAPTURE(limit);
      CAPTURE(reverse);
      std::vector<std::string> seen;
      std::string from;
      for (int pages = 0; pages < 100; ++pages) {
        const json::object page = again.result(
            "session.history", Sessions::of("demo", "\"limit\":" + std::to_string(limit) + ",\"reverse\":" +
                                                        (reverse ? "true" : "false") + from));
        for (const json::value& line : page.at("entries").as_array()) seen.push_back(to_json_text(line));
        if (!page.contains("next") || page.at("next").is_null()) break;
        from = ",\"from\":" + to_json_text(page.at("next"));
      }
      if (reverse) std::reverse(seen.begin(), seen.end());
      // One line of ours and at most so many others as the limit says belong together.
      if (limit >= 7) CHECK(seen == expected);
      for (const std::string& line : expected) {
        if (limit < 7 && line.find("tool") != std::string::npos) continue;
        CHECK(std::count(seen.begin(), seen.end(), line) == 1);
      }
    }
  }
}

TEST_CASE("revert and fork") {
  Sessions s;
  s.create("demo", 3);
  for (int i = 0; i < 3; ++i) s.complete("demo", i);
  const json::value first =
      s.result("session.get", Sessions::of("demo", R"("at_revision":2)")).at("document");
  CHECK(s.outcome("session.revert", Sessions::of("demo", R"("revision":2)")) == "ok");
  CHECK(s.document("demo") == first);
  CHECK(s.revision("demo") == 5);
  CHECK(s.outcome("session.revert", Sessions::of("demo", R"("revision":9)")) == "not_found");
  const json::object fork =
      s.result("session.fork", Sessions::of("demo", R"("revision":3,"new_session_id":"copy")"));
  CHECK(fork.at("session").at("revision") == 1);
  CHECK(s.document("copy").at("session_id") == "copy");
  CHECK(s.document("copy").at("current_phase") == 2);
  CHECK(s.outcome("session.fork", Sessions::of("demo", R"("new_session_id":"copy")")) == "already_exists");
  CHECK(s.outcome("session.fork", Sessions::of("demo", R"("revision":77)")) == "not_found");
}

TEST_CASE("a revert that is sent right behind a change sees it") {
  Sessions s;
  s.create("demo", 9);
  for (int i = 0; i < 8; ++i) {
    const std::string change =
        R"({"jsonrpc":"2.0","id":1,"method":"session.update","params":)" +
        Sessions::of("demo", "\"changes\":{\"metadata\":{\"n\":" + std::to_string(i) + "}}") + "}";
    const std::int64_t now = s.revision("demo");
    const std::string revert = R"({"jsonrpc":"2.0","id":2,"method":"session.revert","params":)" +
                               Sessions::of("demo", "\"revision\":" + std::to_string(now)) + "}";
    const json::value replies = *parse_json(s.ask("[" + change + "," + revert + "]"));
    CHECK(replies.at(0).as_object().contains("result"));
    CHECK(replies.at(1).as_object().contains("result"));
    CHECK(s.revision("demo") == now + 2);
  }
}

}  // namespace sessiond
