// The figures to reach, as ratios to what was measured in the same run. Printed for people; nothing fails
// when one is missed, because figures depend on the machine and its load.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace sessiond::bench {

struct Target {
  std::string what;
  double value = 0;
  bool at_most = false;  // else at least
  double limit = 0;
  std::string unit;  // "x Redis SET", "ms"

  bool reached() const { return at_most ? value <= limit : value >= limit; }
};

inline void print_targets(const std::vector<Target>& targets) {
  std::printf("\n%-52s %10s    %-34s\n", "target", "measured", "wanted");
  for (const Target& target : targets)
    std::printf("%-52s %10.2f %s %s %.4g %s\n", target.what.c_str(), target.value,
                target.reached() ? "ok    " : "MISSED", target.at_most ? "<=" : ">=", target.limit,
                target.unit.c_str());
}

inline void print_targets_json(const std::vector<Target>& targets) {
  std::printf("\"targets\":[");
  for (const Target& target : targets)
    std::printf(
        "%s{\"what\":\"%s\",\"value\":%.3f,\"at_most\":%s,\"limit\":%g,\"unit\":\"%s\",\"reached\":%s}",
        &target == targets.data() ? "" : ",", target.what.c_str(), target.value,
        target.at_most ? "true" : "false", target.limit, target.unit.c_str(),
        target.reached() ? "true" : "false");
  std::printf("]");
}

}  // namespace sessiond::bench
