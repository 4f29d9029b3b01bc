// The proof that the crash test would notice: each mutation leaves out one kind of step, and must be found.
#include <cstdio>

#include "tests/store/explorer.h"

int main() {
  using namespace sessiond;
  constexpr std::size_t states_max = 100'000;
  int survived = 0;
  for (const MutationName& mutant : mutations()) {
    Explorer explorer(6, mutant.mutation);
    for (std::uint64_t seed = 1; seed <= 3 && explorer.violation().empty(); ++seed)
      run_all_scenarios(explorer, seed, states_max);
    const bool found = !explorer.violation().empty();
    if (!found) ++survived;
    std::printf("%-8s %s, after %zu states: %s\n", found ? "found" : "SURVIVED",
                std::string(mutant.name).c_str(), explorer.states(), explorer.violation().c_str());
    std::fflush(stdout);
  }
  std::printf("store.mutants: %zu mutants, %d survived\n", mutations().size(), survived);
  return survived == 0 ? 0 : 1;
}
