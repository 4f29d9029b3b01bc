// Who sends requests, as the dispatcher sees it: what the kernel says of the peer, what it said of itself,
// and where a reply that is not ready at once goes. Owned by the connection; used on the network thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace sessiond {

struct Caller {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;
  std::optional<std::string> agent;
  std::optional<std::string> model;
  std::optional<std::string> name;
  // Takes the reply to one frame that was not answered at once; empty text means that there is nothing to
  // send. May be called on any thread, once per such frame, also after the connection is gone.
  std::function<void(std::string)> later;
};

}  // namespace sessiond
