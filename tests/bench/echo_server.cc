#include "tests/bench/echo_server.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <memory>
#include <stdexcept>

namespace sessiond::bench {
namespace {

namespace asio = boost::asio;
using Protocol = asio::local::stream_protocol;

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(Protocol::socket socket) : socket_(std::move(socket)) {}

  void read() {
    socket_.async_read_some(
        asio::buffer(buffer_),
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t count) {
          if (!error) self->write(count);
        });
  }

 private:
  void write(std::size_t count) {
    asio::async_write(socket_, asio::buffer(buffer_.data(), count),
                      [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  Protocol::socket socket_;
  std::array<char, 16 * 1024> buffer_;
};

void accept(Protocol::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](const boost::system::error_code& error, Protocol::socket socket) {
    if (!error) std::make_shared<Session>(std::move(socket))->read();
    accept(acceptor);
  });
}

[[noreturn]] void serve(const std::string& path, int ready) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  asio::io_context io(1);
  Protocol::acceptor acceptor(io, Protocol::endpoint(path));
  accept(acceptor);
  if (::write(ready, "r", 1) != 1) _exit(1);
  ::close(ready);
  io.run();
  _exit(0);
}

}  // namespace

EchoServer::EchoServer(const std::string& path) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) serve(path, ends[1]);
  ::close(ends[1]);
  char byte = 0;
  const bool ready = ::read(ends[0], &byte, 1) == 1;
  ::close(ends[0]);
  if (!ready) throw std::runtime_error("the echo server did not start");
}

EchoServer::~EchoServer() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace sessiond::bench
