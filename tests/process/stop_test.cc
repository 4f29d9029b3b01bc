// Signals: draining at the end, rereading the configuration; and what clients can do to the log.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <sstream>

#include "tests/support/test_daemon.h"

namespace sessiond::test {
namespace {

std::int64_t pings_counted(TestClient& client) {
  const json::value stats = client.call("daemon.stats");
  const json::value* count =
      stats.at("result").at("requests_by_method").get_object().if_contains("daemon.ping");
  return count == nullptr ? 0 : count->to_number<std::int64_t>();
}

std::string level_of(TestClient& client) {
  return std::string(client.call("daemon.info").at("result").at("log_level").as_string());
}

bool exists(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

// Lines that do not begin the way the daemon begins them.
std::size_t foreign_lines(const std::string& log) {
  std::size_t count = 0;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const bool dated = line.size() > 25 && line.starts_with("20") && line[10] == 'T' && line[23] == 'Z';
    const bool level = dated && line.compare(24, 2, " i") + line.compare(24, 2, " d") != 2;
    if (!dated || !level) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("SIGTERM and SIGINT: every accepted request is answered before the end") {
  int number = SIGTERM;
  SUBCASE("SIGTERM") {}
  SUBCASE("SIGINT") { number = SIGINT; }
  TestDaemon daemon;
  TestClient reader = daemon.connect();
  TestClient observer = daemon.connect();
  // Replies for which the socket has no room, so that some wait in the daemon.
  const std::int64_t count = 10'000;
  std::string requests;
  for (std::int64_t id = 1; id <= count; ++id) requests += request(id, "daemon.ping");
  REQUIRE(reader.send(requests));
  const std::int64_t before = 1;  // the one of the start
  REQUIRE(eventually([&] { return pings_counted(observer) == count + before; }));
  daemon.process().signal(number);
  REQUIRE(observer.ends());
  CHECK_FALSE(exists(daemon.socket()));
  CHECK(daemon.process().running());
  for (std::int64_t id = 1; id <= count; ++id) {
    const auto line = reader.read_line();
    REQUIRE(line);
    REQUIRE(json::parse(*line).at("id") == id);
  }
  CHECK(reader.ends());
  CHECK(reader.received().empty());
  CHECK(daemon.process().wait() == 0);
}

TEST_CASE("an idle daemon with idle connections stops at once") {
  TestDaemon daemon;
  TestClient first = daemon.connect();
  TestClient second = daemon.connect();
  REQUIRE(first.ping());
  CHECK(daemon.stop() == 0);
  CHECK(first.ends());
  CHECK(second.ends());
}

TEST_CASE("a peer that does not read cannot keep the daemon from stopping") {
  TestDaemon daemon({.config = "limits: {stall: 300ms}\n"});
  TestClient deaf = daemon.connect();
  TestClient observer = daemon.connect();
  std::string requests;
  for (std::int64_t id = 1; id <= 10'000; ++id) requests += request(id, "daemon.ping");
  REQUIRE(deaf.send(requests));
  REQUIRE(eventually([&] { return pings_counted(observer) > 1; }));
  CHECK(daemon.stop() == 0);
  CHECK(daemon.process().err().find("it does not read its replies") != std::string::npos);
}

TEST_CASE("SIGHUP rereads the log level; a bad file changes nothing") {
  TestDaemon daemon({.config = "log_level: warn\n"});
  TestClient client = daemon.connect();
  CHECK(level_of(client) == "warn");
  const std::string notification = R"({"jsonrpc":"2.0","method":"no.such.method"})"
                                   "\n";
  REQUIRE(client.send(notification));
  write_file(daemon.files().config_file(), "log_level: debug\n");
  daemon.process().signal(SIGHUP);
  CHECK(eventually([&] { return level_of(client) == "debug"; }));
  CHECK(daemon.process().err().find("no.such.method") == std::string::npos);
  REQUIRE(client.send(notification));
  CHECK(daemon.process().wait_for_err("no.such.method"));

  write_file(daemon.files().config_file(), "log_level: shout\n");
  daemon.process().signal(SIGHUP);
  CHECK(daemon.process().wait_for_err("the configuration was not reread: " + daemon.files().config_file() +
                                      ":1:"));
  CHECK(level_of(client) == "debug");
}

TEST_CASE("clients cannot forge a log line or send sequences to a terminal") {
  TestDaemon daemon({.config = "log_level: debug\n"});
  TestClient client = daemon.connect();
  const std::vector<std::string> names{R"(x\n2026-01-01T00:00:00.000Z error forged one)",
                                       R"(x\r\n2026-01-01T00:00:00.000Z error forged two)",
                                       R"(\u001b[2J\u001b]0;title\u0007)",
                                       R"(\u0085next\u009bcsi)",
                                       R"(\u007f\u0000\u0008)",
                                       R"({} {0} %s %n)",
                                       R"(a\u2028b\u2029c)"};
  for (const std::string& name : names)
    REQUIRE(client.send(R"({"jsonrpc":"2.0","method":")" + name + "\"}\n"));
  REQUIRE(client.ping());
  // Text that reaches the log from the framing: a request line and a header.
  for (const char* bytes :
       {"GET /\x1b[31m\r2026 forged three HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\nX\x1b]0;\x07 2026\r\n\r\n",
        "Content-Length: \x9b\xff 5\r\n\r\n"}) {
    TestClient hostile = daemon.connect();
    REQUIRE(hostile.send(bytes));
    CHECK(hostile.ends());
  }
  REQUIRE(client.ping());
  const std::string log = daemon.process().err();
  CAPTURE(log);
  CHECK(log.find("forged one") != std::string::npos);
  CHECK(log.find("\nforged") == std::string::npos);
  CHECK(foreign_lines(log) == 0);
  for (const char c : log) {
    const auto byte = static_cast<unsigned char>(c);
    CHECK_MESSAGE((byte == '\n' || (byte >= 0x20 && byte != 0x7f)), "byte " << int(byte));
  }
  CHECK(log.find("\xc2\x9b") == std::string::npos);
}

}  // namespace sessiond::test
