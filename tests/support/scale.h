// How long tests wait at most, and how much they try. Instrumented builds are several times slower and
// larger, so they try less.
#pragma once

#include <chrono>
#include <cstddef>

namespace sessiond::test {

#ifdef SESSIOND_INSTRUMENTED
inline constexpr bool instrumented = true;
#else
inline constexpr bool instrumented = false;
#endif

// For events that come at once in a healthy program: reaching it is a failure, so it is generous.
inline constexpr std::chrono::milliseconds patience{30'000};

constexpr std::size_t scaled(std::size_t full, std::size_t reduced) { return instrumented ? reduced : full; }

}  // namespace sessiond::test
