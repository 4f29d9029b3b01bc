// The running daemon: owns the loop, the dispatcher and the listener, and knows the order of start and stop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/time.h"
#include "daemon/config.h"
#include "daemon/net/listener.h"
#include "daemon/rpc/dispatcher.h"
#include "daemon/session/registry.h"

namespace sessiond {

class Server {
 public:
  // `flags` are applied again when SIGHUP rereads the files.
  Server(Config config, ConfigFlags flags, SocketFile socket_file, const Clock& clock);

  // Finds the sessions, then serves until SIGTERM or SIGINT, drains and returns.
  Status run();

 private:
  void wait_for_signal();
  void on_signal(int signal);
  // Log level and timeouts; the rest needs a restart.
  void reload();
  void stop();
  void keep_alive();

  Config config_;
  ConfigFlags flags_;
  Stats stats_;
  std::unique_ptr<Env> env_;
  boost::asio::io_context io_;
  // Workers post replies to io_ and tell the registry of changes: run() waits for them before anything is
  // destroyed.
  WorkerPool pool_;
  Registry registry_;
  Services services_;
  Dispatcher dispatcher_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer watchdog_;
  Listener listener_;
  bool stopping_ = false;
};

}  // namespace sessiond
