// Limits of connections, of time and of memory. Beyond one: an error or a closed connection, and nobody else
// notices.
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <deque>

#include "tests/support/test_daemon.h"

namespace sessiond::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string error_name(const std::optional<std::string>& line) {
  if (!line) return "no line";
  const json::value reply = json::parse(*line);
  return std::string(reply.at("error").at("data").at("error").as_string());
}

std::int64_t dropped(TestClient& client) {
  return client.call("daemon.stats").at("result").at("connections").at("dropped").to_number<std::int64_t>();
}

}  // namespace

TEST_CASE("connections in all") {
  TestDaemon daemon({.config = "limits: {connections: 3}\n"});
  std::deque<TestClient> clients;
  for (int i = 0; i < 3; ++i) REQUIRE(clients.emplace_back(daemon.connect()).ping());
  for (int i = 0; i < 20; ++i) {
    TestClient more = daemon.connect();
    CHECK(error_name(more.read_line()) == "limit_exceeded");
    CHECK(more.ends());
  }
  for (TestClient& client : clients) CHECK(client.ping());
  clients.front().half_close();
  REQUIRE(clients.front().ends());
  CHECK(daemon.connect().ping());
}

TEST_CASE("out of file descriptors: it goes on, does not spin, and recovers") {
  // What a sanitizer opens for itself counts, too.
  TestDaemon daemon({.open_files_max = 64});
  std::deque<TestClient> clients;
  std::size_t served = 0;
  for (int i = 0; i < 60; ++i)
    if (clients.emplace_back(daemon.connect()).ping()) ++served;
  CAPTURE(served);
  CHECK(served > 30);
  CHECK(served < 60);
  CHECK(daemon.process().wait_for_err("out of file descriptors"));
  // With one more peer at the door all the time, those inside are answered and little time is used.
  const auto cpu_before = cpu_time(daemon.pid());
  const auto until = Clock::now() + std::chrono::milliseconds(500);
  std::size_t rounds = 0;
  for (; Clock::now() < until; ++rounds) {
    TestClient waiting = daemon.connect();
    REQUIRE(clients.front().ping());
    CHECK(error_name(waiting.read_line()) == "limit_exceeded");
    CHECK(waiting.ends());
  }
  const auto used = cpu_time(daemon.pid()) - cpu_before;
  MESSAGE("CPU time in 500 ms at the limit, " << rounds << " refused: " << used.count() << " ms");
  CHECK(used.count() <= (instrumented ? 250 : 100));
  // With nobody at the door it has nothing to do at all.
  CHECK(eventually([&] { return waits_for_events_only(daemon.pid()); }));
  clients.clear();
  CHECK(eventually([&] { return daemon.connect().ping(); }));
}

TEST_CASE("a first request must come in time, and any request must be complete in time") {
  TestDaemon daemon({.config = "limits: {handshake: 200ms}\n"});
  TestClient other = daemon.connect();
  REQUIRE(other.ping());
  SUBCASE("silence") {
    TestClient client = daemon.connect();
    CHECK(error_name(client.read_line()) == "limit_exceeded");
    CHECK(client.ends());
  }
  SUBCASE("half a first request") {
    TestClient client = daemon.connect();
    REQUIRE(client.send(R"({"jsonrpc":"2.0",)"));
    CHECK(error_name(client.read_line()) == "limit_exceeded");
    CHECK(client.ends());
  }
  SUBCASE("half a later request") {
    TestClient client = daemon.connect();
    REQUIRE(client.ping());
    REQUIRE(client.send(R"({"jsonrpc":"2.0",)"));
    CHECK(error_name(client.read_line()) == "limit_exceeded");
    CHECK(client.ends());
  }
  SUBCASE("half a body under HTTP") {
    TestClient client = daemon.connect();
    REQUIRE(client.send("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"));
    const auto frame = client.read_frame();
    REQUIRE(frame);
    CHECK(frame->http_status == 408);
    CHECK(client.ends());
  }
  SUBCASE("one byte at a time") {
    TestClient client = daemon.connect();
    std::size_t sent = 0;
    const auto began = Clock::now();
    const std::string slow = R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(100'000, 'x');
    while (sent < slow.size() && client.send(slow.substr(sent, 1))) {
      ++sent;
      // Nobody waits for an event here: the peer writes slowly on purpose.
      if (client.ends(std::chrono::milliseconds(1))) break;
    }
    CHECK(sent < slow.size());
    CHECK(Clock::now() - began >= std::chrono::milliseconds(190));
    CHECK(client.received().find("limit_exceeded") != std::string::npos);
  }
  // A connection that is idle between requests is nobody's fault.
  CHECK(other.ping());
  CHECK(dropped(other) == 1);
}

TEST_CASE("a peer that never reads is disconnected, and others notice nothing") {
  TestDaemon daemon({.config = "limits: {stall: 300ms, outbox_bytes: 65536}\n"});
  TestClient other = daemon.connect();
  TestClient silent = daemon.connect();
  std::string requests;
  for (int i = 0; i < 1'000; ++i) requests += request(i, "daemon.info");
  // As much as it takes: the daemon stops reading once its outbox is full.
  std::size_t taken = 0;
  bool open = true;
  const auto deadline = Clock::now() + patience;
  while (open && Clock::now() < deadline) {
    const std::size_t offset = taken % requests.size();
    const std::size_t count = silent.send_some(std::string_view(requests).substr(offset));
    taken += count;
    REQUIRE(other.ping());
    if (count == 0) open = dropped(other) == 0;
  }
  CHECK_FALSE(open);
  CHECK(silent.ends());
  CHECK(daemon.process().wait_for_err("it does not read its replies"));
  CHECK(other.ping());
}

TEST_CASE("a peer that reads a little at a time does not make the daemon's memory grow") {
  // AddressSanitizer keeps freed memory for a while, 256 MiB unless told: that is not growth.
  TestDaemon daemon({.config = "limits: {stall: 5s, outbox_bytes: 1048576}\n",
                     .environment = {{"ASAN_OPTIONS", "quarantine_size_mb=4"}},
                     .open_files_max = std::nullopt});
  TestClient client = daemon.connect();
  TestClient other = daemon.connect();
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += request(i, "daemon.info");
  const std::size_t before = status_value(daemon.pid(), "VmRSS");
  // As many requests as it takes, then fewer replies than are waiting: the rest is never all sent. A round
  // trip of the other peer lets the daemon fill the socket again in between.
  const std::size_t bytes_wanted = scaled(64, 16) * 1024 * 1024;
  std::size_t received = 0;
  std::size_t offset = 0;
  std::vector<char> buffer(128 * 1024);
  const auto deadline = Clock::now() + patience;
  while (received < bytes_wanted && Clock::now() < deadline) {
    while (const std::size_t count = client.send_some(std::string_view(requests).substr(offset)))
      offset = (offset + count) % requests.size();
    REQUIRE(other.ping());
    const ssize_t count = ::recv(client.descriptor(), buffer.data(), buffer.size(), 0);
    REQUIRE(count > 0);
    received += static_cast<std::size_t>(count);
  }
  REQUIRE(received >= bytes_wanted);
  const std::size_t peak = status_value(daemon.pid(), "VmHWM");
  MESSAGE("resident before " << before / 1024 << " KiB, at most " << peak / 1024 << " KiB");
  CHECK(peak < before + scaled(8, 32) * 1024 * 1024);
}

TEST_CASE("the last line of a peer that closes its side may lack its end") {
  TestDaemon daemon;
  TestClient client = daemon.connect();
  std::string text = request(1, "daemon.ping") + request(2, "daemon.ping");
  text.pop_back();
  REQUIRE(client.send(text));
  client.half_close();
  for (std::int64_t id = 1; id <= 2; ++id) {
    const auto line = client.read_line();
    REQUIRE(line);
    CHECK(json::parse(*line).at("id") == id);
  }
  CHECK(client.ends());
}

TEST_CASE("a peer that closes its side still gets all replies") {
  TestDaemon daemon;
  TestClient client = daemon.connect();
  const std::int64_t count = 3'000;
  std::string requests;
  for (std::int64_t id = 1; id <= count; ++id) requests += request(id, "daemon.info");
  REQUIRE(client.send(requests));
  client.half_close();
  for (std::int64_t id = 1; id <= count; ++id) {
    const auto line = client.read_line();
    REQUIRE(line);
    REQUIRE(json::parse(*line).at("id") == id);
  }
  CHECK(client.ends());
}

TEST_CASE("10,000 pipelined requests are answered in order") {
  DaemonOptions options;
  SUBCASE("with room") {}
  SUBCASE("through a small outbox, which stops reading many times") {
    options.config = "limits: {outbox_bytes: 1024}\n";
  }
  TestDaemon daemon(options);
  TestClient client = daemon.connect();
  const std::int64_t count = 10'000;
  std::string requests;
  for (std::int64_t id = 1; id <= count; ++id)
    requests += request(id, id % 7 == 0 ? "no.such" : "daemon.ping");
  std::string_view left = requests;
  std::int64_t next = 1;
  while (next <= count) {
    left.remove_prefix(client.send_some(left));
    const auto line = client.read_line();
    REQUIRE(line);
    const json::value reply = json::parse(*line);
    REQUIRE(reply.at("id") == next);
    REQUIRE(reply.get_object().contains(next % 7 == 0 ? "error" : "result"));
    ++next;
  }
  CHECK(left.empty());
}

}  // namespace sessiond::test
