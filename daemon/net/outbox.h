// Bytes that wait to be sent to one peer. They are written in one go; what the socket does not take stays.
// The memory is at most twice what waits, also for a peer that never reads everything.
#pragma once

#include <cstddef>
#include <string>

namespace sessiond {

class Outbox {
 public:
  // Replies are appended here.
  std::string& tail() { return bytes_; }
  std::size_t size() const { return bytes_.size() - sent_; }
  bool empty() const { return sent_ == bytes_.size(); }

  enum class Sent { all, some, none, broken };
  // Never blocks. `broken`: the peer is gone.
  Sent send_to(int socket);

 private:
  void forget_sent();

  std::string bytes_;
  std::size_t sent_ = 0;  // of bytes_, already sent
};

}  // namespace sessiond
