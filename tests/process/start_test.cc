// How the daemon starts, and what keeps it from starting.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "tests/support/test_daemon.h"

namespace sessiond::test {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
}

bool exists(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

// A socket at `path` that somebody else made. Closed again, it leaves a stale file behind.
class ForeignSocket {
 public:
  explicit ForeignSocket(const std::string& path)
      : descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    REQUIRE(bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(descriptor_, 5) == 0);
  }
  ~ForeignSocket() { ::close(descriptor_); }

 private:
  int descriptor_;
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the socket and the directories that it makes are closed to others") {
  TestDaemon daemon;
  CHECK(mode_of(daemon.socket()) == 0600);
  CHECK(mode_of(daemon.files().root() + "/run") == 0700);
  CHECK(mode_of(daemon.files().state_dir()) == 0700);
  CHECK(daemon.stop() == 0);
  CHECK_FALSE(exists(daemon.socket()));
}

TEST_CASE("a stale socket is replaced") {
  DaemonFiles files;
  REQUIRE(mkdir((files.root() + "/run").c_str(), 0700) == 0);
  { const ForeignSocket left_over(files.socket()); }
  REQUIRE(exists(files.socket()));
  Process process({.command = files.command()});
  CHECK(eventually([&] { return TestClient(files.socket()).connected(); }));
  CHECK(TestClient(files.socket()).ping());
}

TEST_CASE("a socket that somebody listens on is refused and left alone") {
  DaemonFiles files;
  REQUIRE(mkdir((files.root() + "/run").c_str(), 0700) == 0);
  const ForeignSocket live(files.socket());
  const Finished second = run({.command = files.command()});
  CHECK(second.status == 5);
  CHECK(holds(second.err, "a daemon already answers on this socket"));
  CHECK(TestClient(files.socket()).connected());
}

TEST_CASE("a second daemon on the same socket is refused while the first goes on") {
  TestDaemon first;
  const Finished second =
      run({.command = {daemon_program(), "--config", first.files().config_file(), "--socket", first.socket(),
                       "--state-dir", first.files().root() + "/other"}});
  CHECK(second.status == 5);
  CHECK(holds(second.err, "another daemon uses this socket"));
  CHECK(first.connect().ping());
}

TEST_CASE("a file that is no socket is left alone") {
  DaemonFiles files;
  REQUIRE(mkdir((files.root() + "/run").c_str(), 0700) == 0);
  write_file(files.socket(), "precious");
  const Finished refused = run({.command = files.command()});
  CHECK(refused.status == 13);
  CHECK(holds(refused.err, "exists and is not a socket; it is left alone"));
  CHECK(read_file(files.socket()) == "precious");
}

TEST_CASE("a second daemon on the same state directory names the pid of the first") {
  TestDaemon first;
  const Finished second = run(
      {.command = {daemon_program(), "--config", first.files().config_file(), "--socket",
                   first.files().root() + "/other/sessiond.sock", "--state-dir", first.files().state_dir()}});
  CHECK(second.status == 5);
  CHECK(holds(second.err, "already owned by the daemon with pid " + std::to_string(first.pid())));
  CHECK_FALSE(exists(first.files().root() + "/other/sessiond.sock"));
  CHECK(first.connect().ping());
}

TEST_CASE("the state directory is free again after the daemon was killed") {
  DaemonFiles files;
  {
    Process killed({.command = files.command()});
    REQUIRE(eventually([&] { return TestClient(files.socket()).connected(); }));
    killed.signal(SIGKILL);
    REQUIRE(killed.wait() == 128 + SIGKILL);
  }
  REQUIRE(exists(files.socket()));
  Process next({.command = files.command()});
  CHECK(eventually([&] { return TestClient(files.socket()).connected(); }));
}

TEST_CASE("directories that others can write to are refused") {
  DaemonFiles files;
  std::string unsafe;
  std::string said = "writable by others";
  SUBCASE("of the socket") { unsafe = files.root() + "/run"; }
  SUBCASE("of the state") { unsafe = files.state_dir(); }
  REQUIRE(mkdir(unsafe.c_str(), 0700) == 0);
  REQUIRE(chmod(unsafe.c_str(), 0777) == 0);
  const Finished refused = run({.command = files.command()});
  CHECK(refused.status == 13);
  CHECK(holds(refused.err, unsafe + ": " + said));
  CHECK_FALSE(exists(files.socket()));
}

TEST_CASE("directories of another user are refused") {
  if (geteuid() != 0) {
    MESSAGE("SKIPPED: directories of another user need root");
    return;
  }
  DaemonFiles files;
  std::string foreign;
  SUBCASE("of the socket") { foreign = files.root() + "/run"; }
  SUBCASE("of the state") { foreign = files.state_dir(); }
  REQUIRE(mkdir(foreign.c_str(), 0700) == 0);
  REQUIRE(chown(foreign.c_str(), 12345, 12345) == 0);
  const Finished refused = run({.command = files.command()});
  CHECK(refused.status == 13);
  CHECK(holds(refused.err, foreign + ": belongs to user 12345"));
}

TEST_CASE("a wrong configuration is named by file and line, for the daemon and for --check-config") {
  struct Case {
    const char* text;
    const char* line;
    const char* said;
  };
  for (const Case& wrong :
       {Case{"log_level: info\nlimits:\n  conections: 5\n", ":3: ", "did you mean 'connections'?"},
        Case{"limits:\n  connections: many\n", ":2: ", "expected a whole number"},
        Case{"log_level: loud\n", ":1: ", "expected one of trace, debug, info, warn, error"},
        Case{"log_level: info\nsocket: [1\n", ":", ""},
        Case{"socket: relative/path\n", ":1: ", "expected an absolute path"}}) {
    CAPTURE(wrong.text);
    const DaemonFiles files(wrong.text);
    const std::vector<std::string> checks{"--check-config"};
    for (const bool check : {false, true}) {
      const Finished refused = run({.command = files.command(check ? checks : std::vector<std::string>{})});
      CAPTURE(refused.err);
      CHECK(refused.status == 2);
      CHECK(holds(refused.err, files.config_file() + wrong.line));
      CHECK(holds(refused.err, wrong.said));
      CHECK_FALSE(exists(files.socket()));
      CHECK_FALSE(exists(files.state_dir()));
    }
  }
}

TEST_CASE("--check-config touches nothing and says that all is well") {
  const DaemonFiles files("log_level: debug\nlimits:\n  connections: 5\n");
  const Finished checked = run({.command = files.command({"--check-config"})});
  CHECK(checked.status == 0);
  CHECK(checked.out == "configuration is fine\n");
  CHECK_FALSE(exists(files.socket()));
  CHECK_FALSE(exists(files.state_dir()));
}

TEST_CASE("a configuration file that was named must exist") {
  const DaemonFiles files;
  const Finished refused = run({.command = {daemon_program(), "--config", files.root() + "/none.yaml"}});
  CHECK(refused.status == 4);
  CHECK(holds(refused.err, files.root() + "/none.yaml: No such file"));
}

TEST_CASE("the command line: version, help, mistakes") {
  const Finished version = run({.command = {daemon_program(), "--version"}});
  CHECK(version.status == 0);
  CHECK(version.out == "sessiond " SESSIOND_VERSION "\n");
  CHECK(run({.command = {daemon_program(), "--help"}}).status == 0);
  CHECK(run({.command = {daemon_program(), "--no-such-flag"}}).status == 2);
  CHECK(run({.command = {daemon_program(), "--log-level", "loud", "--check-config"}}).status == 2);
  const std::string long_path = "/tmp/" + std::string(120, 'x');
  CHECK(run({.command = {daemon_program(), "--socket", long_path, "--check-config"}}).status == 2);
}

}  // namespace sessiond::test
