// The real daemon, killed: at every file-changing system call of a fixed script, and at random under load.
// Whatever was acknowledged must be there after the restart; what was not must be wholly there or not at all.
#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <random>
#include <thread>

#include "tests/crash/rounds.h"
#include "tests/support/test_daemon.h"

using namespace sessiond::test;

namespace {

// What the daemon said of one session: the value of metadata.n at each acknowledged revision.
struct Acknowledged {
  std::map<std::int64_t, std::int64_t> value_at;
  std::int64_t last_revision = 0;
  bool archived = false;
};

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
  std::string params;
  std::optional<std::int64_t> sets;  // metadata.n
};

std::string update(std::int64_t n) {
  return R"({"session_id":"k","changes":{"metadata":{"n":)" + std::to_string(n) + "}}}";
}

std::vector<Step> script() {
  return {
      {"workflow.create",
       R"({"session_id":"k","workflow_type":"w","target_file":"t","total_phases":3,"metadata":{"n":0}})", 0},
      {"session.update", update(1), 1},
      {"workflow.complete_phase", R"({"session_id":"k","phase":0})", {}},
      {"artifact.put", R"({"session_id":"k","name":"a.md","text":"one"})", {}},
      {"artifact.put", R"({"session_id":"k","name":"a.md","text":"two"})", {}},
      {"session.update", update(2), 2},
      {"session.pause", R"({"session_id":"k"})", {}},
      {"session.archive", R"({"session_id":"k"})", {}},
      {"session.restore", R"({"session_id":"k"})", {}},
      {"session.resume", R"({"session_id":"k"})", {}},
      {"session.update", update(3), 3},
      {"workflow.complete_phase", R"({"session_id":"k","phase":1})", {}}};
}

// Plays the script until the daemon is gone. Returns the number of acknowledged steps.
std::size_t play(TestClient& client, Acknowledged& known) {
  std::int64_t value = 0;
  std::size_t done = 0;
  for (const Step& step : script()) {
    const json::value reply = client.call(step.method, step.params);
    if (result_of(reply) == nullptr) return done;
    if (step.sets) value = *step.sets;
    if (step.method == "session.archive" || step.method == "session.restore")
      known.archived = step.method == "session.archive";
    if (const auto revision = revision_of(reply)) {
      known.value_at[*revision] = value;
      known.last_revision = *revision;
    }
    ++done;
  }
  return done;
}

void check_after_restart(TestClient& client, const Acknowledged& known, const std::string& where) {
  const json::value reply = client.call("session.get", R"({"session_id":"k"})");
  const auto revision = revision_of(reply);
  if (known.last_revision == 0 && !revision) return;  // the create was not acknowledged
  REQUIRE_MESSAGE(revision.has_value(), where, ": ", json::serialize(reply));
  CHECK_MESSAGE(*revision >= known.last_revision, where);
  CHECK_MESSAGE(*revision <= known.last_revision + 1, where);
  for (const auto& [at, value] : known.value_at) {
    const json::value old =
        client.call("session.get",
                    R"({"session_id":"k","pointer":"/metadata/n","at_revision":)" + std::to_string(at) + "}");
    REQUIRE_MESSAGE(result_of(old) != nullptr, where, ": ", json::serialize(old));
    CHECK_MESSAGE(result_of(old)->at("document") == value, where, " at revision ", at);
  }
  const json::value valid = client.call("session.validate", R"({"session_id":"k"})");
  REQUIRE(result_of(valid) != nullptr);
  CHECK_MESSAGE(result_of(valid)->at("valid") == true, where, ": ", json::serialize(valid));
}

bool can_inject() {
  Process probe({.command = {"strace", "-o", "/dev/null", "-e", "trace=getpid", "true"}});
  return probe.wait() == 0;
}

// One run that is killed at the `when`th call of `name`. False when the script went through.
bool killed_at(const std::string& name, int when) {
  const DaemonFiles files;
  Acknowledged known;
  bool killed = false;
  {
    std::vector<std::string> command{"strace",
                                     "-f",
                                     "-qq",
                                     "-o",
                                     "/dev/null",
                                     "-e",
                                     "trace=" + name,
                                     "-e",
                                     "inject=" + name + ":signal=KILL:when=" + std::to_string(when)};
    for (const std::string& word : files.command()) command.push_back(word);
    Process traced({.command = command});
    while (traced.running() && !TestClient(files.socket()).connected()) {
    }
    TestClient client(files.socket());
    const std::size_t done = client.connected() ? play(client, known) : 0;
    killed = done < script().size();
    if (!killed) traced.signal(SIGTERM);
    CHECK(traced.wait().has_value());
  }
  Process again({.command = files.command()});
  while (again.running() && !TestClient(files.socket()).connected()) {
  }
  TestClient client(files.socket());
  REQUIRE(client.connected());
  check_after_restart(client, known, name + " call " + std::to_string(when));
  again.signal(SIGTERM);
  CHECK(again.wait() == 0);
  return killed;
}

}  // namespace

TEST_CASE("kill: at every file-changing system call of a script") {
  if (!can_inject()) {
    MESSAGE("SKIPPED: strace cannot trace here");
    return;
  }
  constexpr int calls_max = 200;
  const int stride = instrumented ? 7 : 1;
  std::size_t points = 0;
  for (const char* name :
       {"pwrite64", "fdatasync", "fsync", "renameat2", "mkdirat", "ftruncate", "unlinkat"}) {
    for (int when = 1; when <= calls_max; when += stride) {
      if (!killed_at(name, when)) break;
      ++points;
    }
  }
  std::printf("killed at %zu system calls\n", points);
  CHECK(points > (instrumented ? 5U : 40U));
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
    while (daemon.running() && !TestClient(files.socket()).connected()) {
    }
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
