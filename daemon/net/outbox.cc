#include "daemon/net/outbox.h"

#include <sys/socket.h>

#include <cerrno>

namespace sessiond {

Outbox::Sent Outbox::send_to(int socket) {
  bool progress = false;
  while (!empty()) {
    const ssize_t count = ::send(socket, bytes_.data() + sent_, size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return Sent::broken;
      forget_sent();
      return progress ? Sent::some : Sent::none;
    }
    progress = true;
    sent_ += static_cast<std::size_t>(count);
  }
  sent_ = 0;
  bytes_.clear();
  // An idle connection owns no buffer; a busy one keeps a small one.
  constexpr std::size_t kept_bytes = 4 * 1024;
  if (bytes_.capacity() > kept_bytes) bytes_.shrink_to_fit();
  return Sent::all;
}

// Only once it is the larger part: every byte is moved at most once on average.
void Outbox::forget_sent() {
  if (sent_ <= bytes_.size() / 2) return;
  bytes_.erase(0, sent_);
  sent_ = 0;
}

}  // namespace sessiond
