// The load generator: one thread, epoll, any number of clients. Every client sends `depth` messages in one
// write, waits for as many replies, and starts again. The same code drives every server that is compared.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace sessiond::bench {

// What one client sends, in turn and over again.
using Script = std::vector<std::string>;

struct Load {
  std::string socket;
  pid_t server = 0;
  std::vector<Script> clients;
  std::size_t depth = 1;
  std::size_t newlines_per_reply = 1;
};

// So many clients that all send the same.
std::vector<Script> same_for_all(std::size_t clients, const std::string& message);

struct Measured {
  double per_second = 0;       // round trips
  double cpu_us_per_trip = 0;  // of the server; less disturbed by what else the machine does
  double p50_us = 0, p95_us = 0, p99_us = 0;
};

// Fills in the quantiles. Sorts `latencies_us`.
void set_quantiles(Measured& measured, std::vector<double>& latencies_us);

// The median of each figure over the rounds; zeros without any.
Measured median_of(const std::vector<Measured>& rounds);

// Over about `duration`. Throws if the server goes away.
Measured measure(const Load& load, std::chrono::milliseconds duration);

}  // namespace sessiond::bench
