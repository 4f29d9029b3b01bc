// Explorer: runs a session on a simulated disk and, before every call that changes the disk, crashes a copy
// of the machine in many ways and checks what a restart finds.
#pragma once

#include <memory>
#include <string>

#include "tests/store/model_session.h"
#include "tests/support/fault_env.h"
#include "tests/support/mutant_env.h"
#include "tests/support/sim_env.h"

namespace sessiond {

struct Scenario {
  std::string name;
  std::uint64_t seed = 1;
  int steps = 6;
  std::optional<Fault> fault;    // from the first step on
  bool without_history = false;  // a directory that another program made
  std::string foreign_lines;     // what its history holds
  bool no_exchange = false;
};

class Explorer {
 public:
  // Per crash point: the most surviving disks that are tried, all of them when there are not more.
  explicit Explorer(std::size_t survivors_max, Mutation mutation = Mutation::none)
      : survivors_max_(survivors_max), mutation_(mutation) {}

  // False when the scenario's fault was not reached.
  bool run(const Scenario& scenario);
  // A kill and a few power cuts of this machine, as it is.
  void check_now(const std::string& place, const SimEnv& machine, const Model& model);

  std::size_t states() const { return states_; }
  std::size_t crash_points() const { return crash_points_; }
  // Empty, or the first promise that was broken, with scenario, seed and call.
  const std::string& violation() const { return violation_; }

 private:
  struct Depth {
    bool recovery = true;   // crash the recovery, too
    bool follow_up = true;  // commit after the recovery, and cut the power
  };

  void explore(const SimEnv& machine, const Model& model);
  void check_kill(const SimEnv& machine, const Model& model, bool crash_recovery_too);
  void check(std::unique_ptr<SimEnv> machine, const Model& model, const Depth& depth);
  std::string recover(SimEnv& machine, Model& model, const Depth& depth, const std::string& set_aside);
  std::string follow_up(SimEnv& machine, Model& model, const std::string& set_aside);
  void crash_recovery(const SimEnv& machine, const Model& model, const std::string& set_aside);
  void report(const std::string& what);
  std::string check_state(Env& env, Handle dir, const Model& model, const std::string& history) const;

  std::size_t survivors_max_;
  Mutation mutation_;
  std::size_t states_ = 0;
  std::size_t crash_points_ = 0;
  std::string where_;
  std::string violation_;
};

// Puts a directory with these files on the disk, durable.
void place_directory(SimEnv& sim, const std::vector<StateBytes>& files);

// Every scenario of the crash test for one seed, each fault at each place that it can be; until
// `states_wanted` were tried or a promise is broken.
void run_all_scenarios(Explorer& explorer, std::uint64_t seed, std::size_t states_wanted);

}  // namespace sessiond
