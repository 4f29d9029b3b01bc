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

// The last lines of the history, oldest first: `recent` starts at the last whole document, which may be a
// line ago, but keys and the artifacts of the last write reach further back.
std::vector<HistoryLine> newest_lines(const SessionStore& store, std::vector<HistoryLine> recent) {
  constexpr std::size_t wanted = std::max(replies_kept, batch_commands_max);
  if (recent.empty() || recent.size() >= wanted || recent.front().seq == 1) return recent;
  const std::int64_t from =
      std::max<std::int64_t>(1, recent.back().seq - static_cast<std::int64_t>(wanted) + 1);
  // Foreign lines in between count too; more of them than of ours cost only old keys.
  const Result<std::vector<std::string>> texts =
      store.history()->lines_from(from, 2 * wanted, store.length());
  if (!texts) return recent;
  std::vector<HistoryLine> lines;
  for (const std::string& text : *texts) {
    ReadLine read = read_history_line(text);
    if (read.state != LineState::ours) continue;
    if (read.line.seq >= recent.front().seq) break;
    lines.push_back(std::move(read.line));
  }
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
    if (!commands.empty()) commit(commands);
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
    else
      run_exclusive(std::get<Exclusive>(job));
  }
  flush();
}

void Session::run_exclusive(Exclusive& job) {
  Result<SnapshotPtr> last = loaded();
  if (moved_) return taken(job.failed)(last.error());
  // Another program may be in the middle of an edit.
  const std::shared_ptr<SessionStore> store = store_;
  if (store != nullptr) {
    const Result<SessionStore::Locked> locked = store->lock();
    if (!locked) return taken(job.failed)(locked.error());
    unload();
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
      } else if (Exclusive& exclusive = std::get<Exclusive>(job); exclusive.failed) {
        taken(exclusive.failed)(error);
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
  SESSIOND_ASSIGN(std::unique_ptr<SessionStore> opened,
                  SessionStore::open(services_.env, place_.root_handle, place_.id));
  std::shared_ptr<SessionStore> store = std::move(opened);
  SESSIOND_ASSIGN(const SessionStore::Locked locked, store->lock());
  SESSIOND_ASSIGN(LoadedSession loaded,
                  load_session(*store, *place_.kind, services_.clock.now(), place_.directory));
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
  publish(std::move(loaded.state));
  return {};
}

void Session::commit(const std::vector<Command*>& commands) {
  const auto fail_all = [&](const Error& error) {
    for (Command* command : commands) taken(command->done)(error);
  };
  const auto started = std::chrono::steady_clock::now();
  if (Status ready = ensure_loaded(); !ready) return fail_all(ready.error());
  const std::shared_ptr<SessionStore> store = store_;  // outlives its lock
  const Result<SessionStore::Locked> locked = store->lock();
  if (!locked) return fail_all(locked.error());
  if (Status placed = place_artifacts(); !placed) return fail_all(placed.error());
  SessionState state = *snapshot();
  if (Status ready = make_ready(state); !ready) return fail_all(ready.error());

  const auto stage = [this](std::vector<FileOp>& files, const std::vector<FileOp>& pending) {
    return stage_artifacts(*store_, files, pending);
  };
  Batch batch(place_, std::move(state), store_->synced_length(), services_.clock.now(), replies_, stage);
  Artifacts there;
  if (commands.front()->alone) {
    there = view_artifacts(services_.env, store_->dir(), place_.directory);
    batch.use_artifacts(there);
  }
  for (Command* command : commands) batch.add(*command);
  json::array artifacts = describe_artifacts(batch.files());
  Status written;
  writing_ = true;
  if (!batch.lines().empty()) written = store_->append(batch.lines(), batch.changed());
  if (written && !batch.lines().empty()) {
    batch.state().history_length = store_->length();
    if (batch.changed()) place_files(batch.state(), std::move(artifacts));
    publish(std::move(batch.state()));
  }
  if (written && batch.changed())
    services_.commits.count_batch(commands.size(), batch.lines().size(),
                                  std::chrono::steady_clock::now() - started);
  for (Batch::Answer& answer : batch.answers()) {
    if (answer.changes && !written) answer.reply = written.error();
    const auto& key = answer.command->options.idempotency_key;
    if (key && answer.reply) remember(*key, *answer.reply);
    taken(answer.command->done)(std::move(answer.reply));
  }
  writing_ = false;
  // A repaired history may be shorter than what was published: lines that were not synced are gone.
  if (!written && written.error().code == ErrorCode::outcome_unknown && store_->read_only().empty()) unload();
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

Status Session::adopt(SessionState& state) {
  if (!store_->has_history()) SESSIOND_TRY(store_->start_history());
  SESSIOND_TRY(append_adoption(*store_, *place_.kind, state, services_.clock.now()));
  publish(state);
  return {};
}

void Session::place_files(const SessionState& state, json::array artifacts) {
  unplaced_ = std::move(artifacts);
  Status placed = place_artifacts();
  for (const StateBytes& file : render_state(*place_.kind, state.document))
    if (Status written = store_->write_state(file); !written) placed = std::move(written);
  if (!placed) log::error("session " + place_.id + ": the files are behind: " + placed.error().message);
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

void Session::remember(const std::string& key, std::string reply) {
  if (!replies_.emplace(key, std::move(reply)).second) return;
  reply_order_.push_back(key);
  if (reply_order_.size() <= replies_kept) return;
  replies_.erase(reply_order_.front());
  reply_order_.pop_front();
}

}  // namespace sessiond
