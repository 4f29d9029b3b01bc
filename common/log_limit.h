// A bound on one sort of log line that strangers can cause as often as they like: so many in an interval,
// then one line that says how many were left out. Not safe on several threads.
#pragma once

#include <chrono>
#include <string_view>

#include "common/log.h"

namespace sessiond {

class LogLimit {
 public:
  using Clock = std::chrono::steady_clock;

  LogLimit(log::Level level, int lines_max, std::chrono::seconds interval)
      : level_(level), lines_max_(lines_max), interval_(interval) {}

  void write(std::string_view message) { write(message, Clock::now()); }
  void write(std::string_view message, Clock::time_point now);

 private:
  log::Level level_;
  int lines_max_;
  std::chrono::seconds interval_;
  Clock::time_point began_ = Clock::time_point::min();
  int written_ = 0;
  int left_out_ = 0;
};

}  // namespace sessiond
