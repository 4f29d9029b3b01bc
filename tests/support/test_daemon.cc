#include "tests/support/test_daemon.h"

#include <sys/stat.h>

#include <csignal>
#include <cstdio>

namespace sessiond::test {

std::string daemon_program() { return SESSIOND_DAEMON_PROGRAM; }
std::string client_program() { return SESSIOND_CLIENT_PROGRAM; }

DaemonFiles::DaemonFiles(const std::string& config, std::string state_dir)
    : state_dir_(std::move(state_dir)) {
  // Others must be able to reach the socket where a test lets them in; the daemon guards its own directories.
  chmod(root().c_str(), 0755);
  write_file(config_file(), config);
}

std::vector<std::string> DaemonFiles::command(const std::vector<std::string>& more) const {
  std::vector<std::string> out{daemon_program(), "--config", config_file(), "--state-dir",
                               state_dir(),      "--socket", socket()};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

TestDaemon::TestDaemon(const DaemonOptions& options) : files_(options.config, options.state_dir) {
  process_ = std::make_unique<Process>(ProcessOptions{.command = files_.command(),
                                                      .environment = options.environment,
                                                      .input = {},
                                                      .open_files_max = options.open_files_max});
  wait_until_ready();
}

// The first client leaves before others come: a test that counts connections must not meet it.
void TestDaemon::wait_until_ready() {
  bool answered = false;
  eventually([&] {
    TestClient client = connect();
    if (client.connected() && client.ping()) {
      client.half_close();
      answered = client.ends();
    }
    return answered || !process_->running();
  });
  if (!answered) throw std::runtime_error("the daemon did not start: " + process_->err());
}

TestDaemon::~TestDaemon() {
  const std::optional<int> status = stop();
  if (status == 0) return;
  std::fprintf(stderr, "the daemon ended with status %d:\n%s\n", status.value_or(-1),
               process_->err().c_str());
  std::abort();
}

std::optional<int> TestDaemon::stop() {
  process_->signal(SIGTERM);
  return process_->wait();
}

}  // namespace sessiond::test
