#include "daemon/net/listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "common/log.h"
#include "daemon/net/peer.h"

namespace sessiond {
namespace {

constexpr std::chrono::milliseconds exhausted_backoff{100};

int open_spare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool out_of_descriptors(const boost::system::error_code& error) {
  return error.value() == EMFILE || error.value() == ENFILE || error.value() == ENOBUFS ||
         error.value() == ENOMEM;
}

}  // namespace

Listener::Listener(boost::asio::io_context& io, SocketFile socket_file, Dispatcher& dispatcher,
                   const Config& config, Stats& stats)
    : io_(io),
      socket_file_(std::move(socket_file)),
      config_(config),
      stats_(stats),
      shared_{.dispatcher = dispatcher, .limits = config.limits, .stats = stats, .closed = {}},
      acceptor_(io, boost::asio::local::stream_protocol(), socket_file_.release_descriptor()),
      backoff_(io),
      drain_timer_(io),
      spare_descriptor_(open_spare()) {
  shared_.closed = [this](Connection& connection) { on_closed(connection); };
}

Listener::~Listener() {
  if (spare_descriptor_ >= 0) ::close(spare_descriptor_);
}

void Listener::start() { accept(); }

void Listener::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, Connection::Socket socket) {
    on_accept(error, std::move(socket));
  });
}

void Listener::on_accept(const boost::system::error_code& error, Connection::Socket socket) {
  if (!acceptor_.is_open()) return;
  if (!error) {
    admit(std::move(socket));
    return accept();
  }
  if (!out_of_descriptors(error)) {
    log::warn("accept failed: " + error.message());
    return accept();
  }
  on_exhausted();
}

void Listener::on_exhausted() {
  log::warn("out of file descriptors; new connections wait");
  ++stats_.connections_refused;
  if (spare_descriptor_ >= 0) {
    ::close(spare_descriptor_);
    const int peer = ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (peer >= 0) {
      Connection::Socket socket(io_, boost::asio::local::stream_protocol(), peer);
      refuse(
          socket,
          Error(ErrorCode::limit_exceeded, "the daemon is out of file descriptors").next("try again later"));
      socket.close();
    }
    spare_descriptor_ = open_spare();
  }
  // Without a pause the ready listener would spin.
  backoff_.expires_after(exhausted_backoff);
  backoff_.async_wait([this](const boost::system::error_code& waited) {
    if (!waited) accept();
  });
}

void Listener::admit(Connection::Socket socket) {
  Result<Peer> peer = peer_of(socket.native_handle(), !config_.access.gids.empty());
  std::optional<Error> error;
  if (!peer) {
    error = std::move(peer).error();
  } else if (!may_connect(*peer, getuid(), config_.access)) {
    error = Error(ErrorCode::access_denied, "user " + std::to_string(peer->uid) + " may not use this daemon")
                .next("ask its owner to add the user or a group under 'access' in the configuration");
  } else if (connections_.size() >= config_.limits.connections) {
    error = Error(ErrorCode::limit_exceeded, "the daemon has " + std::to_string(connections_.size()) +
                                                 " connections, which is the limit")
                .next("close one, or raise limits.connections in the configuration");
  } else if (by_uid_[peer->uid] >= config_.limits.connections_per_uid) {
    error = Error(ErrorCode::limit_exceeded, "user " + std::to_string(peer->uid) + " has " +
                                                 std::to_string(by_uid_[peer->uid]) +
                                                 " connections, which is the limit")
                .next("close one, or raise limits.connections_per_uid in the configuration");
  }
  if (error) {
    ++stats_.connections_refused;
    const std::string who =
        peer ? " of uid " + std::to_string(peer->uid) + " (pid " + std::to_string(peer->pid) + ")" : "";
    log::warn("refused a connection" + who + ": " + error->message);
    return refuse(socket, *error);
  }
  ++stats_.connections_accepted;
  ++stats_.connections_open;
  ++by_uid_[peer->uid];
  Caller caller;
  caller.uid = peer->uid;
  caller.gid = peer->gid;
  caller.pid = peer->pid;
  auto connection = std::make_shared<Connection>(std::move(socket), std::move(caller), shared_);
  connections_.insert(connection);
  connection->start();
}

void Listener::refuse(Connection::Socket& socket, const Error& error) {
  std::string body;
  shared_.dispatcher.refuse(error, body);
  body += '\n';
  ::send(socket.native_handle(), body.data(), body.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Listener::on_closed(Connection& connection) {
  --stats_.connections_open;
  if (auto count = by_uid_.find(connection.uid()); count != by_uid_.end() && --count->second == 0)
    by_uid_.erase(count);
  connections_.erase(connection.shared_from_this());
  if (drained_ && connections_.empty()) {
    drain_timer_.cancel();
    std::exchange(drained_, nullptr)();
  }
}

void Listener::drain(std::chrono::milliseconds patience, std::function<void()> done) {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  backoff_.cancel();
  socket_file_.remove();
  drained_ = std::move(done);
  // A copy: a connection that has nothing left to do leaves the set at once.
  const auto open = connections_;
  for (const auto& connection : open) connection->drain();
  if (!drained_) return;
  if (connections_.empty()) return std::exchange(drained_, nullptr)();
  drain_timer_.expires_after(patience);
  drain_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    const auto late = connections_;
    log::warn(std::to_string(late.size()) + " connections did not finish in time");
    for (const auto& connection : late) connection->close();
  });
}

}  // namespace sessiond
