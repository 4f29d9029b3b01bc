// What a service manager sees: notifications, socket activation, the journal's priorities.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <sstream>

#include "tests/support/test_daemon.h"

namespace sessiond::test {
namespace {

// The manager's end of $NOTIFY_SOCKET.
class NotifySocket {
 public:
  NotifySocket() : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path().data(), path().size());
    REQUIRE(bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  ~NotifySocket() { ::close(descriptor_); }

  std::string path() const { return directory_.file("notify"); }
  // Reads messages until one has this line; false at the limit.
  bool receives(const std::string& line) {
    for (int messages = 0; messages < 1'000; ++messages) {
      pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return false;
      char buffer[4096];
      const ssize_t count = recv(descriptor_, buffer, sizeof buffer, 0);
      if (count < 0) return false;
      std::istringstream lines(std::string(buffer, static_cast<std::size_t>(count)));
      for (std::string said; std::getline(lines, said);)
        if (said.starts_with(line)) return true;
    }
    return false;
  }

 private:
  TempDir directory_;
  int descriptor_;
};

}  // namespace

TEST_CASE("the manager is told: ready, a status, alive, stopping") {
  NotifySocket manager;
  TestDaemon daemon({.environment = {{"NOTIFY_SOCKET", manager.path()}, {"WATCHDOG_USEC", "100000"}}});
  SUBCASE("ready first") {
    // The watchdog may come before; READY and STATUS travel together.
    CHECK(manager.receives("READY=1"));
    CHECK(daemon.stop() == 0);
    CHECK(manager.receives("STOPPING=1"));
  }
  SUBCASE("status") { CHECK(manager.receives("STATUS=listening on " + daemon.socket())); }
  SUBCASE("watchdog") {
    for (int i = 0; i < 5; ++i) CHECK(manager.receives("WATCHDOG=1"));
  }
  // For a person only.
  CHECK(daemon.process().out().empty());
}

TEST_CASE("without a watchdog there is nothing to keep alive") {
  NotifySocket manager;
  TestDaemon daemon({.environment = {{"NOTIFY_SOCKET", manager.path()}}});
  REQUIRE(manager.receives("READY=1"));
  REQUIRE(daemon.connect().ping());
  CHECK(daemon.stop() == 0);
  CHECK(manager.receives("STOPPING=1"));
}

TEST_CASE("a socket that is passed in is adopted and left in place") {
  if (run({.command = {"systemd-socket-activate", "--version"}}).status != 0) {
    MESSAGE("SKIPPED: systemd-socket-activate is not installed (package systemd)");
    return;
  }
  DaemonFiles files;
  const std::string passed = files.root() + "/passed.sock";
  std::vector<std::string> command{"systemd-socket-activate", "--listen=" + passed};
  // What it needs of the environment must be named.
  for (const char* name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "HOME"})
    command.push_back("--setenv=" + std::string(name));
  for (const std::string& word : files.command()) command.push_back(word);
  Process process({.command = command});
  // The first connection starts the daemon and is answered by it. Nothing is bound at the configured path.
  REQUIRE(eventually([&] { return TestClient(passed).connected(); }));
  TestClient client(passed);
  REQUIRE(client.ping());
  const json::value info = client.call("daemon.info");
  CHECK(info.at("result").at("socket").as_string() == passed.c_str());
  CHECK(info.at("result").at("pid") == process.pid());
  CHECK_FALSE(TestClient(files.socket()).connected());
  process.signal(SIGTERM);
  CHECK(process.wait() == 0);
  struct stat left {};
  CHECK(lstat(passed.c_str(), &left) == 0);
}

TEST_CASE("more than one passed socket is refused") {
  if (run({.command = {"systemd-socket-activate", "--version"}}).status != 0) {
    MESSAGE("SKIPPED: systemd-socket-activate is not installed (package systemd)");
    return;
  }
  DaemonFiles files;
  std::vector<std::string> command{"systemd-socket-activate", "--listen=" + files.root() + "/a.sock",
                                   "--listen=" + files.root() + "/b.sock"};
  for (const std::string& word : files.command()) command.push_back(word);
  Process process({.command = command});
  REQUIRE(eventually([&] { return TestClient(files.root() + "/a.sock").connected(); }));
  CHECK(process.wait() == 13);
  CHECK(process.err().find("expected one socket, got 2") != std::string::npos);
}

TEST_CASE("lines for the journal carry a priority, and only lines for the journal") {
  // systemd names the device and inode of the stream; anything else is inherited from somebody's session.
  DaemonFiles files("log_level: debug\n");
  const std::string log = files.root() + "/log";
  write_file(log, "");
  struct stat info {};
  REQUIRE(stat(log.c_str(), &info) == 0);
  std::string stream = std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
  bool ours = true;
  SUBCASE("the stream is stderr") {}
  SUBCASE("the stream is something else") {
    stream = "1:1";
    ours = false;
  }
  std::string line = "exec \"$@\" 2>>'" + log + "'";
  std::vector<std::string> command{"sh", "-c", line, "sh"};
  for (const std::string& word : files.command()) command.push_back(word);
  {
    Process process({.command = command, .environment = {{"JOURNAL_STREAM", stream}}});
    REQUIRE(eventually([&] { return TestClient(files.socket()).connected(); }));
    TestClient client(files.socket());
    REQUIRE(client.send("{\"jsonrpc\":\"2.0\",\"method\":\"none\"}\n"));
    REQUIRE(client.ping());
    process.signal(SIGTERM);
    REQUIRE(process.wait() == 0);
  }
  std::istringstream lines(read_file(log));
  std::size_t with_priority = 0;
  std::size_t count = 0;
  bool debug_seen = false;
  for (std::string said; std::getline(lines, said); ++count) {
    if (said.starts_with("<6>") || said.starts_with("<7>")) ++with_priority;
    if (said.starts_with("<7>notification")) debug_seen = true;
  }
  CHECK(count >= 3);
  CHECK(with_priority == (ours ? count : 0));
  CHECK(debug_seen == ours);
}

}  // namespace sessiond::test
