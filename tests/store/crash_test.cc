// Power cuts and kills at every call that changes the disk, with every or many surviving disks. The number of
// disks is 300,000 (40,000 under sanitizers), or SESSIOND_STATES.
#include <cstdio>
#include <cstdlib>

#include "tests/store/explorer.h"

int main() {
  using namespace sessiond;
  const char* wanted_text = std::getenv("SESSIOND_STATES");
  const std::size_t wanted =
      wanted_text != nullptr ? std::strtoull(wanted_text, nullptr, 10) : SESSIOND_DEFAULT_STATES;
  // With few disks in all, few at each point: every scenario must have its turn.
  Explorer explorer(wanted < 100'000 ? 4 : 12);
  std::uint64_t seed = 0;
  while (explorer.states() < wanted && explorer.violation().empty())
    run_all_scenarios(explorer, ++seed, wanted);
  std::printf("store.crash: %zu surviving disks at %zu crash points, %llu seeds: %s\n", explorer.states(),
              explorer.crash_points(), static_cast<unsigned long long>(seed),
              explorer.violation().empty() ? "0 acknowledged changes lost, 0 half done" : "FAILED");
  if (explorer.violation().empty()) return 0;
  std::printf("%s\n", explorer.violation().c_str());
  return 1;
}
