#include "common/relative_time.h"

#include <doctest/doctest.h>

#include "common/text.h"

namespace sessiond {
namespace {

constexpr std::int64_t second = 1'000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;

TEST_CASE("durations as people say them") {
  struct Row {
    std::int64_t millis;
    std::string_view in_full, in_short;
  };
  const Row rows[] = {
      {-5 * minute, "0 seconds", "0 sec"},
      {0, "0 seconds", "0 sec"},
      {499, "0 seconds", "0 sec"},
      {1 * second, "1 second", "1 sec"},
      {45 * second, "45 seconds", "45 sec"},
      {59'499, "59 seconds", "59 sec"},
      {59'500, "1 minute", "1 min"},
      {90 * second, "2 minutes", "2 min"},
      {30 * minute, "30 minutes", "30 min"},
      {49 * minute, "49 minutes", "49 min"},
      {59 * minute + 29 * second, "59 minutes", "59 min"},
      {59 * minute + 30 * second, "1 hour", "1 hr"},
      {72 * minute, "1.2 hours", "1.2 hr"},
      {2 * hour, "2 hours", "2 hr"},
      {147 * minute, "2.5 hours", "2.5 hr"},
      {210 * minute, "3.5 hours", "3.5 hr"},
      {23 * hour, "23 hours", "23 hr"},
      {24 * hour - minute, "1 day", "1 day"},
      {36 * hour, "1.5 days", "1.5 days"},
      {3 * day, "3 days", "3 days"},
      {400 * day, "400 days", "400 days"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.millis);
    CHECK(long_duration(Millis(row.millis)) == row.in_full);
    CHECK(short_duration(Millis(row.millis)) == row.in_short);
  }
}

TEST_CASE("distances from now") {
  const TimePoint now{Millis(1'700'000'000'000)};
  const auto at = [&](std::int64_t ago) { return relative_time(now - Millis(ago), now); };
  CHECK(at(0) == "just now");
  CHECK(at(999) == "just now");
  CHECK(at(5 * minute) == "5 minutes ago");
  CHECK(at(2 * hour) == "2 hours ago");
  CHECK(at(210 * minute) == "3.5 hours ago");
  CHECK(at(3 * day) == "3 days ago");
  CHECK(at(-5 * minute) == "in 5 minutes");
}

TEST_CASE("text for one line keeps everything but control characters") {
  CHECK(one_line("plain \"text\" \\ with marks") == "plain \"text\" \\ with marks");
  CHECK(one_line("  two\n\tlines\r\n") == "two lines");
  CHECK(one_line("a\x1b[31mred\x7f") == "a [31mred");
  CHECK(one_line("a\xc2\x9b"
                 "b") == "a b");
  CHECK(one_line("\xc3\xa4\xc3\xb6\xc3\xbc", 2) == "\xc3\xa4\xc3\xb6...");
  CHECK(one_line("") == "");
}

}  // namespace
}  // namespace sessiond
