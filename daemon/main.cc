#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "common/log.h"
#include "daemon/config.h"
#include "daemon/flags.h"
#include "daemon/net/socket_file.h"
#include "daemon/owner_lock.h"
#include "daemon/server.h"
#include "daemon/service.h"

namespace sessiond {
namespace {

int fail(const Error& error) {
  log::error(error.message);
  if (const json::value* next = error.data.if_contains("next"); next != nullptr && next->is_string())
    log::error("what to do: " + std::string(next->get_string()));
  return error_info(error.code).exit_status;
}

Result<SocketFile> open_socket(const Config& config) {
  SESSIOND_ASSIGN(SocketFile adopted, SocketFile::adopt());
  if (adopted.is_open()) return adopted;
  return SocketFile::bind(config.socket, config.access.others_allowed());
}

// For a person who started the daemon by hand.
void greet(const Config& config) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string client = (self.parent_path() / "sessiond-client --socket ").string() + config.socket;
  std::printf(
      "sessiond %s listens on %s\nTry, in another terminal:\n  %s ping\n  %s info\n  %s call daemon.stats\n"
      "Stop it with Ctrl-C.\n",
      SESSIOND_VERSION, config.socket.c_str(), client.c_str(), client.c_str(), client.c_str());
  std::fflush(stdout);
}

// Every session in use holds descriptors; the soft limit is often far below what is allowed.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int run(int argc, char** argv) {
  const auto parsed = parse_flags(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const Flags& flags = std::get<Flags>(parsed);

  Result<Config> config = load_config(flags.config);
  if (!config) return fail(config.error());
  if (flags.check_config) {
    std::printf("configuration is fine\n");
    return 0;
  }
  log::set_up(config->log_level);
  // A write to a closed socket or past a file size limit is an error on that call, not the end of the daemon.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  raise_descriptor_limit();

  const Result<OwnerLock> lock = OwnerLock::take(config->state_dir);
  if (!lock) return fail(lock.error());
  Result<SocketFile> socket = open_socket(*config);
  if (!socket) return fail(socket.error());
  if (socket->adopted() && !socket->path().empty()) config->socket = socket->path();
  if (!service::managed()) greet(*config);

  const SystemClock clock;
  Server server(std::move(*config), flags.config, std::move(*socket), clock);
  const Status served = server.run();
  return served ? 0 : fail(served.error());
}

}  // namespace
}  // namespace sessiond

int main(int argc, char** argv) { return sessiond::run(argc, argv); }
