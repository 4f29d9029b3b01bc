#include "common/time.h"

#include <doctest/doctest.h>

#include <random>

#include "support/manual_clock.h"
#include "support/outcome.h"

using namespace sessiond;
using namespace std::chrono_literals;

namespace {

std::string read(std::string_view text) {
  const auto parsed = parse_rfc3339(text);
  if (!parsed) return "refused";
  return format_rfc3339(parsed->time) + (parsed->naive ? " naive" : "") + (parsed->utc ? " utc" : "");
}

}  // namespace

TEST_CASE("time: what RFC 3339 and its common variants mean") {
  struct Row {
    std::string_view text, meaning;
  };
  const Row rows[] = {
      {"2026-01-17T14:30:00Z", "2026-01-17T14:30:00Z utc"},
      {"2026-01-17t14:30:00z", "2026-01-17T14:30:00Z utc"},
      {"2026-01-17 14:30:00Z", "2026-01-17T14:30:00Z utc"},
      {"2026-01-17T14:30:00+00:00", "2026-01-17T14:30:00Z utc"},
      {"2026-01-17T14:30:00-00:00", "2026-01-17T14:30:00Z utc"},
      {"2026-01-17T14:30:00", "2026-01-17T14:30:00Z naive"},
      {"2026-01-17 14:30:00.250", "2026-01-17T14:30:00.250Z naive"},
      {"2026-01-17T14:30:00+01:00", "2026-01-17T13:30:00Z"},
      {"2026-01-17T14:30:00+0530", "2026-01-17T09:00:00Z"},
      {"2026-01-17T23:30:00-01:00", "2026-01-18T00:30:00Z"},
      {"2026-12-31T23:59:59-23:59", "2027-01-01T23:58:59Z"},
      {"2026-01-17T14:30:00.1Z", "2026-01-17T14:30:00.100Z utc"},
      {"2026-01-17T14:30:00.12Z", "2026-01-17T14:30:00.120Z utc"},
      {"2026-01-17T14:30:00.123456789Z", "2026-01-17T14:30:00.123Z utc"},
      {"2026-01-17T14:30:00.0009Z", "2026-01-17T14:30:00Z utc"},
      {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z utc"},
      {"2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z utc"},
      {"2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z utc"},  // a leap second
      {"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z utc"},
      {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z utc"},
      {"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z utc"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(read(row.text) == row.meaning);
  }
}

TEST_CASE("time: what is not a time is refused") {
  for (const char* text : {"",
                           "2026",
                           "2026-01-17",
                           "2026-01-17T14:30",
                           "2026-01-17T14:30Z",
                           "2026-1-17T14:30:00Z",
                           "26-01-17T14:30:00Z",
                           "0000-01-01T00:00:00Z",
                           "2026-00-17T14:30:00Z",
                           "2026-13-17T14:30:00Z",
                           "2026-01-00T14:30:00Z",
                           "2026-01-32T14:30:00Z",
                           "2026-04-31T14:30:00Z",
                           "2026-02-29T00:00:00Z",
                           "1900-02-29T00:00:00Z",
                           "2100-02-29T00:00:00Z",
                           "2026-01-17T24:00:00Z",
                           "2026-01-17T14:60:00Z",
                           "2026-01-17T14:30:61Z",
                           "2026-01-17T14:30:00.Z",
                           "2026-01-17T14:30:00,5Z",
                           "2026-01-17T14:30:00+24:00",
                           "2026-01-17T14:30:00+01:60",
                           "2026-01-17T14:30:00+1:00",
                           "2026-01-17T14:30:00+01",
                           "2026-01-17T14:30:00ZZ",
                           "2026-01-17T14:30:00Z ",
                           " 2026-01-17T14:30:00Z",
                           "2026-01-17X14:30:00Z",
                           "2026/01/17T14:30:00Z",
                           "+2026-01-17T14:30:00Z",
                           "0001-01-01T00:00:00+00:01",     // year 0 in UTC
                           "9999-12-31T23:59:59-00:01"}) {  // year 10000 in UTC
    CAPTURE(text);
    CHECK(read(text) == "refused");
  }
}

TEST_CASE("time: milliseconds are always written, or only when there are any") {
  const TimePoint whole(1'768'660'200'000ms);
  CHECK(format_rfc3339(whole) == "2026-01-17T14:30:00Z");
  CHECK(format_rfc3339_millis(whole) == "2026-01-17T14:30:00.000Z");
  CHECK(format_rfc3339(whole + 7ms) == "2026-01-17T14:30:00.007Z");
  CHECK(format_rfc3339_millis(TimePoint(-1ms)) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("time: random times come back from their text") {
  std::mt19937_64 random(4);
  constexpr std::int64_t first = -62'135'596'800'000;  // 0001-01-01
  constexpr std::uint64_t span = 315'537'897'600'000;  // to the end of 9999
  for (int i = 0; i < 20'000; ++i) {
    const TimePoint time(Millis(first + static_cast<std::int64_t>(random() % span)));
    REQUIRE(parse_rfc3339(format_rfc3339(time))->time == time);
    REQUIRE(parse_rfc3339(format_rfc3339_millis(time))->time == time);
  }
}

TEST_CASE("time: durations as people write them") {
  struct Row {
    std::string_view text;
    Millis length;
    std::string_view printed;
  };
  const Row rows[] = {
      {"250ms", 250ms, "250ms"},
      {"90s", 90s, "90s"},
      {"60s", 60s, "1m"},
      {"15m", 15min, "15m"},
      {"24h", 24h, "1d"},
      {"36h", 36h, "36h"},
      {"7d", 168h, "7d"},
      {"0s", 0s, "0s"},
      {"0ms", 0s, "0s"},
      {"1001ms", 1001ms, "1001ms"},
      {"10000d", 240'000h, "10000d"},
      {"007s", 7s, "7s"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Result<Millis> parsed = parse_duration(row.text);
    CHECK(refusal(parsed) == "(accepted)");
    if (!parsed) continue;
    CHECK(*parsed == row.length);
    CHECK(format_duration(*parsed) == row.printed);
  }
}

TEST_CASE("time: what is not a duration is refused with examples") {
  for (const char* text :
       {"", "5", "s", "-1s", "-0s", "+1s", "1.5h", "1 s", " 1s", "1s ", "1S", "1w", "1h30m", "10001d",
        "240001h", "864000000001ms", "9223372036854775807d", "99999999999999999999s", "off"}) {
    CHECK(refusal(parse_duration(text)) ==
          "expected a duration such as 250ms, 90s, 15m, 24h or 7d, got \"" + std::string(text) + "\"");
  }
}

TEST_CASE("time: random durations come back from their text") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 10'000; ++i) {
    const Millis length(static_cast<std::int64_t>(random() % 864'000'000'001));
    REQUIRE(*parse_duration(format_duration(length)) == length);
  }
}

TEST_CASE("time: the system's clock runs, a manual one stands until it is moved") {
  const SystemClock system;
  CHECK(system.now() > parse_rfc3339("2026-01-01T00:00:00Z")->time);
  CHECK(system.boottime() > 0ms);
  CHECK(system.boottime() <= system.boottime());

  ManualClock manual;
  CHECK(format_rfc3339(manual.now()) == "2026-01-17T14:30:00Z");
  const Millis booted = manual.boottime();
  manual.advance(90s);
  CHECK(format_rfc3339(manual.now()) == "2026-01-17T14:31:30Z");
  CHECK(manual.boottime() - booted == 90s);
  manual.set_now(TimePoint(0ms));
  CHECK(manual.boottime() - booted == 90s);
}
