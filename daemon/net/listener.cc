#include "daemon/net/listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/log.h"
#include "daemon/net/peer.h"

namespace sessiond {
namespace {

// After a failed accept. Without a pause the listener, which stays ready, would keep the daemon spinning.
constexpr std::chrono::milliseconds accept_pause{100};
// Peers taken in one go, before connections that are open get their turn.
constexpr int accept_batch_max = 64;

int open_spare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool out_of_descriptors(int reason) {
  return reason == EMFILE || reason == ENFILE || reason == ENOBUFS || reason == ENOMEM;
}

bool nobody_waits(int reason) { return reason == EAGAIN || reason == EWOULDBLOCK; }

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

void Listener::start() { wait_for_peers(); }

// Waits for a peer and then accepts, rather than the other way round: without a free descriptor accept()
// fails even when nobody is there, and an idle daemon would try again and again.
void Listener::wait_for_peers() {
  acceptor_.async_wait(Acceptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error && acceptor_.is_open()) accept_peers();
  });
}

void Listener::accept_peers() {
  for (int taken = 0; taken < accept_batch_max; ++taken) {
    const int peer = ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (peer >= 0) {
      admit(peer);
      continue;
    }
    if (nobody_waits(errno)) break;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (out_of_descriptors(errno))
      refuse_waiting();
    else
      log::warn(std::string("accept failed: ") + std::strerror(errno));
    return pause_accepting();
  }
  wait_for_peers();
}

void Listener::refuse_waiting() {
  if (spare_descriptor_ < 0) return log::warn("out of file descriptors; new connections wait");
  ::close(spare_descriptor_);
  int refused = 0;
  while (refused < accept_batch_max) {
    const int peer = ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (peer < 0) break;
    ++refused;
    ++stats_.connections_refused;
    refuse(peer,
           Error(ErrorCode::limit_exceeded, "the daemon is out of file descriptors").next("try again later"));
  }
  spare_descriptor_ = open_spare();
  refused_log_.write("out of file descriptors; connections refused: " + std::to_string(refused));
}

void Listener::pause_accepting() {
  backoff_.expires_after(accept_pause);
  backoff_.async_wait([this](const boost::system::error_code& error) {
    if (!error && acceptor_.is_open()) wait_for_peers();
  });
}

void Listener::admit(int descriptor) {
  Result<Peer> peer = peer_of(descriptor, !config_.access.gids.empty());
  std::optional<Error> error;
  if (!peer) {
    error = peer.error();
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
    refused_log_.write("refused a connection" + who + ": " + error->message);
    return refuse(descriptor, *error);
  }
  Connection::Socket socket(io_);
  boost::system::error_code failed;
  if (socket.assign(boost::asio::local::stream_protocol(), descriptor, failed); failed) {
    log::warn("cannot watch a new connection: " + failed.message());
    return refuse(descriptor, Error(ErrorCode::limit_exceeded, failed.message()).next("try again later"));
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

void Listener::refuse(int descriptor, const Error& error) {
  std::string body;
  shared_.dispatcher.refuse(error, body);
  body += '\n';
  ::send(descriptor, body.data(), body.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::close(descriptor);
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
