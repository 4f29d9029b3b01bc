// The client's end of a connection to the daemon: finds the socket, connects, sends one request at a time and
// waits for its reply. Plain blocking calls: a whole run of the client takes about a millisecond.
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sessiond {

class DaemonLink {
 public:
  // Connects to `socket`, or, if it is empty, to $SESSIOND_SOCKET, else to the user's daemon, else to the
  // system's. An error of code no_daemon says what was tried and how to start one.
  static Result<DaemonLink> open(const std::string& socket, std::chrono::milliseconds timeout);

  DaemonLink(DaemonLink&& other) noexcept;
  DaemonLink& operator=(DaemonLink&&) = delete;
  ~DaemonLink();

  // The result, or the error that the daemon answered, its data included. `params_text` is a JSON object or
  // empty.
  Result<json::value> call(std::string_view method, std::string_view params_text);

 private:
  DaemonLink(int socket, std::chrono::milliseconds timeout) : socket_(socket), timeout_(timeout) {}
  Status send(std::string_view bytes);
  Result<std::string> receive_line();

  int socket_;
  std::chrono::milliseconds timeout_;
  std::string received_;
  std::int64_t next_id_ = 1;
};

}  // namespace sessiond
