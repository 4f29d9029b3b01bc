// Counters of what the daemon did. Those here are touched on the network thread only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/error.h"

namespace sessiond {

struct Stats {
  std::int64_t requests = 0;
  std::int64_t notifications = 0;
  std::int64_t batches = 0;
  std::vector<std::int64_t> by_method;  // in the order of the method list
  std::array<std::int64_t, static_cast<std::size_t>(ErrorCode::usage) + 1> errors{};
  std::int64_t connections_open = 0;
  std::int64_t connections_accepted = 0;
  std::int64_t connections_refused = 0;
  std::int64_t connections_dropped = 0;

  void count_error(ErrorCode code) { ++errors[static_cast<std::size_t>(code)]; }
};

}  // namespace sessiond
