// What handlers work with. Owned by the server; lives as long as any request.
#pragma once

#include "common/time.h"
#include "daemon/config.h"
#include "daemon/rpc/stats.h"
#include "daemon/session/registry.h"
#include "daemon/session/worker_pool.h"

namespace sessiond {

struct Services {
  const Clock& clock;
  Config& config;
  Stats& stats;
  Registry& registry;
  WorkerPool& pool;
  uid_t own_uid;
  Millis started_at;  // boot time, so that the uptime does not jump with the wall clock
};

}  // namespace sessiond
