#include "daemon/session/session.h"

#include <algorithm>

#include "common/log.h"
#include "common/text.h"
#include "daemon/session/artifact_files.h"
#include "daemon/session/recovery.h"
#include "daemon/session/state_text.h"

namespace sessiond {
namespace {

// One sync serves at most so many commands, so that the first of them does not wait for ever.
constexpr std::size_t batch_commands_max = 256;
// The same key within so many keyed changes is answered as the first one was.
constexpr std::size_t replies_kept = 256;

}  // namespace

Session::SnapshotPtr Session::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

void Session::look(std::function<void(Result<SnapshotPtr>)> use) {
  if (SnapshotPtr now = snapshot()) return use(std::move(now));
  enqueue(Look(std::move(use)));
}

void Session::submit(Command command) { enqueue(std::move(command)); }

void Session::exclusively(std::function<bool(Result<SnapshotPtr>)> work) {
  enqueue(Exclusive{std::move(work)});
}

void Session::enqueue(Job job) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(job));
  if (running_) return;
  running_ = true;
  services_.pool.post([self = shared_from_this()] { self->run(); });
}

void Session::run() {
  for (;;) {
    std::vector<Job> jobs;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        running_ = false;
        return;
      }
      const std::size_t count = std::min(waiting_.size(), batch_commands_max);
      jobs.assign(std::make_move_iterator(waiting_.begin()),
                  std::make_move_iterator(waiting_.begin() + static_cast<std::ptrdiff_t>(count)));
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    work_off(jobs);
  }
}

void Session::work_off(std::vector<Job>& jobs) {
  std::vector<Command*> commands;
  const auto flush = [&] {
    if (!commands.empty()) commit(commands);
    commands.clear();
  };
  for (Job& job : jobs) {
    if (Command* command = std::get_if<Command>(&job)) {
      if (command->alone) flush();
      commands.push_back(command);
      if (command->alone) flush();
      continue;
    }
    flush();
    const Status loaded = ensure_loaded();
    const auto result = [&]() -> Result<SnapshotPtr> {
      if (!loaded) return loaded.error();
      return snapshot();
    };
    if (Look* look = std::get_if<Look>(&job)) {
      (*look)(result());
      continue;
    }
    Result<SnapshotPtr> last = result();
    {
      const std::lock_guard lock(mutex_);
      snapshot_.reset();
      store_.reset();
    }
    moved_ = std::get<Exclusive>(job).work(std::move(last));
  }
  flush();
}

Status Session::ensure_loaded() {
  if (snapshot() != nullptr) return {};
  if (moved_)
    return Error(ErrorCode::not_found, "session " + quoted(place_.id) + " has been moved")
        .next("session.list shows the sessions");
  SESSIOND_ASSIGN(std::unique_ptr<SessionStore> opened,
                  SessionStore::open(services_.env, place_.root_handle, place_.id));
  std::shared_ptr<SessionStore> store = std::move(opened);
  SESSIOND_ASSIGN(const SessionStore::Locked locked, store->lock());
  SESSIOND_ASSIGN(LoadedSession loaded, load_session(*store, *place_.kind, services_.clock.now()));
  if (loaded.report) log::warn("session " + place_.id + ": " + loaded.report->message);
  for (const HistoryLine& line : loaded.recent) SESSIOND_TRY(redo_artifacts(*store, line.artifacts));
  for (HistoryLine& line : loaded.recent)
    if (line.idempotency_key && line.reply) remember(*line.idempotency_key, std::move(*line.reply));
  {
    const std::lock_guard lock(mutex_);
    store_ = store;
  }
  publish(std::move(loaded.state));
  return {};
}

void Session::commit(const std::vector<Command*>& commands) {
  const auto fail_all = [&](const Error& error) {
    for (Command* command : commands) command->done(error);
  };
  const auto started = std::chrono::steady_clock::now();
  if (Status loaded = ensure_loaded(); !loaded) return fail_all(loaded.error());
  const Result<SessionStore::Locked> locked = store_->lock();
  if (!locked) return fail_all(locked.error());
  SessionState state = *snapshot();
  if (Status ready = make_ready(state); !ready) return fail_all(ready.error());

  const auto stage = [this](std::vector<FileOp>& files, const std::vector<FileOp>& pending) {
    return stage_artifacts(*store_, files, pending);
  };
  Batch batch(place_, std::move(state), store_->synced_length(), services_.clock.now(), replies_, stage);
  Artifacts artifacts;
  if (commands.front()->alone) {
    artifacts = view_artifacts(services_.env, store_->dir(), place_.directory);
    batch.use_artifacts(artifacts);
  }
  for (Command* command : commands) batch.add(*command);
  Status written;
  if (!batch.lines().empty()) written = store_->append(batch.lines(), batch.changed());
  if (written && !batch.lines().empty()) {
    batch.state().history_length = store_->length();
    if (batch.changed()) {
      if (Status placed = place_files(batch.state(), batch.files()); !placed) {
        // The history has the change; the files follow with the next one or at the next load.
        log::error("session " + place_.id + ": the files are behind: " + placed.error().message);
      }
    }
    publish(std::move(batch.state()));
  }
  if (written && batch.changed())
    services_.commits.count_batch(commands.size(), batch.lines().size(),
                                  std::chrono::steady_clock::now() - started);
  for (Batch::Answer& answer : batch.answers()) {
    if (answer.changes && !written) answer.reply = written.error();
    const auto& key = answer.command->options.idempotency_key;
    if (key && answer.reply) remember(*key, *answer.reply);
    answer.command->done(std::move(answer.reply));
  }
}

Status Session::make_ready(SessionState& state) {
  if (place_.archived)
    return Error(ErrorCode::refused,
                 "session " + quoted(place_.id) + " is archived and takes no further changes")
        .with("status", "archived")
        .next("session.restore brings it back");
  if (!state.read_only.empty() || !store_->read_only().empty()) {
    const std::string& why = state.read_only.empty() ? store_->read_only() : state.read_only;
    return Error(ErrorCode::read_only, "session " + quoted(place_.id) + " is read-only: " + why)
        .next("session.recover makes it writable again");
  }
  if (!store_->has_history() || state.seq == 0) return adopt(state);
  SESSIOND_ASSIGN(const bool edited, accept_edits(*store_, *place_.kind, state, services_.clock.now()));
  if (edited) publish(state);
  return {};
}

Status Session::adopt(SessionState& state) {
  if (!store_->has_history()) SESSIOND_TRY(store_->start_history());
  SESSIOND_TRY(append_adoption(*store_, *place_.kind, state, services_.clock.now()));
  publish(state);
  return {};
}

Status Session::place_files(const SessionState& state, const std::vector<FileOp>& files) {
  SESSIOND_TRY(redo_artifacts(*store_, describe_artifacts(files)));
  for (const StateBytes& file : render_state(*place_.kind, state.document))
    SESSIOND_TRY(store_->write_state(file));
  return {};
}

void Session::publish(SessionState state) {
  state.history = store_->history();
  auto next = std::make_shared<const Snapshot>(std::move(state));
  {
    const std::lock_guard lock(mutex_);
    snapshot_ = next;
  }
  if (services_.changed) services_.changed(place_, *next);
}

void Session::remember(const std::string& key, std::string reply) {
  if (!replies_.emplace(key, std::move(reply)).second) return;
  reply_order_.push_back(key);
  if (reply_order_.size() <= replies_kept) return;
  replies_.erase(reply_order_.front());
  reply_order_.pop_front();
}

}  // namespace sessiond
