// Every call of the store fails, in turn, once and from then on, with every error that a disk gives.
#include <doctest/doctest.h>

#include <cerrno>
#include <cstdio>

#include "daemon/store/layout.h"
#include "tests/store/explorer.h"
#include "tests/support/order_env.h"

namespace sessiond {
namespace {

constexpr std::array reasons{EIO, ENOSPC, EDQUOT, EMFILE, EINTR, EROFS, EACCES, 0};

enum class Start { create, torn_tail, no_history, interrupted_repair };
constexpr std::array starts{Start::create, Start::torn_tail, Start::no_history, Start::interrupted_repair};

// A run of a session with a fault somewhere in it.
class FaultRun {
 public:
  FaultRun(Start start, const Fault& fault, Explorer& explorer)
      : start_(start),
        fault_(fault),
        explorer_(explorer),
        faulty_(sim_, [this](Handle file) { sim_.lose_unsynced(file); }),
        order_(faulty_, sim_, model_state_file) {}

  // False when the fault was not reached.
  bool run() {
    prepare();
    const Open root(sim_, *sim_.open_root("/"));
    ModelSession session(order_, root.get(), model_, 5, {});
    faulty_.set(fault_);
    step(session, [&] { return begin(session); });
    for (int round = 0; round < 2; ++round) {
      step(session, [&] { return session.commit(1); });
      step(session, [&] { return session.note_failure(); });
      step(session, [&] { return session.commit(2); });
      step(session, [&] { return session.store().sync_state({model_state_file}); });
      session.close();
      step(session, [&] { return session.open(); });
    }
    const bool reached = faulty_.hits() > 0;
    faulty_.clear();
    healthy_again(session, true);
    CHECK_MESSAGE(order_.violations().empty(), (order_.violations().empty() ? "" : order_.violations()[0]));
    return reached;
  }

 private:
  std::string place() const {
    return "start " + std::to_string(static_cast<int>(start_)) + ", call " + std::to_string(fault_.number) +
           ", errno " + std::to_string(fault_.reason) + (fault_.sticky ? ", sticky" : "");
  }

  void prepare() {
    if (start_ == Start::create) return;
    if (start_ == Start::no_history) return place_directory(sim_, {{model_state_file, "{}\n"}});
    HistoryLine first;
    first.timestamp = "2026-01-17T14:30:00.000Z";
    first.command = "session.create";
    first.seq = first.revision = first.base = 1;
    first.document.emplace();
    const std::string line = build_history_line(first);
    model_.acknowledged = line;
    model_.create_acknowledged = true;
    model_.document_after[line] = "{}";
    place_directory(sim_, {{std::string(layout::history), line + line.substr(0, 40)},
                           {model_state_file, "{}\n"},
                           {start_ == Start::torn_tail ? "notes" : std::string(layout::sync_failed), ""}});
  }

  Status begin(ModelSession& session) {
    if (start_ == Start::create && !created_) {
      const Status made = session.create();
      created_ = made.ok() || made.error().code == ErrorCode::outcome_unknown;
      if (!made) return made;
    }
    return session.start();
  }

  template <class Operation>
  void step(ModelSession& session, Operation operation) {
    if (!session.is_open() && !begin_again(session)) return;
    const std::size_t hits = faulty_.hits();
    const Status done = operation();
    // Restarts in the middle of the trouble; a few are enough, the crash test looks at every moment.
    if (faulty_.hits() > hits && looked_++ < (fault_.reason == EIO ? 2 : 1))
      explorer_.check_now(place(), sim_, model_);
    if (done) return;
    check_error(done.error());
    CHECK_MESSAGE(faulty_.hits() > hits, place() << ": fails without a fault: " << done.error().message);
    if (!fault_.sticky) healthy_again(session, false);
  }

  bool begin_again(ModelSession& session) {
    const Status begun = begin(session);
    if (!begun) check_error(begun.error());
    return begun.ok() && session.is_open();
  }

  void check_error(const Error& error) {
    const bool clear = error.code == ErrorCode::storage_full || error.code == ErrorCode::storage_error ||
                       error.code == ErrorCode::outcome_unknown || error.code == ErrorCode::read_only;
    CHECK_MESSAGE(clear, place() << ": not a clear error: " << error.message);
    CHECK_MESSAGE(!error.message.empty(), place());
  }

  // Without a fault, the next change works.
  void healthy_again(ModelSession& session, bool look) {
    Status done;
    if (!session.is_open()) done = begin(session);
    if (done) done = session.commit(1);
    CHECK_MESSAGE(done.ok(), place() << ": the next change fails: " << (done ? "" : done.error().message));
    if (look) explorer_.check_now(place(), sim_, model_);
  }

  Start start_;
  Fault fault_;
  Explorer& explorer_;
  SimEnv sim_;
  FaultEnv faulty_;
  OrderEnv order_;
  Model model_;
  bool created_ = false;
  int looked_ = 0;
};

}  // namespace

TEST_CASE("every call fails, once and from then on") {
  Explorer explorer(1);
  std::size_t faults = 0;
  for (const Start start : starts)
    for (const int reason : reasons)
      for (const bool sticky : {false, true}) {
        Fault fault{.where = reason == 0 ? Fault::Where::write : Fault::Where::any_call,
                    .reason = reason,
                    .sticky = sticky};
        const std::size_t stride = SESSIOND_DEFAULT_STATES < 100'000 ? 7 : 1;  // less under sanitizers
        for (;; fault.number += stride, ++faults)
          if (!FaultRun(start, fault, explorer).run()) break;
      }
  std::printf("store.faults: %zu faults, %zu restarts\n", faults, explorer.states());
  CHECK_MESSAGE(explorer.violation().empty(), explorer.violation());
}

}  // namespace sessiond
