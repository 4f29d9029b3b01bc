#include "tests/bench/load.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/test_client.h"

namespace sessiond::bench {
namespace {

using Clock = std::chrono::steady_clock;

double cpu_us(pid_t pid) {
  return std::strtod(test::read_file("/proc/" + std::to_string(pid) + "/schedstat").c_str(), nullptr) / 1000;
}

class Generator {
 public:
  explicit Generator(const Load& load) : depth_(load.depth), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    for (std::size_t i = 0; i < load.depth; ++i) burst_ += load.message;
    clients_.reserve(load.clients);
    for (std::size_t i = 0; i < load.clients; ++i) {
      Client& client = clients_.emplace_back(Client{test::TestClient(load.socket)});
      if (!client.link.connected()) throw std::runtime_error("cannot connect to " + load.socket);
      epoll_event event{.events = EPOLLIN, .data = {.ptr = &client}};
      if (epoll_ctl(epoll_, EPOLL_CTL_ADD, client.link.descriptor(), &event) != 0)
        throw std::runtime_error("epoll_ctl failed");
    }
  }
  ~Generator() { ::close(epoll_); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  void start() {
    for (Client& client : clients_) send(client);
  }

  // Messages answered until then.
  std::size_t run_until(Clock::time_point end) {
    const std::size_t before = answered_;
    std::array<epoll_event, 64> events;
    while (Clock::now() < end) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 100);
      for (int i = 0; i < count; ++i)
        receive(*static_cast<Client*>(events[static_cast<std::size_t>(i)].data.ptr));
    }
    return answered_ - before;
  }

 private:
  struct Client {
    test::TestClient link;
    std::size_t awaited = 0;
  };

  void send(Client& client) {
    client.awaited = depth_;
    if (!client.link.send(burst_)) throw std::runtime_error("the server does not take requests");
  }

  void receive(Client& client) {
    const ssize_t count = ::recv(client.link.descriptor(), buffer_.data(), buffer_.size(), 0);
    if (count <= 0) throw std::runtime_error("the server closed a connection");
    const auto lines = static_cast<std::size_t>(std::count(buffer_.begin(), buffer_.begin() + count, '\n'));
    answered_ += lines;
    client.awaited -= std::min(lines, client.awaited);
    if (client.awaited == 0) send(client);
  }

  std::size_t depth_;
  int epoll_;
  std::string burst_;
  std::vector<Client> clients_;
  std::array<char, 64 * 1024> buffer_;
  std::size_t answered_ = 0;
};

}  // namespace

Measured measure(const Load& load, std::chrono::milliseconds duration) {
  Generator generator(load);
  generator.start();
  // The first tenth warms up.
  generator.run_until(Clock::now() + duration / 10);
  const double cpu_before = cpu_us(load.server);
  const auto began = Clock::now();
  const auto answered = static_cast<double>(generator.run_until(began + duration));
  const std::chrono::duration<double> took = Clock::now() - began;
  return {answered / took.count(), (cpu_us(load.server) - cpu_before) / answered};
}

}  // namespace sessiond::bench
