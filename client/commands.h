// What the client's commands do, once the command line is understood.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace sessiond {

struct Options {
  std::string socket;
  bool json = false;
  std::chrono::milliseconds timeout{60'000};
};

// Each returns the exit status, from the error table.
int ping(const Options& options);
int info(const Options& options);
int stats(const Options& options, bool prometheus);
// All methods, or the help of one. Works without a daemon, from the list that the client was built with.
int discover(const Options& options, const std::string& method, bool tables);
int call(const Options& options, const std::string& method, const std::vector<std::string>& words, bool help);

}  // namespace sessiond
