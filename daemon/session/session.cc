#include "daemon/session/session.h"

#include <algorithm>

#include "common/caught.h"
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

// A callback is called once: what is left of it says that it was.
template <class Callback>
Callback taken(Callback& callback) {
  Callback out = std::move(callback);
  callback = nullptr;
  return out;
}

// Forgets the store at the end of a scope, also when an exception leaves it.
struct Resting {
  SessionStore*& store;
  ~Resting() { store = nullptr; }
};

// The last lines of the history, oldest first: `recent` starts at the last whole document, which may be a
// line ago, but keys and the artifacts of the last write reach further back.
std::vector<HistoryLine> newest_lines(const SessionStore& store, std::vector<HistoryLine> recent) {
  constexpr std::size_t wanted = std::max(replies_kept, batch_commands_max);
  if (recent.empty() || recent.size() >= wanted || recent.front().seq == 1) return recent;
  const std::int64_t from =
      std::max<std::int64_t>(1, recent.back().seq - static_cast<std::int64_t>(wanted) + 1);
  std::vector<HistoryLine> lines;
  const Status found = store.history()->each_line(from, store.length(), [&](const std::string& text) {
    ReadLine read = read_history_line(text);
    if (read.state != LineState::ours) return true;
    if (read.line.seq >= recent.front().seq) return false;
    lines.push_back(std::move(read.line));
    return true;
  });
  if (!found) return recent;
  std::move(recent.begin(), recent.end(), std::back_inserter(lines));
  return lines;
}

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

QuietSync::Clock::time_point Session::last_written() const {
  return QuietSync::Clock::time_point(QuietSync::Clock::duration(last_written_.load()));
}

void Session::sync_files() { enqueue(SyncFiles()); }

void Session::exclusively(std::function<bool(Result<SnapshotPtr>)> work,
                          std::function<void(const Error&)> failed) {
  enqueue(Exclusive{std::move(work), std::move(failed)});
}

void Session::enqueue(Job job) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(job));
  if (running_) return;
  try {
    services_.pool.post([self = shared_from_this()] { self->run(); });
  } catch (...) {
    waiting_.pop_back();
    throw;
  }
  running_ = true;
}

void Session::run() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        running_ = false;
        return;
      }
      std::swap(waiting_, working_);
    }
    try {
      work_off();
    } catch (...) {
      give_up(caught_error());
    }
    working_.clear();
  }
}

void Session::work_off() {
  std::vector<Command*> commands;
  const auto flush = [&] {
    // What cannot be written together is written one by one, so that only the culprit is refused.
    if (!commands.empty() && !commit(commands))
      for (Command* command : commands) (void)commit({command});
    commands.clear();
  };
  for (Job& job : working_) {
    if (Command* command = std::get_if<Command>(&job)) {
      if (command->reads_history || command->alone || commands.size() == batch_commands_max) flush();
      commands.push_back(command);
      if (command->alone) flush();
      continue;
    }
    flush();
    if (Look* look = std::get_if<Look>(&job))
      taken (*look)(loaded());
    else if (std::holds_alternative<SyncFiles>(job))
      run_sync();
    else
      run_exclusive(std::get<Exclusive>(job));
  }
  flush();
}

void Session::run_exclusive(Exclusive& job) {
  Result<SnapshotPtr> last = loaded();
  if (moved_) return taken(job.failed)(last.error());
  if (must_keep())
    return taken(job.failed)(
        Error(ErrorCode::read_only, "session " + quoted(place_.id) + " must stay as it is: a sync failed")
            .next("try again when the disk works"));
  // Another program may be in the middle of an edit.
  const std::shared_ptr<SessionStore> store = store_;
  if (store != nullptr) {
    const Result<SessionStore::Locked> locked = store->lock();
    if (!locked) return taken(job.failed)(locked.error());
    unload();
    resting_ = store.get();
    const Resting until_done{resting_};
    moved_ = taken(job.work)(std::move(last));
  } else {
    moved_ = taken(job.work)(std::move(last));
  }
  job.failed = nullptr;
}

void Session::give_up(const Error& error) noexcept {
  unload();
  log::error("session " + place_.id + ": " + error.message);
  const Error unknown(ErrorCode::outcome_unknown,
                      "the change may or may not have happened: " + error.message);
  for (Job& job : working_) {
    try {
      if (Command* command = std::get_if<Command>(&job)) {
        if (command->done) taken(command->done)(writing_ ? unknown : error);
      } else if (Look* look = std::get_if<Look>(&job)) {
        if (*look) taken (*look)(error);
      } else if (Exclusive* exclusive = std::get_if<Exclusive>(&job); exclusive && exclusive->failed) {
        taken(exclusive->failed)(error);
      }
    } catch (...) {
      log::error("session " + place_.id + ": a request stays without an answer");
    }
  }
  writing_ = false;
}

void Session::unload() {
  const std::lock_guard lock(mutex_);
  snapshot_.reset();
  if (store_ != nullptr && store_->must_keep()) kept_ = store_;
  store_.reset();
}

Result<Session::SnapshotPtr> Session::loaded() {
  SESSIOND_TRY(ensure_loaded());
  return snapshot();
}

Status Session::ensure_loaded() {
  if (snapshot() != nullptr) return {};
  if (moved_)
    return Error(ErrorCode::not_found, "session " + quoted(place_.id) + " has been moved")
        .next("session.list shows the sessions");
  std::shared_ptr<SessionStore> store = kept_;
  if (store == nullptr) {
    SESSIOND_ASSIGN(store, SessionStore::open(services_.env, place_.root_handle, place_.id));
  }
  SESSIOND_ASSIGN(const SessionStore::Locked locked, store->lock());
  Result<LoadedSession> result = load_session(*store, *place_.kind, services_.clock.now(), place_.directory);
  // A sync that failed is not to be forgotten, loaded or not.
  kept_ = !result && store->must_keep() ? store : nullptr;
  SESSIOND_ASSIGN(LoadedSession loaded, std::move(result));
  if (loaded.report) log::warn("session " + place_.id + ": " + loaded.report->message);
  unplaced_.clear();
  for (HistoryLine& line : newest_lines(*store, std::move(loaded.recent))) {
    for (json::value& operation : line.artifacts) unplaced_.push_back(std::move(operation));
    if (line.idempotency_key && line.reply) remember(*line.idempotency_key, std::move(*line.reply));
  }
  {
    const std::lock_guard lock(mutex_);
    store_ = store;
  }
  if (Status placed = place_artifacts(); !placed)
    loaded.state.warnings.push_back("an artifact is not in its place: " + placed.error().message);
  else if (loaded.state.read_only.empty() && store->read_only().empty())
    sweep_staged(*store);
  publish(std::move(loaded.state));
  return {};
}

bool Session::commit(const std::vector<Command*>& commands) {
  const auto fail_all = [&](const Error& error) {
    for (Command* command : commands) taken(command->done)(known_reply(*command, error));
    return true;
  };
  const auto started = std::chrono::steady_clock::now();
  if (Status ready = ensure_loaded(); !ready) return fail_all(ready.error());
  const std::shared_ptr<SessionStore> store = store_;  // outlives its lock
  const Result<SessionStore::Locked> locked = store->lock();
  if (!locked) return fail_all(locked.error());
  if (Status placed = place_artifacts(); !placed) return fail_all(placed.error());
  if (!ready_as_is(*snapshot())) {
    SessionState state = *snapshot();
    if (Status ready = make_ready(state); !ready) return fail_all(ready.error());
  }
  const auto stage = [this](std::vector<FileOp>& files, const std::vector<FileOp>& pending) {
    return stage_artifacts(*store_, files, pending);
  };
  Batch batch(place_, snapshot(), store_->synced_length(), services_.clock.now(), replies_, stage);
  Artifacts there;
  if (commands.front()->alone) {
    there = view_artifacts(services_.env, store_->dir(), place_.directory);
    batch.use_artifacts(there);
  }
  for (Command* command : commands) batch.add(*command);
  if (Status finished = batch.finish(); !finished)
    return commands.size() == 1 ? fail_all(finished.error()) : false;
  write(batch, started);
  return true;
}

void Session::write(Batch& batch, std::chrono::steady_clock::time_point started) {
  Status written;
  writing_ = true;
  if (!batch.lines().empty()) written = store_->append(batch.lines(), batch.changed());
  if (written && !batch.lines().empty()) {
    batch.state().history_length = store_->length();
    if (batch.changed()) place_files(batch);
    publish(std::move(batch.state()));
  }
  if (written && batch.changed())
    services_.commits.count_batch(batch.answers().size(), batch.lines().size(),
                                  std::chrono::steady_clock::now() - started);
  for (Batch::Answer& answer : batch.answers()) {
    if (answer.changes && !written) answer.reply = written.error();
    const auto& key = answer.command->options.idempotency_key;
    if (key && answer.reply) remember(*key, *answer.reply);
    taken(answer.command->done)(std::move(answer.reply));
  }
  writing_ = false;
  if (written && batch.changed()) sync_later();
  // A repaired history may be shorter than what was published: lines that were not synced are gone.
  if (!written && written.error().code == ErrorCode::outcome_unknown && store_->read_only().empty()) unload();
}

bool Session::ready_as_is(const Snapshot& now) {
  if (place_.archived || !now.read_only.empty() || !store_->read_only().empty()) return false;
  if (!store_->has_history() || now.seq == 0 || !store_->history_unchanged()) return false;
  return std::all_of(place_.kind->files.begin(), place_.kind->files.end(),
                     [&](const StateFile& file) { return store_->state_unchanged(std::string(file.name)); });
}

Status Session::make_ready(SessionState& state) {
  if (place_.archived)
    return Error(ErrorCode::refused,
                 "session " + quoted(place_.id) + " is archived and takes no further changes")
        .with("status", "archived")
        .next("session.restore brings it back");
  SESSIOND_TRY(check_writable(state));
  if (store_->has_history() && !store_->history_unchanged()) {
    // Another program appended to the history, or replaced it.
    SESSIOND_ASSIGN(LoadedSession loaded,
                    load_session(*store_, *place_.kind, services_.clock.now(), place_.directory));
    state = std::move(loaded.state);
    publish(state);
    if (!state.read_only.empty()) return Error(ErrorCode::read_only, state.read_only);
  }
  if (!store_->has_history() || state.seq == 0) return adopt(state);
  const std::int64_t seq = state.seq;
  Status accepted = accept_edits(*store_, *place_.kind, state, services_.clock.now());
  if (state.seq != seq) publish(state);  // also when a later step failed: the line is there
  return accepted;
}

// What the disk refused before may work by now.
Status Session::check_writable(const SessionState& state) {
  if (state.read_only.empty() && store_->can_retry()) (void)store_->retry().ok();
  const std::string& why = state.read_only.empty() ? store_->read_only() : state.read_only;
  if (why.empty()) return {};
  return Error(ErrorCode::read_only, "session " + quoted(place_.id) + " is read-only: " + why)
      .next(store_->can_retry() ? "try again when the disk works"
                                : "session.recover makes it writable again");
}

Status Session::adopt(SessionState& state) {
  if (!store_->has_history()) SESSIOND_TRY(store_->start_history());
  SESSIOND_TRY(append_adoption(*store_, *place_.kind, state, services_.clock.now()));
  publish(state);
  return {};
}

void Session::place_files(const Batch& batch) {
  unplaced_ = describe_artifacts(batch.files());
  Status placed = place_artifacts();
  for (const StateBytes& file : batch.state_files())
    if (Status written = store_->write_state(file); !written) placed = std::move(written);
  if (!placed) log::error("session " + place_.id + ": the files are behind: " + placed.error().message);
}

void Session::sync_later() {
  last_written_ = QuietSync::Clock::now().time_since_epoch().count();
  if (sync_due_) return;
  services_.quiet.add(weak_from_this());
  sync_due_ = true;
}

// Nobody waits for it, and what is not synced can be rebuilt.
void Session::run_sync() {
  sync_due_ = false;
  if (store_ == nullptr) return;
  if (Status synced = store_->sync_state(state_names(*place_.kind)); !synced)
    log::warn("session " + place_.id + ": the state files are not synced: " + synced.error().message);
}

Status Session::place_artifacts() {
  if (unplaced_.empty()) return {};
  SESSIOND_TRY(redo_artifacts(*store_, unplaced_));
  unplaced_.clear();
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

// A repeated command changes nothing, so nothing that forbids changes forbids its answer.
Result<std::string> Session::known_reply(const Command& command, const Error& otherwise) const {
  if (!command.options.idempotency_key) return otherwise;
  const auto known = replies_.find(*command.options.idempotency_key);
  if (known == replies_.end()) return otherwise;
  return known->second;
}

void Session::remember(const std::string& key, std::string reply) {
  if (!replies_.emplace(key, std::move(reply)).second) return;
  reply_order_.push_back(key);
  if (reply_order_.size() <= replies_kept) return;
  replies_.erase(reply_order_.front());
  reply_order_.pop_front();
}

}  // namespace sessiond
