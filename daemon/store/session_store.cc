#include "daemon/store/session_store.h"

#include <xxhash.h>

#include <charconv>
#include <cstdio>
#include <random>

#include "common/text.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

// About two seconds in all: enough for a program that edits one file under the lock.
constexpr int lock_tries = 12;
constexpr std::chrono::milliseconds lock_wait_first{1};
constexpr std::chrono::milliseconds lock_wait_max{400};

std::chrono::milliseconds with_jitter(std::chrono::milliseconds wait) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return wait / 2 +
         std::chrono::milliseconds(std::uniform_int_distribution<long>(0, wait.count() / 2 + 1)(random));
}

Status write_new_file(Env& env, Handle dir, const std::string& name, std::string_view bytes) {
  SESSIOND_ASSIGN(const Open file, own(env, env.create(dir, name)));
  SESSIOND_TRY(write_all(env, file.get(), 0, bytes));
  return env.sync(file.get());
}

Status fill_directory(Env& env, Handle dir, std::string_view history, const std::vector<StateBytes>& state) {
  SESSIOND_TRY(write_new_file(env, dir, std::string(layout::history), history));
  for (const StateBytes& file : state) SESSIOND_TRY(write_new_file(env, dir, file.name, file.bytes));
  SESSIOND_TRY(write_new_file(env, dir, std::string(layout::lock), ""));
  return env.sync_dir(dir);
}

bool missing(const Status& status) { return !status.ok() && status.error().code == ErrorCode::not_found; }

bool no_exchange(const Status& status) {
  constexpr int invalid_argument = 22;
  if (status.ok()) return false;
  const json::value* reason = status.error().data.if_contains("errno");
  return reason != nullptr && reason->is_int64() && reason->get_int64() == invalid_argument;
}

}  // namespace

std::string state_hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

Status SessionStore::create(Env& env, Handle root, const std::string& id, std::string_view history,
                            const std::vector<StateBytes>& state) {
  if (env.stat(root, id).ok())
    return Error(ErrorCode::already_exists, "a session " + quoted(id) + " exists already")
        .with("session_id", id);
  const std::string building = std::string(layout::new_prefix) + id;
  SESSIOND_TRY(remove_tree(env, root, building));
  SESSIOND_TRY(env.mkdir(root, building));
  Status status;
  {
    SESSIOND_ASSIGN(const Open dir, own(env, env.open_dir(root, building)));
    status = fill_directory(env, dir.get(), history, state);
  }
  if (status) status = env.rename_new(root, building, root, id);
  if (!status) {
    (void)remove_tree(env, root, building).ok();  // swept at the next start if this fails too
    if (status.error().code != ErrorCode::already_exists) return status;
    return Error(ErrorCode::already_exists, "a session " + quoted(id) + " exists already")
        .with("session_id", id);
  }
  if (Status synced = env.sync_dir(root); !synced)
    return Error(ErrorCode::outcome_unknown,
                 "the session may or may not survive a crash: " + synced.error().message)
        .with("session_id", id)
        .next("look with session.get, then delete it or go on");
  return {};
}

Result<std::unique_ptr<SessionStore>> SessionStore::open(Env& env, Handle root, const std::string& id) {
  SESSIOND_ASSIGN(Open dir, own(env, env.open_dir(root, id)));
  auto store = std::unique_ptr<SessionStore>(new SessionStore(env, std::move(dir), id));
  SESSIOND_ASSIGN(store->lock_file_,
                  own(env, env.open_or_create(store->dir_.get(), std::string(layout::lock))));
  return store;
}

SessionStore::Locked::~Locked() {
  if (store_ != nullptr) (void)store_->env_.unlock(store_->lock_file_.get()).ok();
}

Result<SessionStore::Locked> SessionStore::lock() {
  std::chrono::milliseconds wait = lock_wait_first;
  for (int tried = 0; tried < lock_tries; ++tried) {
    SESSIOND_ASSIGN(const bool taken, env_.try_lock(lock_file_.get(), Env::LockMode::exclusive));
    if (taken) return Locked(*this);
    if (tried + 1 < lock_tries) env_.wait(with_jitter(wait));
    wait = std::min(wait * 2, lock_wait_max);
  }
  const std::string holder = env_.lock_holder(lock_file_.get());
  return Error(ErrorCode::locked, "another program holds the lock of session " + quoted(id_) +
                                      (holder.empty() ? "" : ": " + holder))
      .with("session_id", id_)
      .with("holder", holder)
      .next("try again when it has finished");
}

Status SessionStore::open_history() {
  Result<Open> file = own(env_, env_.open_write(dir_.get(), std::string(layout::history)));
  if (file) {
    history_ = std::make_shared<const HistoryFile>(env_, std::move(*file));
    return {};
  }
  history_.reset();
  return file.error().code == ErrorCode::not_found ? Status() : Status(std::move(file).error());
}

Result<HistoryTail> SessionStore::load() {
  SESSIOND_TRY(open_history());
  if (const auto marker = read_all(env_, dir_.get(), std::string(layout::sync_failed), 64);
      marker && has_history()) {
    std::int64_t durable = 0;
    const std::string_view digits = trim(*marker);
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), durable);
    // A marker that was itself cut says nothing; the checksums of the lines then decide.
    if (status == std::errc() && end == digits.data() + digits.size()) SESSIOND_TRY(replace_history(durable));
  }
  if (!has_history()) return HistoryTail();
  SESSIOND_ASSIGN(HistoryTail tail, history_->read_tail());
  length_ = synced_length_ = tail.good_length;
  needs_newline_ = tail.needs_newline;
  if (!tail.damage.empty()) {
    read_only_ = tail.damage;
    return tail;
  }
  if (!tail.torn.empty()) {
    SESSIOND_TRY(save_aside(tail.torn, "history-tail", nullptr));
    SESSIOND_TRY(env_.truncate(history_->handle(), length_));
  }
  // What was read may only be in the page cache: whoever saw it must see it again after a power cut.
  SESSIOND_TRY(env_.sync(history_->handle()));
  return tail;
}

Status SessionStore::start_history() {
  SESSIOND_ASSIGN(Open file, own(env_, env_.create(dir_.get(), std::string(layout::history))));
  SESSIOND_TRY(env_.sync_dir(dir_.get()));
  history_ = std::make_shared<const HistoryFile>(env_, std::move(file));
  length_ = synced_length_ = 0;
  return {};
}

Status SessionStore::append(std::string_view lines, bool sync) {
  if (!read_only_.empty()) return Error(ErrorCode::read_only, "the session is read-only: " + read_only_);
  if (must_cut_) {
    SESSIOND_TRY(env_.truncate(history_->handle(), length_));
    must_cut_ = false;
  }
  std::string bytes;
  if (needs_newline_) {
    (bytes += '\n') += lines;
    lines = bytes;
  }
  if (Status written = write_all(env_, history_->handle(), length_, lines); !written) {
    must_cut_ = !env_.truncate(history_->handle(), length_).ok();
    return written;
  }
  if (sync) {
    if (Status synced = env_.sync(history_->handle()); !synced) {
      const std::string reason = synced.error().message;
      if (Status repaired = repair(synced_length_); !repaired)
        read_only_ = "a sync failed (" + reason + ") and the repair too (" + repaired.error().message + ")";
      return Error(ErrorCode::outcome_unknown, "the disk did not confirm the change: " + reason)
          .with("session_id", id_)
          .next("read the session again before you decide whether to repeat the change");
    }
    synced_length_ = length_ + static_cast<std::int64_t>(lines.size());
  }
  length_ += static_cast<std::int64_t>(lines.size());
  needs_newline_ = false;
  return {};
}

// After a failed sync the page cache shows what the disk may have lost, also to the next process: the inode
// cannot be trusted again. The marker survives a crash in between.
Status SessionStore::repair(std::int64_t durable_length) {
  const std::string marker(layout::sync_failed);
  Status removed = env_.unlink(dir_.get(), marker);
  if (!removed && !missing(removed)) return removed;
  SESSIOND_TRY(write_new_file(env_, dir_.get(), marker, std::to_string(durable_length) + "\n"));
  SESSIOND_TRY(env_.sync_dir(dir_.get()));
  return replace_history(durable_length);
}

Status SessionStore::replace_history(std::int64_t durable_length) {
  const std::string fresh(layout::history_repair);
  Status removed = env_.unlink(dir_.get(), fresh);
  if (!removed && !missing(removed)) return removed;
  {
    SESSIOND_ASSIGN(const Open copy, own(env_, env_.create(dir_.get(), fresh)));
    constexpr std::size_t chunk = 1024 * 1024;
    for (std::int64_t at = 0; at < durable_length;) {
      const auto size = std::min<std::int64_t>(static_cast<std::int64_t>(chunk), durable_length - at);
      SESSIOND_ASSIGN(const std::string part,
                      env_.read(history_->handle(), at, static_cast<std::size_t>(size)));
      if (part.empty()) break;
      SESSIOND_TRY(write_all(env_, copy.get(), at, part));
      at += static_cast<std::int64_t>(part.size());
    }
    SESSIOND_TRY(env_.sync(copy.get()));
  }
  SESSIOND_TRY(env_.rename_over(dir_.get(), fresh, std::string(layout::history)));
  SESSIOND_TRY(env_.sync_dir(dir_.get()));
  SESSIOND_TRY(open_history());
  // The marker must be gone for good before the next line: it would cut that line off after a crash.
  SESSIOND_TRY(env_.unlink(dir_.get(), std::string(layout::sync_failed)));
  SESSIOND_TRY(env_.sync_dir(dir_.get()));
  length_ = synced_length_ = durable_length;
  must_cut_ = false;
  return {};
}

// What somebody put in a state file's place comes here by the exchanges: a link, a directory, a file with
// another name elsewhere. It is moved to quarantine as it is, never written to.
Result<Open> SessionStore::open_temporary(const std::string& name) {
  Result<Open> file = own(env_, env_.open_or_create(dir_.get(), name));
  if (file) return file;
  const Result<FileInfo> info = env_.stat(dir_.get(), name);
  const bool foreign = info && (info->type != FileInfo::Type::file || file.error().data.contains("names"));
  if (!foreign) return file;
  const std::string folder(layout::quarantine);
  Status made = env_.mkdir(dir_.get(), folder);
  if (!made && made.error().code != ErrorCode::already_exists) return made.error();
  SESSIOND_ASSIGN(const Open dir, own(env_, env_.open_dir(dir_.get(), folder)));
  for (int number = 1;; ++number) {
    Status moved = env_.rename_new(dir_.get(), name, dir.get(), name + "." + std::to_string(number));
    if (!moved && moved.error().code == ErrorCode::already_exists) continue;
    SESSIOND_TRY(std::move(moved));
    return own(env_, env_.create(dir_.get(), name));
  }
}

Status SessionStore::write_state(const StateBytes& state) {
  const std::string temporary = layout::temporary_of(state.name);
  {
    SESSIOND_ASSIGN(const Open file, open_temporary(temporary));
    SESSIOND_TRY(write_all(env_, file.get(), 0, state.bytes));
    SESSIOND_TRY(env_.truncate(file.get(), static_cast<std::int64_t>(state.bytes.size())));
  }
  Status placed = env_.exchange(dir_.get(), temporary, state.name);
  if (no_exchange(placed)) {
    SESSIOND_TRY(write_backup_then_rename(state, temporary));
  } else if (missing(placed)) {
    SESSIOND_TRY(env_.rename_new(dir_.get(), temporary, dir_.get(), state.name));
  } else {
    SESSIOND_TRY(std::move(placed));
    const std::string backup = layout::backup_of(state.name);
    Status kept = env_.exchange(dir_.get(), temporary, backup);
    if (missing(kept)) kept = env_.rename_new(dir_.get(), temporary, dir_.get(), backup);
    SESSIOND_TRY(std::move(kept));
  }
  accept_state(state.name);
  return {};
}

// For file systems that cannot exchange two names. The old bytes are copied, so the file is there at every
// moment.
Status SessionStore::write_backup_then_rename(const StateBytes& state, const std::string& temporary) {
  SESSIOND_ASSIGN(const std::string before, read_all(env_, dir_.get(), state.name, state_bytes_max));
  const std::string backup = layout::backup_of(state.name);
  {
    SESSIOND_ASSIGN(const Open file, own(env_, env_.open_or_create(dir_.get(), backup)));
    SESSIOND_TRY(write_all(env_, file.get(), 0, before));
    SESSIOND_TRY(env_.truncate(file.get(), static_cast<std::int64_t>(before.size())));
  }
  return env_.rename_over(dir_.get(), temporary, state.name);
}

Result<std::string> SessionStore::read_state(const std::string& name) {
  return read_all(env_, dir_.get(), name, state_bytes_max);
}

bool SessionStore::state_unchanged(const std::string& name) {
  const auto seen = seen_.find(name);
  if (seen == seen_.end()) return false;
  const Result<FileInfo> now = env_.stat(dir_.get(), name);
  return now && same_content(*now, seen->second);
}

void SessionStore::accept_state(const std::string& name) {
  if (Result<FileInfo> now = env_.stat(dir_.get(), name))
    seen_[name] = *now;
  else
    seen_.erase(name);
}

Status SessionStore::sync_state(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    SESSIOND_ASSIGN(const Open file, own(env_, env_.open_read(dir_.get(), name)));
    SESSIOND_TRY(env_.sync(file.get()));
  }
  return env_.sync_dir(dir_.get());
}

Result<std::string> SessionStore::quarantine(const std::string& name) {
  SESSIOND_ASSIGN(const std::string bytes, read_all(env_, dir_.get(), name, state_bytes_max));
  std::string saved_as;
  SESSIOND_TRY(save_aside(bytes, name, &saved_as));
  return saved_as;
}

// The name carries the content's hash: a crash and a second try give the same file, not another one.
Status SessionStore::save_aside(const std::string& bytes, const std::string& stem, std::string* saved_as) {
  const std::string folder(layout::quarantine);
  Status made = env_.mkdir(dir_.get(), folder);
  if (!made && made.error().code != ErrorCode::already_exists) return made;
  SESSIOND_ASSIGN(const Open dir, own(env_, env_.open_dir(dir_.get(), folder)));
  const std::string name = stem + "." + state_hash(bytes).substr(0, 16);
  if (saved_as != nullptr) *saved_as = folder + "/" + name;
  {
    SESSIOND_ASSIGN(const Open file, own(env_, env_.open_or_create(dir.get(), name)));
    SESSIOND_TRY(write_all(env_, file.get(), 0, bytes));
    SESSIOND_TRY(env_.sync(file.get()));
  }
  SESSIOND_TRY(env_.sync_dir(dir.get()));
  return env_.sync_dir(dir_.get());
}

}  // namespace sessiond
