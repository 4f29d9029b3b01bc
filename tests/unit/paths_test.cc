#include "common/paths.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "support/environment.h"

using namespace sessiond;

TEST_CASE("paths: the environment decides, in this order") {
  struct Row {
    const char* about;
    const char *runtime_directory, *state_directory, *xdg_runtime, *xdg_state, *xdg_config;
    std::string socket, user_socket, state, config;
  };
  const std::string tmp_socket = "/tmp/sessiond-" + std::to_string(getuid()) + "/sessiond.sock";
  const Row rows[] = {
      {"nothing set", nullptr, nullptr, nullptr, nullptr, nullptr, tmp_socket, tmp_socket,
       "/h/.local/state/sessiond", "/h/.config/sessiond/sessiond.yaml"},
      {"a user's session", nullptr, nullptr, "/run/user/7", "/s", "/c", "/run/user/7/sessiond.sock",
       "/run/user/7/sessiond.sock", "/s/sessiond", "/c/sessiond/sessiond.yaml"},
      {"a system unit", "/run/sessiond", "/var/lib/sessiond", nullptr, nullptr, nullptr,
       "/run/sessiond/sessiond.sock", tmp_socket, "/var/lib/sessiond", "/h/.config/sessiond/sessiond.yaml"},
      {"a unit wins over the user", "/run/a:/run/b", "/var/a:/var/b", "/run/user/7", "/s", nullptr,
       "/run/a/sessiond.sock", "/run/user/7/sessiond.sock", "/var/a", "/h/.config/sessiond/sessiond.yaml"},
      {"relative ones are ignored", "run", "var", "user", "state", "config", tmp_socket, tmp_socket,
       "/h/.local/state/sessiond", "/h/.config/sessiond/sessiond.yaml"},
      {"empty ones are ignored", "", "", "", "", "", tmp_socket, tmp_socket, "/h/.local/state/sessiond",
       "/h/.config/sessiond/sessiond.yaml"},
  };
  const ScopedVariable home("HOME", "/h");
  for (const Row& row : rows) {
    CAPTURE(row.about);
    const ScopedVariable a("RUNTIME_DIRECTORY", row.runtime_directory);
    const ScopedVariable b("STATE_DIRECTORY", row.state_directory);
    const ScopedVariable c("XDG_RUNTIME_DIR", row.xdg_runtime);
    const ScopedVariable d("XDG_STATE_HOME", row.xdg_state);
    const ScopedVariable e("XDG_CONFIG_HOME", row.xdg_config);
    CHECK(default_socket_path() == row.socket);
    CHECK(user_socket_path() == row.user_socket);
    CHECK(default_state_dir() == row.state);
    CHECK(config_paths() == std::vector<std::string>{"/etc/sessiond/sessiond.yaml", row.config});
  }
  CHECK(system_socket_path() == "/run/sessiond/sessiond.sock");
}

TEST_CASE("paths: without HOME the user database is asked") {
  const ScopedVariable home("HOME", nullptr);
  const ScopedVariable state("STATE_DIRECTORY", nullptr);
  const ScopedVariable xdg("XDG_STATE_HOME", nullptr);
  const std::string dir = default_state_dir();
  CHECK(dir.starts_with('/'));
  CHECK(dir.ends_with("/.local/state/sessiond"));
}
