// A disk that fails, is full or cuts the power, below whole sessions.
#include <cerrno>

#include "tests/session/sim_support.h"

namespace sessiond {
namespace {

constexpr Fault no_sync{.where = Fault::Where::sync, .reason = EIO, .sticky = true};
constexpr Fault no_room{.where = Fault::Where::write, .reason = ENOSPC, .sticky = true};

bool holds(const std::vector<std::string>& files, const std::string& bytes) {
  return std::find(files.begin(), files.end(), bytes) != files.end();
}

}  // namespace

TEST_CASE("a repair that failed is tried again with the next change") {
  SimEnv sim;
  FaultyDisk disk{sim};
  Sessions s(forward(disk.fault));
  s.create("demo");
  disk.fault.set(no_sync);
  CHECK(s.update("demo", R"({"n":1})") == "outcome_unknown");
  CHECK(s.update("demo", R"({"n":2})") == "read_only");
  CHECK(s.document("demo").at("target_file") == "specs/demo");
  disk.fault.clear();
  CHECK(s.update("demo", R"({"n":3})") == "ok");
  CHECK(s.document("demo").at("metadata").at("n") == 3);
  s.pool.wait_idle();
  const std::unique_ptr<SimEnv> after = cut_power(sim);
  Sessions again(forward(*after));
  CHECK(again.document("demo") == s.document("demo"));
}

// A process was killed between the write and the sync of a line; the next one cannot sync it, nor leave a
// word about that. When the disk works again, what it shows must be on the disk.
TEST_CASE("a sync that failed while loading is not forgotten") {
  SimEnv first;
  Sessions before(forward(first));
  before.create("demo");
  before.pool.wait_idle();
  std::vector<std::unique_ptr<SimEnv>> moments;
  first.observe([&] { moments.push_back(first.process_kill()); });
  CHECK(before.update("demo", R"({"n":1})") == "ok");
  before.pool.wait_idle();
  first.observe(nullptr);
  std::size_t tried = 0;
  for (const auto& moment : moments) {
    for (std::size_t number = 0;; ++number, ++tried) {
      const std::unique_ptr<SimEnv> sim = moment->process_kill();
      FaultyDisk disk{*sim};
      Sessions s(forward(disk.fault));
      disk.fault.set({.where = Fault::Where::any_call, .number = number, .reason = EIO, .sticky = true});
      const std::string outcome = s.outcome("session.get", Sessions::of("demo"));
      const bool reached = disk.fault.hits() > 0;
      disk.fault.clear();
      if (!reached) break;
      CHECK((outcome == "ok" || outcome == "storage_error" || outcome == "outcome_unknown"));
      const json::value shown = s.document("demo");
      s.pool.wait_idle();
      const std::unique_ptr<SimEnv> after = cut_power(*sim);
      Sessions again(forward(*after));
      CHECK_MESSAGE(again.document("demo") == shown, "call " << number);
    }
  }
  MESSAGE(tried << " loads with a failing disk");
  CHECK(tried > 50);
}

TEST_CASE("a torn history on a full disk: reads go on, changes when there is room") {
  SimEnv sim;
  const std::string torn = R"({"timestamp":"2026-01-)";
  {
    Sessions s(forward(sim));
    s.create("demo", 3);
    s.complete("demo", 0);
  }
  const std::string dir = sim_root + "demo";
  sim_write(sim, dir, "history.jsonl", sim_read(sim, dir, "history.jsonl") + torn);
  FaultyDisk disk{sim};
  disk.fault.set(no_room);
  Sessions s(forward(disk.fault));
  CHECK(s.revision("demo") == 2);
  CHECK(!s.result("session.get", Sessions::of("demo")).at("session").at("warnings").as_array().empty());
  CHECK(s.history("demo").size() == 2);
  CHECK(Sessions::name_of(s.complete("demo", 1)) == "read_only");
  CHECK(sim_read(sim, dir, "history.jsonl").ends_with(torn));
  disk.fault.clear();
  CHECK(s.complete("demo", 1).contains("result"));
  CHECK(s.revision("demo") == 3);
  CHECK(holds(sim_files(sim, dir + "/quarantine"), torn));
  CHECK(sim_read(sim, dir, "history.jsonl").find(torn + "{") == std::string::npos);
}

TEST_CASE("a fresh installation survives a power cut") {
  SimEnv sim;
  Sessions s(forward(sim));
  REQUIRE(s.create("demo", 1).contains("result"));
  s.pool.wait_idle();
  const std::unique_ptr<SimEnv> after = cut_power(sim);
  Sessions again(forward(*after));
  CHECK(again.revision("demo") == 1);
}

TEST_CASE("session.recover is cut at every call: the damaged history is kept, and can be recovered again") {
  std::size_t states = 0;
  for (const std::string from : {"history", "state", "backup", "fresh"}) {
    SimEnv first;
    Sessions s(forward(first));
    s.create("demo", 4);
    for (int i = 0; i < 3; ++i) s.complete("demo", i);
    const json::value document = s.document("demo");
    s.pool.wait_idle();
    // The same disk with everything on it, so that the state file and the backup are whole.
    const std::unique_ptr<SimEnv> durable = cut_power(first, SimEnv::present);
    SimEnv& sim = *durable;
    const std::string dir = sim_root + "demo";
    std::string damaged = sim_read(sim, dir, "history.jsonl");
    damaged[damaged.find("\n") + 20] ^= 1;  // in the second line
    sim_write(sim, dir, "history.jsonl", damaged);
    const std::string params = Sessions::of(
        "demo", "\"from\":\"" + from + "\"" +
                    (from == "fresh" ? ",\"directions\":" + to_json_text(document) : std::string()));
    std::vector<std::unique_ptr<SimEnv>> moments;
    const auto look = [&] {
      moments.push_back(sim.process_kill());
      moments.push_back(cut_power(sim, SimEnv::lost));
      moments.push_back(cut_power(sim, SimEnv::present));
      for (std::uint64_t seed = 0; seed < 6; ++seed) {
        RandomChooser chooser(seed);
        moments.push_back(sim.power_cut(chooser));
      }
    };
    Sessions recovering(forward(sim));
    REQUIRE(recovering.outcome("session.get", Sessions::of("demo")) == "ok");
    sim.observe(look);
    const std::string outcome = recovering.outcome("session.recover", params);
    recovering.pool.wait_idle();
    sim.observe(nullptr);
    CHECK_MESSAGE(outcome == "ok", from);
    look();
    for (const auto& moment : moments) {
      ++states;
      const std::vector<std::string> aside = sim_files(*moment, dir + "/quarantine");
      CHECK_MESSAGE((sim_read(*moment, dir, "history.jsonl") == damaged || holds(aside, damaged)),
                    from << ": the damaged history is lost");
      Sessions again(forward(*moment));
      const std::string got = again.outcome("session.get", Sessions::of("demo"));
      CHECK_MESSAGE((got == "ok" || got == "damaged"), from << ": " << got);
      // One that has got through is not damaged any more, and its backup may be torn.
      const std::string repeated = again.outcome("session.recover", params);
      CHECK_MESSAGE((repeated == "ok" || got == "ok"), from << ": " << repeated);
      CHECK_MESSAGE(again.update("demo", R"({"after":true})") == "ok", from);
      again.pool.wait_idle();
      CHECK(holds(sim_files(*moment, dir + "/quarantine"), damaged));
    }
  }
  MESSAGE(states << " disks in the middle of a recovery");
}

// A recovery that fails after it has put the history aside; then other damage in the same file.
TEST_CASE("damaged histories of the same file and size are all kept") {
  std::size_t failed_later = 0;
  for (std::size_t number = 0;; ++number) {
    SimEnv sim;
    const std::string dir = sim_root + "demo";
    {
      Sessions s(forward(sim));
      s.create("demo", 4);
      for (int i = 0; i < 3; ++i) s.complete("demo", i);
    }
    const auto damage = [&](std::size_t at) {
      std::string bad = sim_read(sim, dir, "history.jsonl");
      bad[bad.find('\n') + at] ^= 1;
      sim_write(sim, dir, "history.jsonl", bad);
      return bad;
    };
    const std::string first = damage(20);
    FaultyDisk disk{sim};
    std::optional<Sessions> s(std::in_place, forward(disk.fault));
    disk.fault.set({.where = Fault::Where::any_call, .number = number, .reason = EIO, .sticky = true});
    const std::string params = Sessions::of("demo", R"("from":"state")");
    const bool failed = s->outcome("session.recover", params) != "ok";
    const bool reached = disk.fault.hits() > 0;
    disk.fault.clear();
    s.reset();  // its locks, too
    if (!reached) break;
    if (!failed || !holds(sim_files(sim, dir + "/quarantine"), first)) continue;
    if (sim_read(sim, dir, "history.jsonl") != first) continue;
    ++failed_later;
    const std::string second = damage(30);
    Sessions again(forward(sim));
    CHECK(again.outcome("session.recover", params) == "ok");
    CHECK_MESSAGE(holds(sim_files(sim, dir + "/quarantine"), first), "call " << number);
    CHECK_MESSAGE(holds(sim_files(sim, dir + "/quarantine"), second), "call " << number);
  }
  CHECK(failed_later > 0);
}

}  // namespace sessiond
