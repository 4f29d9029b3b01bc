#include "common/relative_time.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sessiond {
namespace {

struct Unit {
  std::int64_t millis;
  std::int64_t steps;  // 1: whole units; 10: one decimal
  std::string_view one, many, brief;
};
constexpr std::array units{
    Unit{1'000, 1, "second", "seconds", "sec"},
    Unit{60'000, 1, "minute", "minutes", "min"},
    Unit{3'600'000, 10, "hour", "hours", "hr"},
    Unit{86'400'000, 10, "day", "days", "days"},
};

struct Rounded {
  const Unit* unit;
  std::int64_t steps;  // in unit->steps
};

// The largest unit that gives at least one of it after rounding: 59.7 minutes are 1 hour, not 60 minutes.
Rounded round_to_unit(Millis duration) {
  const std::int64_t millis = std::max<std::int64_t>(duration.count(), 0);
  Rounded best{units.data(), (millis + 500) / 1'000};
  for (std::size_t i = 1; i < units.size(); ++i) {
    const Unit& below = units[i - 1];
    const std::int64_t below_steps = (millis * below.steps + below.millis / 2) / below.millis;
    if (below_steps * below.millis < units[i].millis * below.steps) break;
    best = {&units[i], (millis * units[i].steps + units[i].millis / 2) / units[i].millis};
  }
  return best;
}

std::string count_text(const Rounded& rounded) {
  const std::int64_t whole = rounded.steps / rounded.unit->steps;
  const std::int64_t rest = rounded.steps % rounded.unit->steps;
  return std::to_string(whole) + (rest == 0 ? "" : "." + std::to_string(rest));
}

}  // namespace

std::string long_duration(Millis duration) {
  const Rounded rounded = round_to_unit(duration);
  const bool one = rounded.steps == rounded.unit->steps;
  return count_text(rounded) + " " + std::string(one ? rounded.unit->one : rounded.unit->many);
}

std::string short_duration(Millis duration) {
  const Rounded rounded = round_to_unit(duration);
  const bool one_day = rounded.unit == &units.back() && rounded.steps == rounded.unit->steps;
  return count_text(rounded) + " " + std::string(one_day ? rounded.unit->one : rounded.unit->brief);
}

std::string relative_time(TimePoint time, TimePoint now) {
  constexpr Millis unnoticeable{1'000};
  const Millis past = now - time;
  if (past < unnoticeable && -past < unnoticeable) return "just now";
  if (past < Millis(0)) return "in " + long_duration(-past);
  return long_duration(past) + " ago";
}

}  // namespace sessiond
