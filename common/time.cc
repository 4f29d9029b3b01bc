#include "common/time.h"

#include <time.h>

#include <array>
#include <charconv>
#include <cstdio>

#include "common/text.h"

namespace sessiond {
namespace {

Millis read_clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return Millis(static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000);
}

// Takes `count` digits off the front of `text`.
std::optional<int> digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// The fraction of a second after its dot, in whole milliseconds; further digits are dropped.
std::optional<int> fraction(std::string_view& text) {
  int millis = 0;
  int scale = 100;
  std::size_t count = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    millis += (text.front() - '0') * scale;
    scale /= 10;
    text.remove_prefix(1);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return millis;
}

// The zone at the end of `text`, as an offset from UTC in minutes; nothing at all means naive.
std::optional<int> zone(std::string_view text, ParsedTime& parsed) {
  if (text.empty()) {
    parsed.naive = true;
    return 0;
  }
  if (text == "Z" || text == "z") {
    parsed.utc = true;
    return 0;
  }
  const bool behind = text.front() == '-';
  if (!take(text, '+') && !take(text, '-')) return std::nullopt;
  const auto hours = digits(text, 2);
  if (!hours) return std::nullopt;
  take(text, ':');
  const auto minutes = digits(text, 2);
  if (!minutes || !text.empty() || *hours > 23 || *minutes > 59) return std::nullopt;
  const int offset = *hours * 60 + *minutes;
  parsed.utc = offset == 0;
  return behind ? -offset : offset;
}

std::string format(TimePoint time, bool with_millis) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 40> buffer{};
  int length =
      std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                    static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                    static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                    static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()));
  std::string out(buffer.data(), static_cast<std::size_t>(length));
  if (with_millis) {
    length =
        std::snprintf(buffer.data(), buffer.size(), ".%03d", static_cast<int>(clock.subseconds().count()));
    out.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return out + 'Z';
}

struct Unit {
  std::string_view name;
  std::int64_t millis;
};
constexpr std::array units{Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1'000},
                           Unit{"ms", 1}};

}  // namespace

TimePoint SystemClock::now() const { return TimePoint(read_clock(CLOCK_REALTIME)); }
Millis SystemClock::boottime() const { return read_clock(CLOCK_BOOTTIME); }

std::string format_rfc3339_millis(TimePoint time) { return format(time, true); }
std::string format_rfc3339(TimePoint time) {
  return format(time, time.time_since_epoch().count() % 1000 != 0);
}

std::optional<ParsedTime> parse_rfc3339(std::string_view text) {
  ParsedTime parsed;
  const auto year = digits(text, 4);
  if (!year || *year == 0 || !take(text, '-')) return std::nullopt;
  const auto month = digits(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = digits(text, 2);
  if (!day || !(take(text, 'T') || take(text, 't') || take(text, ' '))) return std::nullopt;
  const auto hour = digits(text, 2);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = digits(text, 2);
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = digits(text, 2);
  if (!second) return std::nullopt;
  int millis = 0;
  if (take(text, '.')) {
    const auto part = fraction(text);
    if (!part) return std::nullopt;
    millis = *part;
  }
  const auto offset = zone(text, parsed);
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  // A leap second is read as the last second of its minute.
  if (!offset || !date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  parsed.time = std::chrono::sys_days(date) + std::chrono::hours(*hour) +
                std::chrono::minutes(*minute - *offset) + std::chrono::seconds(*second == 60 ? 59 : *second) +
                Millis(millis);
  // The offset may have led out of the years that can be written.
  constexpr TimePoint first = std::chrono::sys_days(std::chrono::year(1) / 1 / 1);
  constexpr TimePoint end = std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1);
  if (parsed.time < first || parsed.time >= end) return std::nullopt;
  return parsed;
}

Result<Millis> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::int64_t longest = 10'000LL * 86'400'000;
  if (status == std::errc() && !text.starts_with('-'))
    for (const Unit& unit : units)
      if (rest == unit.name && count <= longest / unit.millis) return Millis(count * unit.millis);
  return Error(ErrorCode::invalid_params,
               "expected a duration such as 250ms, 90s, 15m, 24h or 7d, got " + quoted(text));
}

std::string format_duration(Millis duration) {
  for (const Unit& unit : units)
    if (duration.count() != 0 && duration.count() % unit.millis == 0)
      return std::to_string(duration.count() / unit.millis) + std::string(unit.name);
  return "0s";
}

}  // namespace sessiond
