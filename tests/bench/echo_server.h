// The yardstick: a bare Asio echo server on a Unix socket, one thread, callbacks, in a process of its own. It
// does the least that any server on this library must do.
#pragma once

#include <sys/types.h>

#include <string>

namespace sessiond::bench {

class EchoServer {
 public:
  // Listens before it returns.
  explicit EchoServer(const std::string& path);
  // Kills and reaps it.
  ~EchoServer();
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

}  // namespace sessiond::bench
