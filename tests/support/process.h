// A child process of a test. Its output goes into files; its environment is a small one of its own, so that
// the test does not depend on who runs it. It never outlives its object: the destructor kills and reaps it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/scale.h"
#include "tests/support/temp_dir.h"

namespace sessiond::test {

struct ProcessOptions {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // on top of PATH, HOME and the sanitizers' options
  std::string input;                               // what it reads from stdin
  std::optional<std::size_t> open_files_max;       // RLIMIT_NOFILE
};

class Process {
 public:
  explicit Process(const ProcessOptions& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  // The exit status, 128 + signal if one ended it, or nothing if it still runs at the limit.
  std::optional<int> wait(std::chrono::milliseconds limit = patience);
  bool running() { return !wait(std::chrono::milliseconds(0)).has_value(); }

  std::string out() const;
  std::string err() const;
  // Waits until its stderr holds `text`, it ends, or the limit.
  bool wait_for_err(const std::string& text, std::chrono::milliseconds limit = patience);

 private:
  TempDir directory_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  std::optional<int> status_;
};

struct Finished {
  int status = -1;
  std::string out;
  std::string err;
};
// Runs a command to its end; -1 as the status if it did not end in time.
Finished run(const ProcessOptions& options);

struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};
// What `work` returns when it runs in a child that took on this identity. Needs root.
std::string as_user(const Identity& identity, const std::function<std::string()>& work);

// CPU time that process `pid` used so far.
std::chrono::milliseconds cpu_time(pid_t pid);
// VmRSS, VmHWM and so on from /proc, in bytes; a count as it stands there.
std::size_t status_value(pid_t pid, const std::string& name);

// True if the main thread waits in epoll without a limit and no timer is armed: nothing will run it but an
// event from outside.
bool waits_for_events_only(pid_t pid);

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);

// Polls `condition` until it holds; false at the limit. For what no descriptor announces.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = patience);

}  // namespace sessiond::test
