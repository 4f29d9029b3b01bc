#include "daemon/net/peer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sessiond {

Result<Peer> peer_of(int socket, bool with_groups) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return Error(ErrorCode::access_denied,
                 std::string("the kernel does not name the peer: ") + std::strerror(errno));
  Peer peer{credentials.uid, credentials.gid, credentials.pid, {}};
  if (!with_groups) return peer;
  peer.groups.resize(64);
  for (int tries = 0; tries < 4; ++tries) {
    size = static_cast<socklen_t>(peer.groups.size() * sizeof(gid_t));
    const int status = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &size);
    const int reason = errno;
    peer.groups.resize(size / sizeof(gid_t));
    if (status == 0) return peer;
    if (reason != ERANGE) break;
  }
  peer.groups.clear();  // unknown groups allow nothing
  return peer;
}

bool may_connect(const Peer& peer, uid_t own_uid, const AccessRules& rules) {
  if (peer.uid == own_uid || peer.uid == 0) return true;
  const auto listed = [](const auto& list, auto id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  if (listed(rules.uids, peer.uid) || listed(rules.gids, peer.gid)) return true;
  return std::any_of(peer.groups.begin(), peer.groups.end(),
                     [&](gid_t gid) { return listed(rules.gids, gid); });
}

}  // namespace sessiond
