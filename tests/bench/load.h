// The load generator: one thread, epoll, any number of clients. Every client sends `depth` messages in one
// write, waits for as many lines, and starts again. The same code drives every server that is compared.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace sessiond::bench {

struct Load {
  std::string socket;
  pid_t server = 0;
  std::string message;  // one line, with its newline
  std::size_t clients = 1;
  std::size_t depth = 1;
};

struct Measured {
  double per_second = 0;       // round trips
  double cpu_us_per_trip = 0;  // of the server; less disturbed by what else the machine does
};

// Over about `duration`. Throws if the server goes away.
Measured measure(const Load& load, std::chrono::milliseconds duration);

}  // namespace sessiond::bench
