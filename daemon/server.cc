#include "daemon/server.h"

#include <unistd.h>

#include <csignal>

#include "common/log.h"
#include "daemon/service.h"

namespace sessiond {
namespace {

// A peer that reads slowly may take this long to receive its last replies.
constexpr std::chrono::seconds drain_patience{10};
// Each may wait in a sync; that many sessions can commit at the same time.
constexpr std::size_t worker_threads_max = 64;

}  // namespace

Server::Server(Config config, ConfigFlags flags, SocketFile socket_file, const Clock& clock)
    : config_(std::move(config)),
      flags_(std::move(flags)),
      env_(make_system_env()),
      io_(1),
      pool_(worker_threads_max),
      registry_(*env_, clock, pool_),
      services_{.clock = clock,
                .config = config_,
                .stats = stats_,
                .registry = registry_,
                .pool = pool_,
                .own_uid = geteuid(),
                .started_at = clock.boottime()},
      dispatcher_(services_),
      signals_(io_, SIGTERM, SIGINT, SIGHUP),
      watchdog_(io_),
      listener_(io_, std::move(socket_file), dispatcher_, config_, stats_) {}

Status Server::run() {
  SESSIOND_TRY(registry_.start(config_.state_dir, config_.roots));
  wait_for_signal();
  keep_alive();
  listener_.start();
  service::ready("listening on " + config_.socket);
  log::info("sessiond " SESSIOND_VERSION " listens on " + config_.socket + ", state in " + config_.state_dir);
  io_.run();
  pool_.wait_idle();
  registry_.sync_files();
  pool_.wait_idle();
  log::info("stopped");
  return {};
}

void Server::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (!error) on_signal(signal);
  });
}

void Server::on_signal(int signal) {
  if (signal == SIGHUP)
    reload();
  else if (!stopping_)
    stop();
  else
    log::info("already stopping");
  wait_for_signal();
}

void Server::reload() {
  Result<Config> fresh = load_config(flags_);
  if (!fresh) {
    log::error("the configuration was not reread: " + fresh.error().message);
    return;
  }
  config_.log_level = fresh->log_level;
  config_.timeouts = fresh->timeouts;
  config_.kind_timeouts = std::move(fresh->kind_timeouts);
  config_.files = std::move(fresh->files);
  log::set_level(config_.log_level);
  log::info("configuration reread: log level " + std::string(log::level_name(config_.log_level)));
}

void Server::stop() {
  stopping_ = true;
  service::stopping();
  log::info("stopping: finishing what was accepted");
  listener_.drain(drain_patience, [this] {
    signals_.cancel();
    watchdog_.cancel();
    io_.stop();
  });
}

void Server::keep_alive() {
  const auto interval = service::watchdog_interval();
  if (!interval) return;
  service::alive();
  watchdog_.expires_after(*interval);
  watchdog_.async_wait([this](const boost::system::error_code& error) {
    if (!error) keep_alive();
  });
}

}  // namespace sessiond
