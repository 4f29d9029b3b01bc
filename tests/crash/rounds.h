// How many rounds a long test runs: its own default, or what an environment variable says.
#pragma once

#include <cstdlib>
#include <string>

namespace sessiond::test {

inline std::size_t rounds(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoul(text);
}

}  // namespace sessiond::test
