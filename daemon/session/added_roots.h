// roots.yaml: the roots that were added at run time.
#pragma once

#include <vector>

#include "daemon/config.h"
#include "daemon/store/env.h"

namespace sessiond {

// An unreadable file is logged and counts as empty.
std::vector<RootConfig> read_added_roots(Env& env, Handle state_dir);

// Replaces the file; durable when it returns.
Status write_added_roots(Env& env, Handle state_dir, const std::vector<RootConfig>& roots);

}  // namespace sessiond
