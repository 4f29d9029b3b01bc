// Counters of what the daemon did. Those of the network thread are plain; errors are counted on any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "common/error.h"

namespace sessiond {

struct Stats {
  std::int64_t requests = 0;
  std::int64_t notifications = 0;
  std::int64_t batches = 0;
  std::vector<std::int64_t> by_method;  // in the order of the method list
  std::int64_t connections_open = 0;
  std::int64_t connections_accepted = 0;
  std::int64_t connections_refused = 0;
  std::int64_t connections_dropped = 0;

  void count_error(ErrorCode code) { errors_[index(code)].fetch_add(1, std::memory_order_relaxed); }
  std::int64_t errors(ErrorCode code) const { return errors_[index(code)].load(std::memory_order_relaxed); }

 private:
  static std::size_t index(ErrorCode code) { return static_cast<std::size_t>(code); }
  std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(ErrorCode::usage) + 1> errors_{};
};

}  // namespace sessiond
