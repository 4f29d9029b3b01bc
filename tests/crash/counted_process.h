// A child process whose system calls that change files are counted over all its threads, and that is killed
// just before a chosen one of them. It is traced, with a filter so that other calls run at full speed. A
// tracer such as strace will not do: it counts for each thread by itself, and leaves the child behind when it
// is stopped.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/scale.h"

namespace sessiond::test {

class CountedProcess {
 public:
  // Dies before its call number `kill_at`, counted from 1; 0: never.
  CountedProcess(std::vector<std::string> command, std::size_t kill_at);
  // Kills it if it still runs.
  ~CountedProcess();
  CountedProcess(const CountedProcess&) = delete;
  CountedProcess& operator=(const CountedProcess&) = delete;

  bool running() const { return ended_.wait_for(std::chrono::seconds(0)) != std::future_status::ready; }
  void signal(int number) const;
  // The exit status, 128 + signal if one ended it, -1 if it could not be traced; nothing at the limit.
  std::optional<int> wait(std::chrono::milliseconds limit = patience) const;

  // So far.
  std::size_t calls() const { return calls_; }
  // The name of the call that it was killed at; only after its end.
  const std::string& killed_at() const { return killed_at_; }

 private:
  int trace(std::vector<std::string> command, std::size_t kill_at);
  int follow(pid_t child, std::size_t kill_at);

  std::atomic<pid_t> pid_{-1};
  std::atomic<std::size_t> calls_{0};
  std::string killed_at_;
  std::shared_future<int> ended_;
  std::thread tracer_;
};

}  // namespace sessiond::test
