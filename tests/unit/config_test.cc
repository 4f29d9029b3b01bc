#include "daemon/config.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support/environment.h"
#include "support/outcome.h"

using namespace sessiond;
using namespace std::chrono_literals;

namespace {

std::string apply(std::string_view text) {
  Config config;
  return refusal(apply_config_text(config, text, "f.yaml"));
}

// No file of this machine and no variable of the caller reaches a test.
struct CleanEnvironment {
  TempDir dir;
  ScopedVariable home{"HOME", dir.path().c_str()};
  ScopedVariable config_home{"XDG_CONFIG_HOME", dir.path().c_str()};
  ScopedVariable state{"STATE_DIRECTORY", nullptr}, xdg_state{"XDG_STATE_HOME", "/state"};
  ScopedVariable runtime{"RUNTIME_DIRECTORY", nullptr}, xdg_runtime{"XDG_RUNTIME_DIR", "/run/user/7"};
};

}  // namespace

TEST_CASE("config: every key is taken") {
  Config config;
  const Status status = apply_config_text(config, R"(
socket: /run/x.sock
state_dir: /var/lib/x
log_level: debug
access:
  uids: [1000, root, 0]
  groups: [root, 27]
timeouts:
  inactivity: 2h
  abandonment: off
  kinds:
    review: {inactivity: 5m}
    build: {abandonment: 3d}
limits:
  frame_bytes: 2048
  connections: 10
  connections_per_uid: 5
  outbox_bytes: 4096
  handshake: 5s
  stall: 250ms
)",
                                          "f.yaml");
  REQUIRE(refusal(status) == "(accepted)");
  CHECK(config.socket == "/run/x.sock");
  CHECK(config.state_dir == "/var/lib/x");
  CHECK(config.log_level == log::Level::debug);
  CHECK(config.access.uids == std::vector<uid_t>{1000, 0, 0});
  CHECK(config.access.gids == std::vector<gid_t>{0, 27});
  CHECK(config.access.others_allowed());
  CHECK(config.timeouts.inactivity == Millis(2h));
  CHECK_FALSE(config.timeouts.abandonment.has_value());
  REQUIRE(config.kind_timeouts.size() == 2);
  CHECK(config.kind_timeouts.at("review").inactivity == Millis(5min));
  CHECK_FALSE(config.kind_timeouts.at("review").abandonment.has_value());
  CHECK(config.kind_timeouts.at("build").inactivity == Millis(2h));
  CHECK(config.kind_timeouts.at("build").abandonment == Millis(72h));
  CHECK(config.limits.frame_bytes == 2048);
  CHECK(config.limits.connections == 10);
  CHECK(config.limits.connections_per_uid == 5);
  CHECK(config.limits.outbox_bytes == 4096);
  CHECK(config.limits.handshake == 5s);
  CHECK(config.limits.stall == 250ms);
  CHECK(config.files == std::vector<std::string>{"f.yaml"});
}

TEST_CASE("config: a file that says nothing changes nothing") {
  for (const char* text :
       {"", "# nothing\n", "{}", "limits:\naccess:\ntimeouts:\n", "timeouts: {kinds: {}}"}) {
    CAPTURE(text);
    Config config;
    CHECK(refusal(apply_config_text(config, text, "f.yaml")) == "(accepted)");
    CHECK(config.limits.frame_bytes == Limits{}.frame_bytes);
    CHECK(config.timeouts.inactivity == Millis(24h));
    CHECK(config.timeouts.abandonment == Millis(168h));
    CHECK_FALSE(config.access.others_allowed());
    CHECK(config.log_level == log::Level::info);
  }
}

TEST_CASE("config: a timeout is off by that word, quoted or as false") {
  for (const char* off : {"off", "'off'", "false"}) {
    Config config;
    CHECK(refusal(apply_config_text(config, "timeouts: {inactivity: " + std::string(off) + "}", "f")) ==
          "(accepted)");
    CHECK_FALSE(config.timeouts.inactivity.has_value());
    CHECK(config.timeouts.abandonment.has_value());
  }
}

TEST_CASE("config: every refusal names the file, the line, the key and the value") {
  struct Row {
    std::string_view text, message;
  };
  const Row rows[] = {
      {"\nsokcet: /x", "f.yaml:2: sokcet: not a known name (did you mean 'socket'?)"},
      {"limits:\n  frame_byte: 5000",
       "f.yaml:2: limits.frame_byte: not a known name (did you mean 'frame_bytes'?)"},
      {"zzz: 1",
       "f.yaml:1: zzz: not a known name; known are socket, state_dir, log_level, access, timeouts, roots, "
       "limits"},
      {"a.b: 1",
       "f.yaml:1: a.b: not a known name; known are socket, state_dir, log_level, access, timeouts, roots, "
       "limits"},
      {"socket: relative", "f.yaml:1: socket: expected an absolute path, got \"relative\""},
      {"socket: ''", "f.yaml:1: socket: expected a string of 1 to 107 characters, got \"\" (0 characters)"},
      {"socket: 5", "f.yaml:1: socket: expected a string, got 5"},
      {"state_dir: a/b", "f.yaml:1: state_dir: expected an absolute path, got \"a/b\""},
      {"\n\nlog_level: wran",
       "f.yaml:3: log_level: expected one of trace, debug, info, warn, error, got \"wran\" (did you mean "
       "'warn'?)"},
      {"access: [1]", "f.yaml:1: access: expected an object, got [1]"},
      {"access:\n  uids: 5", "f.yaml:2: access.uids: expected an array, got 5"},
      {"access:\n  uids:\n    - 0\n    - -1", "f.yaml:4: access.uids[1]: expected an id or a name, got -1"},
      {"access:\n  uids: [4294967295]", "f.yaml:2: access.uids[0]: expected an id or a name, got 4294967295"},
      {"access:\n  uids: [no-such-user-here]",
       "f.yaml:2: access.uids[0]: expected a name that this machine knows, got \"no-such-user-here\""},
      {"access:\n  groups: [0,\n    no-such-group-here]",
       "f.yaml:3: access.groups[1]: expected a name that this machine knows, got \"no-such-group-here\""},
      {"timeouts:\n  inactivity: 24",
       "f.yaml:2: timeouts.inactivity: expected a duration such as 90s, 15m, 24h, 7d, or off, got 24"},
      {"timeouts:\n  inactivity: true",
       "f.yaml:2: timeouts.inactivity: expected a duration such as 90s, 15m, 24h, 7d, or off, got true"},
      {"timeouts:\n  abandonment: 1w",
       "f.yaml:2: timeouts.abandonment: expected a duration such as 250ms, 90s, 15m, 24h or 7d, got \"1w\""},
      {"timeouts:\n  abandonment: 0s",
       "f.yaml:2: timeouts.abandonment: expected a duration above zero, or off, got \"0s\""},
      {"timeouts:\n  kinds:\n    review:\n      inactivty: 5m",
       "f.yaml:4: timeouts.kinds.review.inactivty: not a known name (did you mean 'inactivity'?)"},
      {"timeouts:\n  kinds:\n    review: 5m",
       "f.yaml:3: timeouts.kinds.review: expected an object, got \"5m\""},
      {"timeouts:\n  kinds:\n    a.b/c: {inactivity: 5}",
       "f.yaml:3: timeouts.kinds.a.b/c.inactivity: expected a duration such as 90s, 15m, 24h, 7d, or off, "
       "got 5"},
      {"limits:\n  frame_bytes: 1023",
       "f.yaml:2: limits.frame_bytes: expected a whole number from 1024 to 268435456, got 1023"},
      {"limits:\n  connections: 0",
       "f.yaml:2: limits.connections: expected a whole number from 1 to 100000, got 0"},
      {"limits:\n  connections_per_uid: 1.5",
       "f.yaml:2: limits.connections_per_uid: expected a whole number from 1 to 100000, got 1.5"},
      {"limits:\n  outbox_bytes: many",
       "f.yaml:2: limits.outbox_bytes: expected a whole number from 1024 to 1073741824, got \"many\""},
      {"limits:\n  handshake: off", "f.yaml:2: limits.handshake: cannot be off"},
      {"limits:\n  stall: off", "f.yaml:2: limits.stall: cannot be off"},
      {"- a", "f.yaml: expected an object, got [\"a\"]"},
      {"socket: /a\nsocket: /b", "f.yaml:2: not valid YAML at line 2: the key \"socket\" stands twice"},
      {"a: &x 1", "f.yaml:1: not valid YAML at line 1: anchors are not accepted"},
      {"socket: /a\n---\nsocket: /b", "f.yaml:2: not valid YAML at line 2: a second document follows"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(apply(row.text) == row.message);
  }
}

TEST_CASE("config: without files and flags the defaults hold") {
  const CleanEnvironment environment;
  const Result<Config> config = load_config({});
  REQUIRE(refusal(config) == "(accepted)");
  CHECK(config->socket == "/run/user/7/sessiond.sock");
  CHECK(config->state_dir == "/state/sessiond");
}

TEST_CASE("config: the user's file is read, and flags win over it") {
  const CleanEnvironment environment;
  const std::string file =
      environment.dir.write("sessiond/sessiond.yaml", "socket: /f.sock\nstate_dir: /f\nlog_level: error\n");
  const Result<Config> from_file = load_config({});
  REQUIRE(refusal(from_file) == "(accepted)");
  CHECK(from_file->socket == "/f.sock");
  CHECK(from_file->files.back() == file);

  const Result<Config> flagged =
      load_config({.state_dir = "/flag", .socket = "/flag.sock", .log_level = "trace"});
  REQUIRE(refusal(flagged) == "(accepted)");
  CHECK(flagged->socket == "/flag.sock");
  CHECK(flagged->state_dir == "/flag");
  CHECK(flagged->log_level == log::Level::trace);
}

TEST_CASE("config: a named file is read instead of the default ones, and must exist") {
  const CleanEnvironment environment;
  environment.dir.write("sessiond/sessiond.yaml", "log_level: error\n");
  const std::string named = environment.dir.write("named.yaml", "socket: /n.sock\n");
  const Result<Config> config = load_config({.config_file = named});
  REQUIRE(refusal(config) == "(accepted)");
  CHECK(config->socket == "/n.sock");
  CHECK(config->log_level == log::Level::info);
  CHECK(config->files == std::vector<std::string>{named});

  const std::string missing = environment.dir.path() + "/missing.yaml";
  CHECK(refusal(load_config({.config_file = missing})) == missing + ": No such file or directory");
}

TEST_CASE("config: a later file wins, key by key") {
  Config config;
  REQUIRE(apply_config_text(config, "log_level: warn\nlimits: {connections: 5, stall: 1s}\n", "a"));
  REQUIRE(apply_config_text(config, "limits: {connections: 6}\naccess: {uids: [1]}\n", "b"));
  REQUIRE(apply_config_text(config, "access: {uids: [2]}\n", "c"));
  CHECK(config.log_level == log::Level::warn);
  CHECK(config.limits.connections == 6);
  CHECK(config.limits.stall == 1s);
  CHECK(config.access.uids == std::vector<uid_t>{2});
  CHECK(config.files == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("config: what is no file of a sensible size is refused") {
  const CleanEnvironment environment;
  const std::string& dir = environment.dir.path();
  const std::string fifo = dir + "/fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const std::string large = environment.dir.write("large.yaml", std::string(config_bytes_max + 1, '#'));
  const std::string largest = environment.dir.write("largest.yaml", std::string(config_bytes_max, '#'));
  const std::string empty = environment.dir.write("empty.yaml", "");
  CHECK(refusal(load_config({.config_file = dir})) == dir + ": not a regular file");
  CHECK(refusal(load_config({.config_file = fifo})) == fifo + ": not a regular file");
  CHECK(refusal(load_config({.config_file = large})) == large + ": larger than 262144 bytes");
  CHECK(refusal(load_config({.config_file = largest})) == "(accepted)");
  CHECK(refusal(load_config({.config_file = empty})) == "(accepted)");
}

TEST_CASE("config: wrong flags are named") {
  const CleanEnvironment environment;
  CHECK(refusal(load_config({.state_dir = "x"})) == "--state-dir: expected an absolute path, got \"x\"");
  CHECK(refusal(load_config({.socket = "x"})) == "--socket: expected an absolute path, got \"x\"");
  CHECK(refusal(load_config({.log_level = "loud"})) ==
        "--log-level: expected one of trace, debug, info, warn, error, got \"loud\"");
  const std::string longest = "/" + std::string(106, 'x');
  CHECK(refusal(load_config({.socket = longest})) == "(accepted)");
  CHECK(refusal(load_config({.socket = longest + "x"}))
            .starts_with("socket: a socket's path has at most 107 bytes, got "));
}
