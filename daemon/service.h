// What the service manager is told: ready, reloading, stopping, a status line, and that we are alive. Without
// systemd every call does nothing.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace sessiond::service {

void ready(const std::string& status);
void status(const std::string& status);
void stopping();
void alive();
// How often alive() must be called, if the manager watches.
std::optional<std::chrono::microseconds> watchdog_interval();
// True when a service manager started us.
bool managed();

}  // namespace sessiond::service
