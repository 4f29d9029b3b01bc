// The listening socket and the set of connections. It binds its own socket or adopts the one that systemd
// passes, lets peers in by their credentials and the limits, and drains them at the end. On the network
// thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <unordered_set>

#include "daemon/net/connection.h"
#include "daemon/net/socket_file.h"

namespace sessiond {

class Listener {
 public:
  // `socket_file` holds the bound or adopted socket.
  Listener(boost::asio::io_context& io, SocketFile socket_file, Dispatcher& dispatcher, const Config& config,
           Stats& stats);
  ~Listener();

  void start();
  // Stops accepting, lets every connection finish, then calls `done` (at once if there are none). After
  // `patience` the rest is closed.
  void drain(std::chrono::milliseconds patience, std::function<void()> done);

 private:
  using Acceptor = boost::asio::local::stream_protocol::acceptor;

  void wait_for_peers();
  void accept_peers();
  // Checks who it is and takes over the descriptor.
  void admit(int descriptor);
  // Says why and closes the descriptor.
  void refuse(int descriptor, const Error& error);
  // Out of descriptors: answers those who wait with the descriptor kept for that.
  void refuse_waiting();
  void pause_accepting();
  void on_closed(Connection& connection);

  boost::asio::io_context& io_;
  SocketFile socket_file_;
  const Config& config_;
  Stats& stats_;
  ConnectionShared shared_;
  Acceptor acceptor_;
  boost::asio::steady_timer backoff_;
  boost::asio::steady_timer drain_timer_;
  int spare_descriptor_ = -1;
  std::unordered_set<std::shared_ptr<Connection>> connections_;
  std::map<uid_t, std::size_t> by_uid_;
  std::function<void()> drained_;
  LogLimit refused_log_{log::Level::warn, 20, std::chrono::seconds(10)};
};

}  // namespace sessiond
