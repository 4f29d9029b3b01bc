// The real daemon, started by a test on a state directory and a socket of its own.
#pragma once

#include <memory>
#include <string>

#include "tests/support/process.h"
#include "tests/support/test_client.h"

namespace sessiond::test {

// Where the programs under test were built.
std::string daemon_program();
std::string client_program();

struct DaemonOptions {
  std::string config;                              // text of its configuration file
  std::map<std::string, std::string> environment;  // as for a Process
  std::optional<std::size_t> open_files_max;
  std::string state_dir;  // empty: one of its own, below /tmp
};

// The directory, the paths and the command line of a daemon, which may fail to start.
class DaemonFiles {
 public:
  explicit DaemonFiles(const std::string& config = "", std::string state_dir = "");

  const std::string& root() const { return root_.path(); }
  std::string socket() const { return root_.file("run/sessiond.sock"); }
  std::string state_dir() const { return state_dir_.empty() ? root_.file("state") : state_dir_; }
  std::string config_file() const { return root_.file("sessiond.yaml"); }
  std::vector<std::string> command(const std::vector<std::string>& more = {}) const;

 private:
  TempDir root_;
  std::string state_dir_;
};

class TestDaemon {
 public:
  // Returns once the daemon answers. Throws with its stderr if it does not.
  explicit TestDaemon(const DaemonOptions& options = {});
  // Stops it if the test did not. A daemon that does not exit with 0 ends the test program: nobody may miss
  // it.
  ~TestDaemon();

  // SIGTERM, then its exit status.
  std::optional<int> stop();

  const DaemonFiles& files() const { return files_; }
  std::string socket() const { return files_.socket(); }
  Process& process() { return *process_; }
  pid_t pid() const { return process_->pid(); }
  TestClient connect() const { return TestClient(socket()); }

 private:
  void wait_until_ready();

  DaemonFiles files_;
  std::unique_ptr<Process> process_;
};

}  // namespace sessiond::test
