// A clock that stands still until a test moves it. Safe on any thread.
#pragma once

#include <atomic>

#include "common/time.h"

namespace sessiond {

class ManualClock final : public Clock {
 public:
  // Starts at 2026-01-17T14:30:00Z, one hour after boot.
  TimePoint now() const override { return TimePoint(Millis(wall_.load())); }
  Millis boottime() const override { return Millis(boot_.load()); }

  // Time passes: both clocks move.
  void advance(Millis by) {
    wall_ += by.count();
    boot_ += by.count();
  }
  // Somebody sets the wall clock; the time since boot does not notice.
  void set_now(TimePoint time) { wall_ = time.time_since_epoch().count(); }
  void set_boottime(Millis since_boot) { boot_ = since_boot.count(); }

 private:
  std::atomic<std::int64_t> wall_{1'768'660'200'000};
  std::atomic<std::int64_t> boot_{3'600'000};
};

}  // namespace sessiond
