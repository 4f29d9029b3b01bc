// Who may connect. The tests change their user id, so they need root.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test_daemon.h"

namespace sessiond::test {
namespace {

constexpr uid_t nobody = 65'534;
constexpr uid_t somebody = 12'345;

bool is_root() {
  if (geteuid() == 0) return true;
  MESSAGE("SKIPPED: access by other users can only be tested by root");
  return false;
}

// What a user gets when he connects and sends a ping: "not connected", or the first line and how it went on.
std::string attempt(const std::string& socket, const Identity& identity) {
  return as_user(identity, [&]() -> std::string {
    TestClient client(socket);
    if (!client.connected()) return "not connected";
    client.send(request(1, "daemon.ping"));
    const auto line = client.read_line();
    client.half_close();
    return line.value_or("no line") + (client.ends() && client.received().empty() ? " END" : " MORE");
  });
}

bool refused(const std::string& answer) {
  if (!answer.ends_with(" END")) return false;
  const json::value reply = json::parse(answer.substr(0, answer.size() - 4));
  return reply.at("error").at("code") == -32003 &&
         reply.at("error").at("data").at("error") == "access_denied" && reply.at("id").is_null();
}

bool answered(const std::string& answer) { return answer.find(R"("pong":true)") != std::string::npos; }

}  // namespace

TEST_CASE("by default the socket's mode keeps others out") {
  if (!is_root()) return;
  TestDaemon daemon;
  CHECK(attempt(daemon.socket(), {nobody, nobody, {}}) == "not connected");
  CHECK(answered(attempt(daemon.socket(), {0, 0, {}})));
}

TEST_CASE("users are let in by uid, others get an error, a closed connection and a log line") {
  if (!is_root()) return;
  TestDaemon daemon({.config = "access:\n  uids: [12345]\n"});
  struct stat info {};
  REQUIRE(lstat(daemon.socket().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0666);
  CHECK(answered(attempt(daemon.socket(), {somebody, somebody, {}})));
  CHECK(answered(attempt(daemon.socket(), {0, 0, {}})));
  CHECK(refused(attempt(daemon.socket(), {nobody, nobody, {}})));
  // A group of that number is not the user.
  CHECK(refused(attempt(daemon.socket(), {nobody, somebody, {somebody}})));
  CHECK(daemon.process().wait_for_err("refused a connection of uid 65534"));
  CHECK(daemon.connect().call("daemon.stats").at("result").at("connections").at("refused") == 2);
}

TEST_CASE("users are let in by their group and by their supplementary groups") {
  if (!is_root()) return;
  TestDaemon daemon({.config = "access:\n  groups: [23456]\n"});
  CHECK(answered(attempt(daemon.socket(), {nobody, 23'456, {}})));
  CHECK(answered(attempt(daemon.socket(), {nobody, nobody, {1, 2, 23'456}})));
  std::vector<gid_t> many;
  for (gid_t gid = 50'000; gid < 50'500; ++gid) many.push_back(gid);
  CHECK(refused(attempt(daemon.socket(), {nobody, nobody, many})));
  many.push_back(23'456);
  CHECK(answered(attempt(daemon.socket(), {nobody, nobody, many})));
  CHECK(refused(attempt(daemon.socket(), {nobody, nobody, {}})));
  // The user of that number is not the group.
  CHECK(refused(attempt(daemon.socket(), {23'456, nobody, {}})));
}

TEST_CASE("the limit per user leaves room for others") {
  if (!is_root()) return;
  TestDaemon daemon({.config = "access: {uids: [12345]}\nlimits: {connections_per_uid: 2}\n"});
  TestClient first = daemon.connect();
  TestClient second = daemon.connect();
  REQUIRE(first.ping());
  REQUIRE(second.ping());
  TestClient third = daemon.connect();
  const auto line = third.read_line();
  REQUIRE(line);
  CHECK(json::parse(*line).at("error").at("data").at("error") == "limit_exceeded");
  CHECK(third.ends());
  CHECK(answered(attempt(daemon.socket(), {somebody, somebody, {}})));
  first.half_close();
  REQUIRE(first.ends());
  CHECK(daemon.connect().ping());
}

}  // namespace sessiond::test
