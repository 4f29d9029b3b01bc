#include "tests/store/explorer.h"

#include <cassert>
#include <cerrno>

#include "common/json.h"
#include "daemon/store/layout.h"
#include "tests/support/order_env.h"

namespace sessiond {
namespace {

const std::string history_name(layout::history);

// What the program under test sees.
struct Stack {
  Stack(SimEnv& sim, Mutation mutation)
      : fault(sim, [&sim](Handle file) { sim.lose_unsynced(file); }),
        mutant(fault, mutation),
        order(mutant, sim, model_state_file) {}
  FaultEnv fault;
  MutantEnv mutant;
  OrderEnv order;
};

bool holds(Env& env, Handle dir, const std::string& bytes) {
  const Result<Open> folder = own(env, env.open_dir(dir, std::string(layout::quarantine)));
  if (!folder) return false;
  const Result<std::vector<DirEntry>> entries = env.list(folder->get());
  if (!entries) return false;
  for (const DirEntry& entry : *entries)
    if (const auto kept = read_all(env, folder->get(), entry.name, history_line_bytes_max);
        kept && *kept == bytes)
      return true;
  return false;
}

std::string text_of(const Error& error) { return error.message; }

// Only the session, and leftovers that a start sweeps.
std::string check_root(Env& env, Handle root, bool& there) {
  const Result<std::vector<DirEntry>> entries = env.list(root);
  if (!entries) return text_of(entries.error());
  there = false;
  for (const DirEntry& entry : *entries) {
    if (entry.name == model_id)
      there = true;
    else if (!entry.name.starts_with(layout::new_prefix))
      return "a stray name in the root: " + entry.name;
  }
  return "";
}

std::string check_document(const HistoryTail& tail, const Model& model, const std::string& history) {
  if (!tail.damage.empty()) return "damage after a mere crash: " + tail.damage;
  if (!tail.last) {
    for (const auto& [line, document] : model.document_after)
      if (history.find(line) != std::string::npos) return "lines are there and were not seen";
    return "";
  }
  const std::string line = build_history_line(*tail.last);
  const auto expected = model.document_after.find(line);
  if (expected == model.document_after.end()) return "the last line is none that was written";
  if (!tail.document || to_json_text(*tail.document) != expected->second)
    return "the document is not what the lines say";
  return "";
}

}  // namespace

void place_directory(SimEnv& sim, const std::vector<StateBytes>& files) {
  const Open root(sim, *sim.open_root("/"));
  Status made = sim.mkdir(root.get(), model_id);
  const Open dir(sim, *sim.open_dir(root.get(), model_id));
  for (const StateBytes& file : files) {
    const Open opened(sim, *sim.create(dir.get(), file.name));
    if (made) made = write_all(sim, opened.get(), 0, file.bytes);
    if (made) made = sim.sync(opened.get());
  }
  if (made) made = sim.sync_dir(dir.get());
  if (made) made = sim.sync_dir(root.get());
  assert(made.ok());
}

void Explorer::report(const std::string& what) {
  if (violation_.empty()) violation_ = where_ + ": " + what;
}

// A state file whose bytes were written for a line must not be there without the line: a restart would take
// it for somebody's edit.
std::string Explorer::check_state(Env& env, Handle dir, const Model& model,
                                  const std::string& history) const {
  const Result<std::string> state = read_all(env, dir, model_state_file, SessionStore::state_bytes_max);
  if (!state) return "";  // rebuilt from the history
  const auto line = model.line_of_state.find(*state);
  if (line != model.line_of_state.end() && history.find(line->second) == std::string::npos)
    return "a state file is ahead of the history";
  return "";
}

std::string Explorer::recover(SimEnv& machine, Model& model, const Depth& depth,
                              const std::string& set_aside) {
  Stack stack(machine, mutation_);
  Env& env = stack.order;
  const Open root(env, *env.open_root("/"));
  bool there = false;
  if (std::string why = check_root(env, root.get(), there); !why.empty()) return why;
  if (!there) return model.create_acknowledged ? "an acknowledged session is gone" : "";

  // A torn tail that a killed process left in the page cache may yet vanish without a trace.
  const bool all_durable = machine.survivors(2) == 1;
  std::vector<std::unique_ptr<SimEnv>> moments;
  if (depth.recovery) machine.observe([&] { moments.push_back(machine.process_kill()); });
  const Model before = model;
  ModelSession session(env, root.get(), model, 7, {});
  const Status opened = session.open();
  machine.observe(nullptr);
  if (!opened) return "cannot be loaded: " + text_of(opened.error());
  const std::string history = session.store().has_history() ? *read_history(env, session.store().dir()) : "";
  const std::string torn = session.tail().torn;
  if (std::string why = check_document(session.tail(), model, history); !why.empty()) return why;
  if (std::string why = check_state(env, session.store().dir(), model, history); !why.empty()) return why;
  if (!torn.empty() && !holds(env, session.store().dir(), torn)) return "a torn tail was not saved";
  if (!set_aside.empty() && !holds(env, session.store().dir(), set_aside))
    return "a torn tail that an interrupted recovery cut is not in quarantine";
  const std::string kept = all_durable && !torn.empty() ? torn : set_aside;
  for (const auto& moment : moments) crash_recovery(*moment, before, kept);

  if (Status again = session.open(); !again) return "cannot be loaded twice: " + text_of(again.error());
  if (!session.tail().torn.empty()) return "the second load finds a torn tail again";
  if (session.store().has_history() && *read_history(env, session.store().dir()) != history)
    return "the second load finds another history";
  if (std::string why = check_document(session.tail(), model, history); !why.empty()) return "again: " + why;
  session.close();
  if (!stack.order.violations().empty()) return stack.order.violations().front();
  return depth.follow_up ? follow_up(machine, model, kept) : "";
}

// What a load has shown, and the next commit, must survive a power cut that keeps nothing it need not keep.
std::string Explorer::follow_up(SimEnv& machine, Model& model, const std::string& set_aside) {
  SameChooser nothing(SimEnv::lost);
  Model shown = model;
  const std::unique_ptr<SimEnv> unchanged = machine.power_cut(nothing);
  if (std::string why = recover(*unchanged, shown, {false, false}, set_aside); !why.empty())
    return "after a load and a power cut: " + why;
  {
    Stack stack(machine, mutation_);
    const Open root(stack.order, *stack.order.open_root("/"));
    ModelSession session(stack.order, root.get(), model, 11, {});
    Status done = session.start();
    if (done) done = session.commit(2);
    if (!done) return "the commit after the recovery fails: " + text_of(done.error());
  }
  const std::unique_ptr<SimEnv> survivor = machine.power_cut(nothing);
  const std::string why = recover(*survivor, model, {false, false}, set_aside);
  return why.empty() ? "" : "after the next commit and a power cut: " + why;
}

void Explorer::crash_recovery(const SimEnv& machine, const Model& model, const std::string& set_aside) {
  const auto again = [&](std::unique_ptr<SimEnv> survivor) {
    ++states_;
    Model expected = model;
    if (std::string why = recover(*survivor, expected, {false, false}, set_aside); !why.empty())
      report("recovery crashed: " + why);
  };
  SameChooser lost(SimEnv::lost), present(SimEnv::present);
  RandomChooser random(states_);
  again(machine.power_cut(lost));
  again(machine.power_cut(present));
  again(machine.power_cut(random));
  again(machine.process_kill());
}

void Explorer::check(std::unique_ptr<SimEnv> machine, const Model& model, const Depth& depth) {
  if (!violation_.empty()) return;
  ++states_;
  Model expected = model;
  if (std::string why = recover(*machine, expected, depth, ""); !why.empty()) report(why);
}

// A process that dies between a failed sync and the marker leaves no trace that anything failed: then only
// what it left can be checked, not what becomes of the next commit.
void Explorer::check_kill(const SimEnv& machine, const Model& model, bool crash_recovery_too) {
  const bool unseen =
      machine.shows_lost_content(history_name) && !machine.has_name(std::string(layout::sync_failed));
  check(machine.process_kill(), model, {crash_recovery_too && !unseen, !unseen});
}

void Explorer::check_now(const std::string& place, const SimEnv& machine, const Model& model) {
  where_ = place + ", killed";
  check_kill(machine, model, false);
  SameChooser lost(SimEnv::lost), present(SimEnv::present);
  RandomChooser random(states_);
  where_ = place + ", power cut";
  check(machine.power_cut(lost), model, {false, true});
  check(machine.power_cut(present), model, {false, true});
  check(machine.power_cut(random), model, {false, true});
}

void Explorer::explore(const SimEnv& machine, const Model& model) {
  if (!violation_.empty()) return;
  ++crash_points_;
  const std::string place = where_;
  where_ = place + ", before change " + std::to_string(machine.changes()) + ", killed";
  check_kill(machine, model, true);
  where_ = place + ", before change " + std::to_string(machine.changes()) + ", power cut";
  std::size_t number = 0;
  // Every fourth disk is looked at more deeply: crashes of the recovery cost about ten times the check
  // itself.
  const auto cut = [&](Chooser& chooser) {
    const bool deep = number++ % 4 == 0;
    check(machine.power_cut(chooser), model, {deep, deep});
  };
  if (machine.survivors(survivors_max_ + 1) <= survivors_max_) {
    EveryChooser every;
    do cut(every);
    while (every.advance());
  } else {
    SameChooser lost(SimEnv::lost), present(SimEnv::present);
    cut(lost);
    cut(present);
    RandomChooser random(machine.changes() * 1'000'003 + states_);
    RunChooser runs(machine.changes() * 1'000'003 + states_, 6);
    while (number < survivors_max_) {
      cut(runs);
      cut(random);
    }
  }
  where_ = place;
}

bool Explorer::run(const Scenario& scenario) {
  SimEnv sim;
  Model model;
  where_ = scenario.name + ", seed " + std::to_string(scenario.seed);
  if (scenario.fault) where_ += ", fault at " + std::to_string(scenario.fault->number);
  if (scenario.no_exchange) sim.refuse_exchange();
  if (scenario.without_history) {
    place_directory(sim, {{model_state_file, "{}\n"}});
  } else if (!scenario.foreign_lines.empty()) {
    place_directory(sim, {{history_name, scenario.foreign_lines}});
    model.acknowledged = scenario.foreign_lines;
  }
  Stack stack(sim, mutation_);
  {
    const Open root(stack.order, *stack.order.open_root("/"));
    ModelSession session(stack.order, root.get(), model, scenario.seed,
                         {.state_first = mutation_ == Mutation::state_first});
    sim.observe([&] { explore(sim, model); });
    const bool own_directory = !scenario.without_history && scenario.foreign_lines.empty();
    Status done = own_directory ? session.create() : session.start();
    if (done && own_directory) done = session.open();
    if (!done) report("cannot begin: " + text_of(done.error()));
    if (scenario.fault) stack.fault.set(*scenario.fault);
    for (int i = 0; i < scenario.steps && violation_.empty(); ++i) {
      const std::size_t hits = stack.fault.hits();
      const Status stepped = session.step();
      if (!stepped && (stack.fault.hits() == hits || stepped.error().code == ErrorCode::internal))
        report("step " + std::to_string(i) + " fails: " + text_of(stepped.error()));
    }
    explore(sim, model);
    sim.observe(nullptr);
  }
  if (!stack.order.violations().empty()) report(stack.order.violations().front());
  if (sim.open_handles() != 0) report("handles are left open");
  return !scenario.fault || stack.fault.hits() > 0;
}

void run_all_scenarios(Explorer& explorer, std::uint64_t seed, std::size_t states_wanted) {
  const auto enough = [&] { return explorer.states() >= states_wanted || !explorer.violation().empty(); };
  const auto every_place = [&](Scenario scenario, Fault fault) {
    for (fault.number = 0; !enough(); ++fault.number) {
      scenario.fault = fault;
      if (!explorer.run(scenario)) break;
    }
  };
  const std::vector<Scenario> plain{
      {.name = "commits", .seed = seed},
      {.name = "no exchange", .seed = seed, .steps = 3, .no_exchange = true},
      {.name = "directory without history", .seed = seed, .steps = 3, .without_history = true},
      {.name = "foreign lines", .seed = seed, .steps = 3, .foreign_lines = "{\"a\":1}\n{\"b\":2}\n"},
      {.name = "foreign line without newline",
       .seed = seed,
       .steps = 3,
       .foreign_lines = "{\"a\":1}\n{\"b\":2}"},
  };
  for (const Scenario& scenario : plain)
    if (!enough()) explorer.run(scenario);
  const Scenario faulty{.name = "failed sync", .seed = seed, .steps = 4};
  every_place(faulty, {.where = Fault::Where::sync, .reason = EIO});
  Scenario full = faulty;
  full.name = "full disk";
  every_place(full, {.where = Fault::Where::write, .reason = ENOSPC});
  full.name = "short write, then full disk";
  every_place(full, {.where = Fault::Where::write, .reason = 0, .sticky = true});
}

}  // namespace sessiond
