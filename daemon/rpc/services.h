// What handlers work with. Owned by the server; lives as long as any request.
#pragma once

#include "common/time.h"
#include "daemon/config.h"
#include "daemon/rpc/stats.h"

namespace sessiond {

struct Services {
  const Clock& clock;
  Config& config;
  Stats& stats;
  Millis started_at;  // boot time, so that the uptime does not jump with the wall clock
};

}  // namespace sessiond
