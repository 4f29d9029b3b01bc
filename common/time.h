// Points in time as UTC milliseconds, RFC 3339 text, durations as people write them, and the Clock that gives
// `now`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sessiond {

using Millis = std::chrono::milliseconds;
using TimePoint = std::chrono::sys_time<Millis>;

// One of the three interfaces of the daemon, so that tests can set the time. Every use is on any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  // Wall time: may jump.
  virtual TimePoint now() const = 0;
  // Time since boot, suspends included: never jumps.
  virtual Millis boottime() const = 0;
};

class SystemClock final : public Clock {
 public:
  TimePoint now() const override;
  Millis boottime() const override;
};

// "2026-01-17T14:30:00.000Z", always with three decimals.
std::string format_rfc3339_millis(TimePoint time);
// "2026-01-17T14:30:00Z"; the milliseconds are written only when they are not zero.
std::string format_rfc3339(TimePoint time);

struct ParsedTime {
  TimePoint time;
  bool naive = false;  // no zone was given: read as UTC
  bool utc = false;    // the zone was Z or +00:00
};
// Accepts RFC 3339, a space instead of T, missing seconds' fraction and a missing zone (`naive`). Years 1 to
// 9999.
std::optional<ParsedTime> parse_rfc3339(std::string_view text);

// "90s", "15m", "24h", "7d", "250ms". Refused: no unit, negative, above 10,000 days.
Result<Millis> parse_duration(std::string_view text);
std::string format_duration(Millis duration);

}  // namespace sessiond
