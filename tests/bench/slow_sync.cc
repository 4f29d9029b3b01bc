// Preloaded into a program, it makes every fsync and fdatasync take longer by SLOW_SYNC_US, as on a slower
// disk. The real sync still happens.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace {

int slowed(long call, int file) {
  static const long delay_us = [] {
    const char* text = std::getenv("SLOW_SYNC_US");
    return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  }();
  const timespec delay{delay_us / 1'000'000, delay_us % 1'000'000 * 1'000};
  nanosleep(&delay, nullptr);
  return static_cast<int>(syscall(call, file));
}

}  // namespace

extern "C" {
int fsync(int file) { return slowed(SYS_fsync, file); }
int fdatasync(int file) { return slowed(SYS_fdatasync, file); }
}
