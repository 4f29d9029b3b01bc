// Every mutating method, alone and in pairs, through the dispatcher on a simulated disk that is cut at every
// change of it: after a restart what was acknowledged is there, what was not is there whole or not at all,
// and sending it again with the same key gives what an undisturbed run gives.
//
// SESSIOND_METHOD_STATES is the number of restarts to try.
#include <cstdio>
#include <cstdlib>

#include "common/json_patch.h"
#include "tests/session/sim_support.h"

namespace sessiond {
namespace {

// As disks have them: with halves of it, what survives is told apart in sectors.
constexpr std::size_t disk_block_bytes = 1024;

struct Call {
  std::string method;
  std::string params;  // without the braces
};

struct Operation {
  Call call;
  std::vector<Call> before;  // what it needs
};

const Call pause{"session.pause", R"("session_id":"m")"};
const Call archive{"session.archive", R"("session_id":"m")"};
const Call note{"artifact.put", R"("session_id":"m","name":"note.md","text":"first")"};
const Call thesis{"essay.complete_thesis",
                  R"("session_id":"e","claim_type":"argument","text":"T.","log":"l")"};
const Call outline{"essay.complete_outline", R"("session_id":"e","total_sections":1,"text":"## S\n")"};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all{
      {{"workflow.create", R"("session_id":"n","workflow_type":"spec","target_file":"t","total_phases":2)"},
       {}},
      {{"session.update", R"("session_id":"m","changes":{"metadata":{"a":"b"}})"}, {}},
      {{"workflow.complete_phase", R"("session_id":"m","phase":1,"evidence":{"e":1})"}, {}},
      {{"workflow.retry_phase", R"("session_id":"m","phase":1)"},
       {{"workflow.record_error", R"("session_id":"m","message":"oh")"}}},
      {{"workflow.rollback", R"("session_id":"m","to_phase":0,"reason":"wrong")"}, {}},
      {{"workflow.record_error", R"("session_id":"m","message":"oh")"}, {}},
      {pause, {}},
      {{"session.resume", R"("session_id":"m")"}, {pause}},
      {{"session.abort", R"("session_id":"m","reason":"enough")"}, {}},
      {{"session.revert", R"("session_id":"m","revision":1)"}, {}},
      {{"session.fork", R"("session_id":"m","new_session_id":"f")"}, {}},
      {archive, {pause}},
      {{"session.restore", R"("session_id":"m")"}, {pause, archive}},
      {{"session.delete", R"("session_id":"m","confirm":"m")"}, {pause, archive}},
      {{"session.delete", R"("session_id":"m","confirm":"m")"}, {{"session.abort", R"("session_id":"m")"}}},
      {note, {}},
      {{"artifact.put", R"("session_id":"m","name":"note.md","text":"second")"}, {note}},
      {thesis, {}},
      {outline, {thesis}},
      {{"essay.set_pushback", R"("session_id":"e","level":"light")"}, {}},
      {{"essay.start_section", R"("session_id":"e","section":1)"}, {thesis, outline}}};
  return all;
}

json::object send(Sessions& daemon, const Call& call, const std::string& key) {
  return daemon.call(call.method, "{" + call.params + R"(,"idempotency_key":")" + key + "\"}");
}

// All that a client can see.
json::value view(Sessions& daemon) {
  json::object out;
  for (const std::string id : {"m", "n", "f", "e"}) {
    const json::object reply = daemon.call("session.get", Sessions::of(id));
    if (!reply.contains("result")) {
      out[id] = Sessions::name_of(reply);
      continue;
    }
    json::object seen = reply.at("result").as_object();
    const json::object artifacts = daemon.result("artifact.list", Sessions::of(id));
    for (const json::value& artifact : artifacts.at("artifacts").as_array()) {
      const std::string name = text_of(artifact.at("name"));
      seen[name] = daemon.call("artifact.get", Sessions::of(id, "\"name\":\"" + name + "\""));
      if (seen[name].as_object().contains("result"))
        seen[name] = seen[name].at("result").as_object().at("text");
    }
    out[id] = std::move(seen);
  }
  out["total"] = daemon.result("session.list").at("total");
  return out;
}

// One or two operations, and the disk before each change that they made.
class Run {
 public:
  Run(const Operation& first, const Operation* second) : sim_(disk_block_bytes) {
    Sessions daemon(forward(sim_));
    daemon.create("m", 3);
    daemon.complete("m", 0);
    daemon.call("essay.create", R"({"session_id":"e"})");
    for (const Call& call : first.before)
      if (!daemon.call(call.method, "{" + call.params + "}").contains("result"))
        problem_ = "cannot prepare " + first.call.method + " with " + call.method;
    views_.push_back(view(daemon));
    daemon.pool.wait_idle();
    sim_.observe([this] { moments_.push_back({sim_.process_kill(), calls_.size() - 1}); });
    add(daemon, first.call);
    if (second != nullptr) add(daemon, second->call);
    moments_.push_back({sim_.process_kill(), calls_.size()});
    sim_.observe(nullptr);
  }

  struct Moment {
    std::unique_ptr<SimEnv> disk;
    std::size_t acknowledged;  // calls
  };
  const std::vector<Moment>& moments() const { return moments_; }
  bool done(std::size_t call) const { return replies_[call].contains("result"); }
  const std::string& problem() const { return problem_; }
  std::string name() const {
    return calls_.front().method + (calls_.size() > 1 ? " and " + calls_.back().method : "");
  }

  // Empty, or which promise a restart from this disk breaks.
  std::string check(SimEnv& disk, std::size_t acknowledged) const {
    {
      Sessions daemon(forward(disk));
      const json::value found = view(daemon);
      const bool nothing = found == views_[acknowledged];
      const bool whole = acknowledged < calls_.size() && found == views_[acknowledged + 1];
      if (!nothing && !whole) return "neither before nor after: " + difference(found, acknowledged);
      for (std::size_t i = 0; i < calls_.size() && i <= acknowledged; ++i)
        if (std::string why = repeat(daemon, i, i < acknowledged); !why.empty()) return why;
      const std::size_t now = std::min(acknowledged + 1, calls_.size());
      const json::value then = view(daemon);
      if (then != views_[now]) return "after the repetition: " + difference(then, now);
      daemon.pool.wait_idle();
    }
    // What the repetition acknowledged survives, too.
    const std::unique_ptr<SimEnv> after = cut_power(disk);
    Sessions daemon(forward(*after));
    const std::size_t now = std::min(acknowledged + 1, calls_.size());
    const json::value later = view(daemon);
    return later == views_[now] ? "" : "after another power cut: " + difference(later, now);
  }

 private:
  void add(Sessions& daemon, const Call& call) {
    calls_.push_back(call);
    replies_.push_back(send(daemon, call, key(calls_.size() - 1)));
    daemon.pool.wait_idle();
    views_.push_back(view(daemon));
    daemon.pool.wait_idle();
  }
  static std::string key(std::size_t call) { return "key-" + std::to_string(call); }

  std::string repeat(Sessions& daemon, std::size_t call, bool acknowledged) const {
    const json::object again = send(daemon, calls_[call], key(call));
    if (!done(call)) return again.contains("error") ? "" : "what was refused is done when it is repeated";
    // Nobody remembers the keys of a session that was deleted since.
    const bool gone = Sessions::name_of(again) == "not_found" && call + 1 < calls_.size() &&
                      calls_.back().method == "session.delete";
    if (gone) return "";
    if (!again.contains("result")) return "the repetition is refused: " + to_json_text(again);
    if (acknowledged && again != replies_[call])
      return "the repetition is answered otherwise: " + to_json_text(again) + ", not " +
             to_json_text(replies_[call]);
    return "";
  }

  std::string difference(const json::value& found, std::size_t wanted) const {
    return to_json_text(json_diff(views_[wanted], found)).substr(0, 1'500);
  }

  SimEnv sim_;
  std::vector<Call> calls_;
  std::vector<json::object> replies_;
  std::vector<json::value> views_;  // before the first call, and after each
  std::vector<Moment> moments_;
  std::string problem_;
};

class Restarts {
 public:
  explicit Restarts(std::size_t wanted) : wanted_(wanted) {}

  bool enough() const { return tried_ >= wanted_ || failures_ >= 5; }
  std::size_t tried() const { return tried_; }
  std::size_t points() const { return points_; }

  // Every `stride`th moment: the process killed, and the power cut with `cuts` outcomes.
  void explore(const Run& run, std::size_t stride, std::size_t cuts) {
    CHECK_MESSAGE(run.problem().empty(), run.problem());
    for (std::size_t i = 0; i < run.moments().size() && !enough(); i += stride) {
      const Run::Moment& moment = run.moments()[i];
      ++points_;
      try_one(run, i, moment.disk->process_kill(), "killed");
      for (std::size_t cut = 0; cut < cuts; ++cut) {
        const std::uint64_t seed = i * 1'000 + cut;
        SameChooser same(cut);
        RandomChooser random(seed);
        RunChooser runs(seed, 5);
        Chooser& chooser = cut < 2        ? static_cast<Chooser&>(same)
                           : cut % 2 == 0 ? static_cast<Chooser&>(random)
                                          : static_cast<Chooser&>(runs);
        try_one(run, i, moment.disk->power_cut(chooser), "power cut " + std::to_string(cut));
      }
    }
  }

 private:
  void try_one(const Run& run, std::size_t moment, std::unique_ptr<SimEnv> disk, const std::string& how) {
    ++tried_;
    const std::string why = run.check(*disk, run.moments()[moment].acknowledged);
    failures_ += !why.empty();
    CHECK_MESSAGE(why.empty(), run.name() << ", change " << moment << ", " << how << ": " << why);
  }

  std::size_t wanted_;
  std::size_t tried_ = 0;
  std::size_t points_ = 0;
  std::size_t failures_ = 0;
};

}  // namespace

TEST_CASE("every mutating method and pairs of them, cut at every change of the disk") {
  const char* text = std::getenv("SESSIOND_METHOD_STATES");
  const std::size_t wanted = text != nullptr ? std::strtoull(text, nullptr, 10) : test::scaled(4'000, 400);
  Restarts restarts(wanted);
  const std::vector<Operation>& all = operations();
  for (const Operation& one : all) {
    const Run run(one, nullptr);
    CHECK_MESSAGE(run.done(0), one.call.method << " is refused");
    restarts.explore(run, test::scaled(1, 9), wanted > 100'000 ? 10 : 4);
  }
  // Pairs in an order in which each method soon had its turn; then again, with other choices.
  std::size_t pairs = 0;
  for (std::size_t distance = 1; distance < all.size() && !restarts.enough(); ++distance) {
    for (std::size_t i = 0; i < all.size() && !restarts.enough(); ++i, ++pairs) {
      const Run run(all[i], &all[(i + distance) % all.size()]);
      restarts.explore(run, wanted > 100'000 ? 1 : 5, wanted > 100'000 ? 8 : 3);
    }
  }
  std::printf("session.crash: %zu restarts at %zu crash points, %zu methods, %zu pairs\n", restarts.tried(),
              restarts.points(), all.size(), pairs);
}

}  // namespace sessiond
