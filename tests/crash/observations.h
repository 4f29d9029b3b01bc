// What clients saw of one session, and whether a session that does one thing after another could have shown
// it. Each write sets a value that nobody else sets and is answered with its revision, so the check is
// linear.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sessiond::test {

struct Observation {
  enum class Kind { write, read };
  Kind kind = Kind::write;
  std::uint64_t began = 0;  // on one clock that all clients share
  std::uint64_t ended = 0;
  std::int64_t revision = 0;  // 0: no answer came; the write may have happened or not
  std::int64_t value = 0;
  std::optional<std::int64_t> if_revision;  // of a write that was accepted
};

// Empty when the observations fit, else what is wrong with them.
std::string contradiction(const std::vector<Observation>& seen);

}  // namespace sessiond::test
