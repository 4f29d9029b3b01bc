#include "daemon/service.h"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <cstdlib>

namespace sessiond::service {

void ready(const std::string& status) { sd_notify(0, ("READY=1\nSTATUS=" + status).c_str()); }

void status(const std::string& status) { sd_notify(0, ("STATUS=" + status).c_str()); }

void stopping() { sd_notify(0, "STOPPING=1\nSTATUS=finishing what was accepted"); }

void alive() { sd_notify(0, "WATCHDOG=1"); }

std::optional<std::chrono::microseconds> watchdog_interval() {
  std::uint64_t limit_us = 0;
  if (sd_watchdog_enabled(0, &limit_us) <= 0) return std::nullopt;
  return std::chrono::microseconds(limit_us / 2);
}

bool managed() { return std::getenv("NOTIFY_SOCKET") != nullptr || std::getenv("LISTEN_FDS") != nullptr; }

}  // namespace sessiond::service
