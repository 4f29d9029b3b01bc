// session.list, roots, and more sessions than stay in memory.
#include <set>

#include "daemon/kinds/kinds.h"
#include "tests/session/session_support.h"

namespace sessiond {

TEST_CASE("300 sessions, page by page, in every order and by filter") {
  Sessions s;
  constexpr int count = 300;
  for (int i = 0; i < count; ++i) {
    s.clock.advance(Millis(1'000));
    REQUIRE(s.create("s-" + std::to_string(i), 2).contains("result"));
    if (i % 3 == 0) s.call("session.pause", Sessions::of("s-" + std::to_string(i)));
  }
  for (const std::string sort : {"updated", "created", "activity", "id"}) {
    std::vector<std::string> seen;
    std::string cursor;
    do {
      const json::object page =
          s.result("session.list", R"({"limit":37,"sort":")" + sort + "\"" +
                                       (cursor.empty() ? "" : R"(,"cursor":")" + cursor + "\"") + "}");
      CHECK(page.at("total") == count);
      for (const json::value& item : page.at("sessions").as_array())
        seen.push_back(text_of(item.at("session_id")));
      cursor = page.contains("next_cursor") && page.at("next_cursor").is_string()
                   ? text_of(page.at("next_cursor"))
                   : "";
    } while (!cursor.empty());
    CHECK(seen.size() == count);
    CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == count);
    if (sort == "id") CHECK(std::is_sorted(seen.begin(), seen.end()));
    if (sort == "created") CHECK(seen.front() == "s-299");
  }
  CHECK(s.result("session.list", R"({"status":"paused"})").at("total") == 100);
  CHECK(s.result("session.list", R"({"kind":"workflow","text":"S-29"})").at("total") == 11);
  CHECK(s.result("session.list", R"({"project":"specs/s-7"})").at("total") == 1);
  CHECK(s.result("session.list", R"({"root":"nowhere"})").at("total") == 0);
  const std::string since = format_rfc3339(s.clock.now() - Millis(9'000));
  CHECK(s.result("session.list", R"({"updated_since":")" + since + "\"}").at("total") == 10);
  CHECK(s.outcome("session.list", R"({"cursor":"nonsense"})") == "invalid_params");
  Sessions again(s.state_dir);
  CHECK(again.result("session.list", R"({"status":"paused"})").at("total") == 100);
}

TEST_CASE("more sessions in use than stay in memory") {
  Sessions s;
  const int count = static_cast<int>(test::scaled(600, 530));
  for (int i = 0; i < count; ++i) REQUIRE(s.create("s-" + std::to_string(i), 3).contains("result"));
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < count; ++i) REQUIRE(s.complete("s-" + std::to_string(i), round).contains("result"));
  for (int i = 0; i < count; i += 7) {
    CHECK(s.revision("s-" + std::to_string(i)) == 3);
    CHECK(s.history("s-" + std::to_string(i)).size() == 3);
  }
  std::size_t open_files = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) open_files += entry.exists() ? 1 : 1;
  CHECK(open_files < 512 * 3 + 100);
  MESSAGE(count << " sessions in use, " << open_files << " descriptors");
}

TEST_CASE("roots: added, listed, kept over a restart, removed; unsafe ones refused") {
  Sessions s;
  TempDir place;
  const std::string add = R"({"path":")" + place.path() + R"(","kind":"workflow","name":"mine"})";
  CHECK(s.outcome("root.add", add) == "ok");
  CHECK(s.outcome("root.add", add) == "already_exists");
  fs::create_directory_symlink(place.path(), place.path() + "-link");
  CHECK(s.outcome("root.add", R"({"path":")" + place.path() +
                                  R"(-link","kind":"workflow","name":"again"})") == "already_exists");
  fs::remove(place.path() + "-link");
  CHECK(s.outcome("root.add", R"({"path":"relative","kind":"workflow"})") == "invalid_params");
  CHECK(s.outcome("root.add", R"({"path":"/nowhere/at/all","kind":"workflow"})") == "not_found");
  CHECK(s.outcome("root.add", R"({"path":"/etc/passwd","kind":"workflow","name":"p"})") != "ok");
  CHECK(s.outcome("root.add", R"({"path":")" + place.path() + R"(","kind":"nonsense"})") == "invalid_params");
  TempDir open_to_all;
  chmod(open_to_all.path().c_str(), 0777);
  CHECK(s.outcome("root.add", R"({"path":")" + open_to_all.path() +
                                  R"(","kind":"workflow","name":"open"})") == "refused");
  CHECK(s.outcome("workflow.create",
                  R"({"session_id":"x","root":"mine","workflow_type":"t","target_file":"f",)"
                  R"("total_phases":1})") == "ok");
  Sessions again(s.state_dir);
  CHECK(again.result("root.list").at("roots").as_array().size() == all_kinds().size() + 1);
  CHECK(again.revision("mine/x") == 1);
  CHECK(again.outcome("root.remove", R"({"name":"workflow"})") == "refused");
  CHECK(again.outcome("root.remove", R"({"name":"nobody"})") == "not_found");
  again.pool.wait_idle();
  CHECK(again.outcome("root.remove", R"({"name":"mine"})") == "ok");
  CHECK(again.outcome("session.get", Sessions::of("mine/x")) == "not_found");
  CHECK(fs::exists(fs::path(place.path()) / "x/history.jsonl"));
}

TEST_CASE("a scan while sessions are being created takes nothing away") {
  Sessions s;
  std::string batch = "[";
  const int count = 200;
  for (int i = 0; i < count; ++i)
    batch += R"({"jsonrpc":"2.0","id":1,"method":"workflow.create","params":{"session_id":"n-)" +
             std::to_string(i) +
             R"(","workflow_type":"t","target_file":"f","total_phases":1}},)"
             R"({"jsonrpc":"2.0","id":2,"method":"root.scan","params":{"name":"workflow"}})" +
             (i + 1 < count ? "," : "]");
  const json::value replies = *parse_json(s.ask(batch));
  for (const json::value& reply : replies.as_array()) CHECK(reply.as_object().contains("result"));
  Sessions again(s.state_dir);
  for (int i = 0; i < count; ++i) CHECK(again.revision("n-" + std::to_string(i)) == 1);
}

}  // namespace sessiond
