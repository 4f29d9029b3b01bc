// One session while it is in use: its published snapshot, the queue of what waits for it, and the strand that
// works the queue off.
//
// The strand is not a thread: at most one worker at a time runs a session's queue, in order. Commands that
// wait together are applied one after another, each with its own line in the history, and share one sync.
// Order is law: checks, apply, validate, history synced, state files, publish, reply.
//
// Threads: submit(), look() and snapshot() from any thread; everything else on the strand.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/time.h"
#include "daemon/kinds/kind.h"
#include "daemon/session/batch.h"
#include "daemon/session/command.h"
#include "daemon/session/commit_stats.h"
#include "daemon/session/quiet_sync.h"
#include "daemon/session/snapshot.h"
#include "daemon/session/worker_pool.h"
#include "daemon/store/session_store.h"

namespace sessiond {

// What every session works with; outlives them all.
struct SessionServices {
  Env& env;
  const Clock& clock;
  WorkerPool& pool;
  CommitStats& commits;
  QuietSync& quiet;
  // Told of every new snapshot, on the strand, before the replies go out.
  std::function<void(const SessionPlace&, const Snapshot&)> changed;
};

class Session : public QuietSync::Subject, public std::enable_shared_from_this<Session> {
 public:
  using SnapshotPtr = std::shared_ptr<const Snapshot>;

  Session(SessionPlace place, SessionServices& services) : place_(std::move(place)), services_(services) {}

  const SessionPlace& place() const { return place_; }
  Env& env() const { return services_.env; }

  // The newest published state; null until somebody loaded it.
  SnapshotPtr snapshot() const;
  // True when only this object knows that its history cannot be trusted; it must stay in memory then. Only
  // while nothing runs.
  bool must_keep() const { return kept_ != nullptr || (store_ != nullptr && store_->must_keep()); }
  // Calls `use` with the newest state: at once when it is loaded, else on the strand after loading.
  void look(std::function<void(Result<SnapshotPtr>)> use);
  void submit(Command command);
  // When a commit last wrote the state files, and making them durable on the strand, in the background.
  QuietSync::Clock::time_point last_written() const override;
  void sync_files() override;
  // Calls `work` on the strand with nothing else running, for what moves the whole directory. The session is
  // unloaded first; `work` gets its last state, or why it cannot be told. If it returns true the directory
  // has moved: this object is of no use any more and answers not_found. `failed` is called instead when it
  // cannot be done at all: the directory has moved already, or another program holds its lock.
  void exclusively(std::function<bool(Result<SnapshotPtr>)> work, std::function<void(const Error&)> failed);
  // For such `work`, as long as it runs: the store, locked; null when it could not be loaded.
  SessionStore* resting_store() const { return resting_; }

 private:
  using Look = std::function<void(Result<SnapshotPtr>)>;
  struct Exclusive {
    std::function<bool(Result<SnapshotPtr>)> work;
    std::function<void(const Error&)> failed;
  };
  struct SyncFiles {};
  using Job = std::variant<Command, Look, Exclusive, SyncFiles>;

  void enqueue(Job job);
  void run();
  void work_off();
  void run_exclusive(Exclusive& job);
  // After an exception: answers what is not answered yet. What is on disk decides where the session stands.
  void give_up(const Error& error) noexcept;
  Result<SnapshotPtr> loaded();
  Status ensure_loaded();
  void unload();
  // False: nothing was written and nobody answered, because they cannot be written together.
  [[nodiscard]] bool commit(const std::vector<Command*>& commands);
  void write(Batch& batch, std::chrono::steady_clock::time_point started);
  // True when there is nothing for make_ready to do, which is the rule.
  bool ready_as_is(const Snapshot& now);
  // Takes in what other programs did to the directory; after it the session can be written.
  Status make_ready(SessionState& state);
  Status check_writable(const SessionState& state);
  // A session without a history gets one, with its document as it was found.
  Status adopt(SessionState& state);
  // Artifacts and state files, after the history has the change. What fails is logged and follows later.
  void place_files(const Batch& batch);
  Status place_artifacts();
  // The state files were written: they are to be synced when the session has been quiet.
  void sync_later();
  void run_sync();
  void publish(SessionState state);
  void remember(const std::string& key, std::string reply);
  Result<std::string> known_reply(const Command& command, const Error& otherwise) const;

  const SessionPlace place_;
  SessionServices& services_;

  mutable std::mutex mutex_;  // guards the next four
  SnapshotPtr snapshot_;
  std::deque<Job> waiting_;
  bool running_ = false;
  std::shared_ptr<SessionStore> store_;  // replaced only on the strand

  std::atomic<QuietSync::Clock::rep> last_written_{0};

  // The rest on the strand only.
  std::deque<Job> working_;
  bool moved_ = false;
  SessionStore* resting_ = nullptr;
  // A store that must_keep() although it is not loaded.
  std::shared_ptr<SessionStore> kept_;
  bool sync_due_ = false;  // waits in services_.quiet
  bool writing_ = false;   // lines may be on disk that nobody was told of
  // Artifact operations of the history that are not done yet; no change is made before they are.
  json::array unplaced_;
  // Replies to commands with an idempotency key, newest last; bounded.
  std::map<std::string, std::string> replies_;
  std::deque<std::string> reply_order_;
};

}  // namespace sessiond
