#include "daemon/net/peer.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/outcome.h"

using namespace sessiond;

TEST_CASE("peer: who may connect") {
  constexpr uid_t own = 1000;
  struct Row {
    const char* about;
    Peer peer;
    AccessRules rules;
    bool allowed;
  };
  const Row rows[] = {
      {"the daemon's own user", {own, 1, 1, {}}, {}, true},
      {"root", {0, 0, 1, {}}, {}, true},
      {"a stranger", {2000, 1, 1, {}}, {}, false},
      {"a stranger beside others' rules", {2000, 1, 1, {5}}, {{2001}, {6}}, false},
      {"a listed user", {2000, 1, 1, {}}, {{1999, 2000}, {}}, true},
      {"a listed primary group", {2000, 7, 1, {}}, {{}, {7}}, true},
      {"a listed supplementary group", {2000, 1, 1, {5, 7}}, {{}, {6, 7}}, true},
      {"a user id is no group id", {2000, 1, 1, {}}, {{}, {2000}}, false},
      {"root's group gives nothing by itself", {2000, 0, 1, {0}}, {}, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.about);
    CHECK(may_connect(row.peer, own, row.rules) == row.allowed);
  }
}

TEST_CASE("peer: the kernel names the process at the other end") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const Result<Peer> peer = peer_of(ends[0], true);
  close(ends[0]);
  close(ends[1]);
  REQUIRE(refusal(peer) == "(accepted)");
  CHECK(peer->uid == geteuid());
  CHECK(peer->gid == getegid());
  CHECK(peer->pid == getpid());
  CHECK(peer->groups.size() == static_cast<std::size_t>(getgroups(0, nullptr)));
}

TEST_CASE("peer: without a socket there is no peer") {
  const Result<Peer> peer = peer_of(-1, false);
  REQUIRE_FALSE(peer);
  CHECK(peer.error().code == ErrorCode::access_denied);
}
