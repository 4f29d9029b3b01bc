// Durations and distances in time as people say them, for the texts that a reader sees: "49 minutes",
// "1.2 hr", "3.5 hours ago". Rounded; the exact numbers are in the documents.
#pragma once

#include <string>

#include "common/time.h"

namespace sessiond {

// "45 seconds", "1 minute", "49 minutes", "2 hours", "3.5 hours", "3 days". Hours and days have one decimal
// unless it is zero. A negative duration is read as zero.
std::string long_duration(Millis duration);

// The same for narrow places: "45 sec", "30 min", "1.2 hr", "3 days".
std::string short_duration(Millis duration);

// "just now", "2 hours ago", or "in 5 minutes" for a time that is still to come.
std::string relative_time(TimePoint time, TimePoint now);

}  // namespace sessiond
