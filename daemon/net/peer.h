// Who is at the other end of a connected Unix socket, from the kernel, and whether he may talk to us. Asked
// before one byte is read.
#pragma once

#include <sys/types.h>

#include <vector>

#include "common/result.h"
#include "daemon/config.h"

namespace sessiond {

struct Peer {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;
  std::vector<gid_t> groups;  // supplementary ones; filled only when rules name groups
};

Result<Peer> peer_of(int socket, bool with_groups);

// The daemon's own user and root always may; others by the rules.
bool may_connect(const Peer& peer, uid_t own_uid, const AccessRules& rules);

}  // namespace sessiond
