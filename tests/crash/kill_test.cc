// The real daemon, killed: at every file-changing system call of a session's whole life, and at random under
// load. Whatever was acknowledged must be there after the restart; what was not must be wholly there or not
// at all, and sending it again with the same key must give what an undisturbed life gives.
//
// SESSIOND_KILL_CALLS is the number of system calls to kill at, spread over the life (0: every one);
// SESSIOND_KILLS the number of kills under load.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "tests/crash/counted_process.h"
#include "tests/crash/rounds.h"
#include "tests/support/test_daemon.h"

using namespace sessiond::test;

namespace {

const json::object* result_of(const json::value& reply) {
  if (!reply.is_object()) return nullptr;
  const json::value* result = reply.get_object().if_contains("result");
  return result == nullptr ? nullptr : result->if_object();
}

std::optional<std::int64_t> revision_of(const json::value& reply) {
  const json::object* result = result_of(reply);
  const json::value* session = result == nullptr ? nullptr : result->if_contains("session");
  if (session == nullptr) return std::nullopt;
  return session->at("revision").as_int64();
}

struct Step {
  std::string method;
  std::string params;                // without the braces and the key
  std::optional<std::int64_t> sets;  // metadata.n
};

Step update(std::int64_t n) {
  return {"session.update", R"("changes":{"metadata":{"n":)" + std::to_string(n) + "}}", n};
}

const std::vector<Step>& life() {
  static const std::vector<Step> steps{
      {"workflow.create", R"("workflow_type":"w","target_file":"t","total_phases":3,"metadata":{"n":0})", 0},
      update(1),
      {"workflow.complete_phase", R"("phase":0)", {}},
      {"artifact.put", R"("name":"a.md","text":"one")", {}},
      {"artifact.put", R"("name":"a.md","text":"two")", {}},
      update(2),
      {"session.pause", "", {}},
      {"session.archive", "", {}},
      {"session.restore", "", {}},
      {"session.resume", "", {}},
      {"workflow.record_error", R"("message":"m")", {}},
      update(3),
      {"session.abort", R"("reason":"enough")", {}},
      {"session.archive", "", {}},
      {"session.delete", R"("confirm":"k")", {}}};
  return steps;
}

// What the daemon said: the replies to the first steps, and the value of metadata.n at each revision.
struct Acknowledged {
  std::vector<json::value> replies;
  std::map<std::int64_t, std::int64_t> value_at;
  std::int64_t last_revision = 0;
  std::int64_t value = 0;

  bool all() const { return replies.size() == life().size(); }
};

// Goes on with the life where it stood, until the daemon is gone. The reason when a step is refused.
std::string play(TestClient& client, Acknowledged& known) {
  while (!known.all()) {
    const std::size_t number = known.replies.size();
    const Step& step = life()[number];
    const std::string params = R"({"session_id":"k","idempotency_key":"key-)" + std::to_string(number) +
                               "\"" + (step.params.empty() ? "" : "," + step.params) + "}";
    json::value reply = client.call(step.method, params);
    if (reply.is_null()) return "";
    if (result_of(reply) == nullptr) return step.method + ": " + json::serialize(reply);
    if (step.sets) known.value = *step.sets;
    if (const auto revision = revision_of(reply)) {
      known.value_at[*revision] = known.value;
      known.last_revision = *revision;
    }
    known.replies.push_back(std::move(reply));
  }
  return "";
}

// Every acknowledged revision, as it was. Not once the session may be in the trash.
void check_session(TestClient& client, const Acknowledged& known, const std::string& where) {
  const json::value reply = client.call("session.get", R"({"session_id":"k"})");
  const auto revision = revision_of(reply);
  const bool may_be_gone = known.replies.empty() || known.replies.size() + 1 >= life().size();
  if (may_be_gone && !revision) return;
  REQUIRE_MESSAGE(revision.has_value(), where, ": ", json::serialize(reply));
  CHECK_MESSAGE(!known.all(), where, ": the deleted session is there");
  CHECK_MESSAGE(*revision >= known.last_revision, where);
  CHECK_MESSAGE(*revision <= known.last_revision + 1, where);
  for (const auto& change : known.value_at) {
    const std::string at = std::to_string(change.first);
    const json::value old =
        client.call("session.get", R"({"session_id":"k","pointer":"/metadata/n","at_revision":)" + at + "}");
    REQUIRE_MESSAGE(result_of(old) != nullptr, where, ": ", json::serialize(old));
    CHECK_MESSAGE(result_of(old)->at("document") == change.second, where, " at revision ", at);
  }
  const json::value valid = client.call("session.validate", R"({"session_id":"k"})");
  REQUIRE(result_of(valid) != nullptr);
  CHECK_MESSAGE(result_of(valid)->at("valid") == true, where, ": ", json::serialize(valid));
}

// After the whole life one directory is left, in the trash, with both versions of the artifact and no
// leftovers of interrupted commits.
void check_trash(const DaemonFiles& files, const std::string& where) {
  namespace fs = std::filesystem;
  std::size_t sessions = 0;
  const fs::path root = fs::path(files.state_dir()) / "roots/workflow";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    CHECK_MESSAGE(!name.starts_with(".stage-"), where, ": ", entry.path().string());
    CHECK_MESSAGE(!name.starts_with(".new-"), where, ": ", entry.path().string());
    if (name != "history.jsonl") continue;
    ++sessions;
    CHECK_MESSAGE(entry.path().parent_path().parent_path().filename() == ".trash", where);
    CHECK_MESSAGE(read_file((entry.path().parent_path() / "a.md").string()) == "two", where);
    CHECK_MESSAGE(read_file((entry.path().parent_path() / "a.v1.md").string()) == "one", where);
  }
  CHECK_MESSAGE(sessions == 1, where, ": ", sessions, " sessions are left");
}

// A restart, the checks, and the rest of the life.
void finish_life(const DaemonFiles& files, Acknowledged& known, const Acknowledged& undisturbed,
                 const std::string& where) {
  Process daemon({.command = files.command()});
  eventually([&] { return !daemon.running() || TestClient(files.socket()).connected(); });
  TestClient client(files.socket());
  REQUIRE_MESSAGE(client.connected(), where, ": ", daemon.err());
  check_session(client, known, where);
  const std::string refused = play(client, known);
  CHECK_MESSAGE(refused.empty(), where, ": ", refused);
  CHECK_MESSAGE(known.all(), where);
  CHECK_MESSAGE(known.value_at == undisturbed.value_at, where, ": a repeated step was done twice");
  CHECK_MESSAGE(client.call("session.get", R"({"session_id":"k"})").as_object().contains("error"), where);
  daemon.signal(SIGTERM);
  CHECK_MESSAGE(daemon.wait() == 0, where, ": ", daemon.err());
  check_trash(files, where);
}

// One life of a daemon that dies before call number `kill_at`; the number of calls it made. Its end by
// SIGTERM is part of it.
std::size_t live(std::size_t kill_at, const Acknowledged& undisturbed, Acknowledged& known) {
  const DaemonFiles files;
  CountedProcess daemon(files.command(), kill_at);
  eventually([&] { return !daemon.running() || TestClient(files.socket()).connected(); });
  if (TestClient client(files.socket()); client.connected()) {
    const std::string refused = play(client, known);
    CHECK_MESSAGE(refused.empty(), refused);
  }
  daemon.signal(SIGTERM);
  const std::optional<int> status = daemon.wait();
  REQUIRE(status.has_value());
  if (kill_at == 0) CHECK(status == 0);
  // Threads take turns differently each time: a life may be some calls shorter.
  if (status == 0) return daemon.calls();
  CHECK(status == 128 + SIGKILL);
  finish_life(files, known, undisturbed,
              "killed at call " + std::to_string(kill_at) + ", " + daemon.killed_at());
  return daemon.calls();
}

}  // namespace

TEST_CASE("kill: at every file-changing system call of a session's life") {
  if (CountedProcess({"true"}, 0).wait() != 0) {
    MESSAGE("SKIPPED: processes cannot be traced here");
    return;
  }
  Acknowledged undisturbed;
  const std::size_t total = live(0, undisturbed, undisturbed);
  REQUIRE(undisturbed.all());
  const std::size_t wanted = rounds("SESSIOND_KILL_CALLS", scaled(0, 12));
  const std::size_t stride = wanted == 0 ? 1 : std::max<std::size_t>(1, (total + wanted - 1) / wanted);
  std::size_t killed = 0;
  for (std::size_t at = 1; at <= total; at += stride) {
    Acknowledged known;
    if (live(at, undisturbed, known) == at) ++killed;
  }
  std::printf("killed at %zu of the %zu system calls that change files\n", killed, total);
  CHECK(total > 100);
  CHECK(killed + 3 >= (total + stride - 1) / stride);
}

TEST_CASE("kill: at random under load") {
  constexpr std::size_t clients = 8;
  constexpr std::size_t sessions = 4;
  const std::size_t kills = rounds("SESSIOND_KILLS", scaled(50, 5));
  const DaemonFiles files;
  std::mt19937 random(20260117);
  // metadata.cN is written by client N only, counting up.
  std::array<std::atomic<std::int64_t>, clients> acknowledged{};
  std::size_t total = 0;
  for (std::size_t round = 0; round <= kills; ++round) {
    Process daemon({.command = files.command()});
    eventually([&] { return !daemon.running() || TestClient(files.socket()).connected(); });
    TestClient checker(files.socket());
    REQUIRE(checker.connected());
    for (std::size_t s = 0; s < sessions; ++s)
      checker.call("workflow.create", R"({"session_id":"s)" + std::to_string(s) +
                                          R"(","workflow_type":"w","target_file":"t","total_phases":3})");
    std::array<std::int64_t, clients> next{};
    for (std::size_t c = 0; c < clients; ++c) {
      const json::value reply =
          checker.call("session.get", R"({"session_id":"s)" + std::to_string(c % sessions) + "\"}");
      REQUIRE(result_of(reply) != nullptr);
      const json::object& metadata = result_of(reply)->at("document").at("metadata").as_object();
      const json::value* value = metadata.if_contains("c" + std::to_string(c));
      const std::int64_t there = value == nullptr ? 0 : value->as_int64();
      CHECK_MESSAGE(there >= acknowledged[c].load(), "round ", round, " client ", c);
      CHECK_MESSAGE(there <= acknowledged[c].load() + 1, "round ", round, " client ", c);
      next[c] = there + 1;
      acknowledged[c] = there;
    }
    if (round == kills) {
      daemon.signal(SIGTERM);
      CHECK(daemon.wait() == 0);
      break;
    }
    std::atomic<std::int64_t> replies{0};
    const std::int64_t enough = std::uniform_int_distribution<std::int64_t>(1, 300)(random);
    std::vector<std::thread> threads;
    for (std::size_t c = 0; c < clients; ++c) {
      threads.emplace_back([&, c] {
        TestClient client(files.socket());
        for (std::int64_t n = next[c];; ++n) {
          const json::value reply =
              client.call("session.update", R"({"session_id":"s)" + std::to_string(c % sessions) +
                                                R"(","changes":{"metadata":{"c)" + std::to_string(c) +
                                                "\":" + std::to_string(n) + "}}}");
          if (result_of(reply) == nullptr) return;
          acknowledged[c] = n;
          if (++replies == enough) daemon.signal(SIGKILL);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(daemon.wait().has_value());
    total += static_cast<std::size_t>(replies.load());
  }
  std::printf("%zu kills, %zu acknowledged changes, none lost\n", kills, total);
}
