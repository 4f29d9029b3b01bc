#include "common/paths.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace sessiond {
namespace {

// The variable's value if it is an absolute path; the XDG rules say to ignore a relative one.
std::string directory_from(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::string home() {
  if (std::string dir = directory_from("HOME"); !dir.empty()) return dir;
  const passwd* entry = getpwuid(getuid());
  return entry != nullptr && entry->pw_dir != nullptr ? entry->pw_dir : "/";
}

// systemd may pass several directories separated by colons; ours is the first.
std::string first_of(std::string list) { return list.substr(0, list.find(':')); }

}  // namespace

std::string user_socket_path() {
  if (std::string dir = directory_from("XDG_RUNTIME_DIR"); !dir.empty()) return dir + "/sessiond.sock";
  return "/tmp/sessiond-" + std::to_string(getuid()) + "/sessiond.sock";
}

std::string system_socket_path() { return "/run/sessiond/sessiond.sock"; }

std::string default_socket_path() {
  if (std::string dir = first_of(directory_from("RUNTIME_DIRECTORY")); !dir.empty())
    return dir + "/sessiond.sock";
  return user_socket_path();
}

std::string default_state_dir() {
  if (std::string dir = first_of(directory_from("STATE_DIRECTORY")); !dir.empty()) return dir;
  if (std::string dir = directory_from("XDG_STATE_HOME"); !dir.empty()) return dir + "/sessiond";
  return home() + "/.local/state/sessiond";
}

std::vector<std::string> config_paths() {
  std::string config_home = directory_from("XDG_CONFIG_HOME");
  if (config_home.empty()) config_home = home() + "/.config";
  return {"/etc/sessiond/sessiond.yaml", config_home + "/sessiond/sessiond.yaml"};
}

}  // namespace sessiond
