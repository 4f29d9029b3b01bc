#include "daemon/session/bundle.h"

#include <doctest/doctest.h>

#include "common/json.h"
#include "daemon/store/history_line.h"
#include "support/outcome.h"

using namespace sessiond;

namespace {

std::string line(std::int64_t seq) {
  HistoryLine made;
  made.timestamp = "2026-01-17T14:30:00.000Z";
  made.command = "test";
  made.seq = made.revision = seq;
  made.base = 1;
  if (seq == 1) made.document = json::object{{"a", 1}};
  return build_history_line(made);
}

Bundle small_bundle() {
  return {.kind = "workflow",
          .session_id = "demo",
          .revision = 2,
          .history = line(1) + line(2),
          .files = {{"session.json", "{\"a\":1}\n"}, {"notes.md", "hello"}, {"empty.txt", ""}}};
}

std::string packed(const Bundle& bundle) {
  Result<std::string> bytes = pack_bundle(bundle);
  REQUIRE(bytes);
  return *bytes;
}

}  // namespace

TEST_CASE("bundle: what is packed comes out again") {
  const std::string bytes = packed(small_bundle());
  CHECK(looks_like_bundle(bytes));
  CHECK_FALSE(looks_like_bundle("{\"session_id\":\"x\"}"));
  const Result<Bundle> bundle = unpack_bundle(bytes);
  REQUIRE(bundle);
  CHECK(bundle->kind == "workflow");
  CHECK(bundle->session_id == "demo");
  CHECK(bundle->revision == 2);
  CHECK(bundle->history == small_bundle().history);
  REQUIRE(bundle->files.size() == 3);
  CHECK(bundle->files[1].name == "notes.md");
  CHECK(bundle->files[1].bytes == "hello");
}

TEST_CASE("bundle: one that is cut anywhere is refused") {
  const std::string bytes = packed(small_bundle());
  // The last two blocks only mark the end.
  for (std::size_t length = 0; length + 1024 < bytes.size(); length += 7) {
    const Result<Bundle> bundle = unpack_bundle(std::string_view(bytes).substr(0, length));
    CHECK_MESSAGE(!bundle.ok(), "cut to ", length);
  }
}

TEST_CASE("bundle: a flipped byte of any content is noticed") {
  const std::string bytes = packed(small_bundle());
  for (std::string_view part :
       {"hello", "\"a\":1}\n", "\"command\":\"test\"", "\"revision\": 2", "workflow"}) {
    const std::size_t at = bytes.rfind(part);
    REQUIRE(at != std::string::npos);
    std::string altered = bytes;
    altered[at + 1] = static_cast<char>(altered[at + 1] ^ 1);
    const Result<Bundle> bundle = unpack_bundle(altered);
    // The kind's name is not checked by a hash; whoever imports refuses a kind that it does not know.
    CHECK_MESSAGE((!bundle.ok() || bundle->kind != "workflow"), part);
  }
}

TEST_CASE("bundle: hostile names never get in") {
  for (const char* name : {"../escape", "/etc/passwd", "a/b", ".hidden", ".lock", "history.jsonl.repair",
                           "x.tmp", "x.bak", "quarantine"}) {
    Bundle bundle = small_bundle();
    bundle.files.push_back({name, "x"});
    const std::string refused = refusal(unpack_bundle(packed(bundle)));
    CHECK_MESSAGE(refused.find("is no name of a session's file") != std::string::npos, name, ": ", refused);
  }
}

TEST_CASE("bundle: its history must lead to the revision that it claims") {
  struct Row {
    std::string history;
    std::int64_t revision;
  };
  const Row rows[] = {{line(1), 2},
                      {line(2), 2},
                      {line(1) + "garbage\n" + line(2), 2},
                      {line(1) + line(2).substr(0, 50), 2},
                      {"", 0}};
  for (const Row& row : rows) {
    Bundle bundle = small_bundle();
    bundle.history = row.history;
    bundle.revision = row.revision;
    CHECK_FALSE(unpack_bundle(packed(bundle)).ok());
  }
}
