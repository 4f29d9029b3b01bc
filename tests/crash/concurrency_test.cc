// Clients that work on one session at once, with kills in between: whatever they see must be what a session
// that does one thing after another could have shown. The check itself must refuse histories that are wrong.
#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <random>
#include <thread>

#include "tests/crash/observations.h"
#include "tests/crash/rounds.h"
#include "tests/support/test_daemon.h"

using namespace sessiond::test;

namespace {

using Kind = Observation::Kind;

class Recorder {
 public:
  std::uint64_t tick() { return ++clock_; }
  std::int64_t fresh_value() { return ++value_; }

 private:
  std::atomic<std::uint64_t> clock_{0};
  std::atomic<std::int64_t> value_{0};
};

// One operation of one client. False when the daemon is gone.
bool operate(TestClient& client, Recorder& recorder, std::mt19937& random, std::int64_t& last_revision,
             std::vector<Observation>& seen) {
  Observation one;
  one.kind = random() % 3 == 0 ? Kind::read : Kind::write;
  json::value reply;
  if (one.kind == Kind::read) {
    one.began = recorder.tick();
    reply = client.call("session.get", R"({"session_id":"c"})");
  } else {
    one.value = recorder.fresh_value();
    const bool conditional = random() % 2 == 0;
    if (conditional) one.if_revision = last_revision;
    const std::string condition = conditional ? R"(,"if_revision":)" + std::to_string(last_revision) : "";
    one.began = recorder.tick();
    reply = client.call("session.update", R"({"session_id":"c","changes":{"metadata":{"v":)" +
                                              std::to_string(one.value) + "}}" + condition + "}");
  }
  one.ended = recorder.tick();
  if (!reply.is_object()) {
    if (one.kind == Kind::write) seen.push_back(one);
    return false;
  }
  const json::value* result = reply.get_object().if_contains("result");
  if (result == nullptr) {
    const json::object& data = reply.at("error").at("data").as_object();
    CHECK_MESSAGE(data.at("error") == "revision_conflict", json::serialize(reply));
    if (const json::value* revision = data.if_contains("revision")) last_revision = revision->as_int64();
    return true;
  }
  one.revision = last_revision = result->at("session").at("revision").as_int64();
  if (one.kind == Kind::read) {
    const json::value* value = result->at("document").at("metadata").as_object().if_contains("v");
    one.value = value == nullptr ? 0 : value->as_int64();
  }
  seen.push_back(one);
  return true;
}

// 8 clients, one session, `kills` restarts in between.
std::vector<Observation> observe(std::uint32_t seed, std::size_t kills, std::size_t operations) {
  constexpr std::size_t clients = 8;
  const DaemonFiles files;
  Recorder recorder;
  std::vector<Observation> all;
  std::mt19937 choose(seed);
  for (std::size_t life = 0; life <= kills; ++life) {
    Process daemon({.command = files.command()});
    while (daemon.running() && !TestClient(files.socket()).connected()) {
    }
    TestClient first(files.socket());
    REQUIRE(first.connected());
    first.call("workflow.create",
               R"({"session_id":"c","workflow_type":"w","target_file":"t","total_phases":2})");
    std::atomic<std::size_t> done{0};
    const std::size_t kill_after =
        life == kills ? static_cast<std::size_t>(-1) : 1 + choose() % (clients * operations);
    std::vector<std::vector<Observation>> seen(clients);
    std::vector<std::thread> threads;
    for (std::size_t c = 0; c < clients; ++c) {
      threads.emplace_back([&, c] {
        std::mt19937 random(seed * 1'000 + static_cast<std::uint32_t>(life * 10 + c));
        TestClient client(files.socket());
        std::int64_t last_revision = 1;
        for (std::size_t i = 0; i < operations; ++i) {
          if (!operate(client, recorder, random, last_revision, seen[c])) return;
          if (++done == kill_after) daemon.signal(SIGKILL);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (life == kills)
      daemon.signal(SIGTERM);
    else
      daemon.signal(SIGKILL);
    CHECK(daemon.wait().has_value());
    for (const auto& part : seen) all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Observation write(std::uint64_t began, std::uint64_t ended, std::int64_t revision, std::int64_t value) {
  return {Kind::write, began, ended, revision, value, {}};
}
Observation read(std::uint64_t began, std::uint64_t ended, std::int64_t revision, std::int64_t value) {
  return {Kind::read, began, ended, revision, value, {}};
}

}  // namespace

TEST_CASE("concurrency: the check accepts what is right and refuses what is wrong") {
  CHECK(contradiction({write(1, 2, 2, 10), read(3, 4, 2, 10), write(3, 6, 3, 11), read(5, 8, 2, 10),
                       read(7, 9, 3, 11)}) == "");
  CHECK(contradiction({write(1, 2, 0, 10), read(3, 4, 2, 10), read(5, 6, 2, 10)}) == "");
  Observation wrong_base = write(3, 4, 4, 11);
  wrong_base.if_revision = 2;
  const std::vector<std::vector<Observation>> bad{
      {write(1, 2, 2, 10), write(1, 2, 2, 11)},  // one revision twice
      {write(1, 2, 3, 10), write(3, 4, 2, 11)},  // a later write with an earlier revision
      {write(1, 2, 3, 10), read(3, 4, 2, 9)},    // a stale read after the acknowledgment
      {write(1, 2, 2, 10), read(3, 4, 2, 11)},   // another value than was written
      {write(1, 2, 2, 10), wrong_base},          // accepted on top of a revision that was gone
      {write(1, 2, 2, 10), read(3, 4, 3, 12)},   // a value that nobody wrote
      {read(1, 2, 3, 10), write(3, 4, 3, 10)},   // read before it was written
      {write(1, 2, 5, 10), read(3, 4, 5, 10), read(5, 6, 4, 0)},   // an acknowledged change is lost again
      {write(1, 2, 0, 10), read(3, 4, 2, 10), read(5, 6, 3, 10)},  // an unanswered change happened twice
      {write(1, 2, 0, 10), write(1, 2, 0, 11), read(3, 4, 2, 10),
       read(5, 6, 2, 11)},                                          // one revision, two values
      {write(1, 2, 2, 10), write(3, 4, 2, 11), read(5, 6, 2, 10)},  // a lost update
  };
  for (std::size_t i = 0; i < bad.size(); ++i) CHECK_MESSAGE(contradiction(bad[i]) != "", "bad history ", i);
}

TEST_CASE("concurrency: what 8 clients see through kills is what one session could show") {
  const std::size_t histories = rounds("SESSIOND_HISTORIES", scaled(50, 4));
  std::size_t observations = 0;
  for (std::uint32_t seed = 1; seed <= histories; ++seed) {
    const std::vector<Observation> seen = observe(seed, 2, 30);
    observations += seen.size();
    CHECK_MESSAGE(contradiction(seen) == "", "seed ", seed);
  }
  std::printf("%zu histories, %zu observations\n", histories, observations);
}
