// Ten thousand idle connections, and a daemon that has nothing to do.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <deque>

#include "tests/support/test_daemon.h"

namespace sessiond::test {
namespace {

// How many connections this process and the daemon can hold, at most `wanted`.
std::size_t affordable(std::size_t wanted) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < wanted + 100) {
    rlimit raised{std::max<rlim_t>(limit.rlim_max, wanted + 100),
                  std::max<rlim_t>(limit.rlim_max, wanted + 100)};
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0) {
      raised = {limit.rlim_max, limit.rlim_max};
      setrlimit(RLIMIT_NOFILE, &raised);
    }
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  return std::min<std::size_t>(wanted, limit.rlim_cur - 100);
}

}  // namespace

TEST_CASE("many idle connections cost little and hold nobody up") {
  const std::size_t wanted = scaled(10'000, 1'000);
  const std::size_t count = affordable(wanted);
  if (count < wanted)
    MESSAGE("only " << count << " of " << wanted << " connections: RLIMIT_NOFILE is too low");
  TestDaemon daemon({.config = "limits: {connections: 20000, connections_per_uid: 20000}\n"});
  TestClient busy = daemon.connect();
  REQUIRE(busy.ping());
  const std::size_t before = status_value(daemon.pid(), "VmRSS");
  std::deque<TestClient> idle;
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(idle.emplace_back(daemon.connect()).connected());
    if (i % 2 == 0) REQUIRE(idle.back().ping());  // the other half has not said anything yet
  }
  REQUIRE(busy.ping());
  const std::size_t after = status_value(daemon.pid(), "VmRSS");
  MESSAGE(count << " idle connections: " << (after - before) / count << " bytes each");
  if (!instrumented) CHECK((after - before) / count <= 10 * 1024);
  for (int i = 0; i < 1'000; ++i) REQUIRE(busy.ping());
  CHECK(idle.front().ping());
  CHECK(idle.back().ping());
}

TEST_CASE("an idle daemon waits for events and for nothing else") {
  TestDaemon daemon;
  std::deque<TestClient> clients;
  for (int i = 0; i < 50; ++i) REQUIRE(clients.emplace_back(daemon.connect()).ping());
  CHECK(eventually([&] { return waits_for_events_only(daemon.pid()); }));
  // While another daemon works, this one is not scheduled once.
  const std::size_t switches = status_value(daemon.pid(), "voluntary_ctxt_switches");
  TestDaemon other;
  TestClient client = other.connect();
  for (int i = 0; i < 1'000; ++i) REQUIRE(client.ping());
  CHECK(status_value(daemon.pid(), "voluntary_ctxt_switches") == switches);
  CHECK(waits_for_events_only(daemon.pid()));
}

}  // namespace sessiond::test
