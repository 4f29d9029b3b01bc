#include "daemon/store/session_store.h"

#include <xxhash.h>

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

std::string hash_text(const XXH128_hash_t& hash) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

constexpr std::int64_t copy_chunk = 1024L * 1024;

Status copy_bytes(Env& env, Handle from, Handle to, std::int64_t length) {
  for (std::int64_t at = 0; at < length;) {
    const auto size = static_cast<std::size_t>(std::min(copy_chunk, length - at));
    SESSIOND_ASSIGN(const std::string part, env.read(from, at, size));
    if (part.empty()) return Error(ErrorCode::damaged, "history.jsonl: it became shorter while it was read");
    SESSIOND_TRY(write_all(env, to, at, part));
    at += static_cast<std::int64_t>(part.size());
  }
  return {};
}

bool missing(const Status& status) { return !status.ok() && status.error().code == ErrorCode::not_found; }

// The Env refused to open a file to write because it has several names.
bool has_other_names(const Error& error) { return error.data.contains("names"); }

bool no_exchange(const Status& status) {
  constexpr int invalid_argument = 22;
  if (status.ok()) return false;
  const json::value* reason = status.error().data.if_contains("errno");
  return reason != nullptr && reason->is_int64() && reason->get_int64() == invalid_argument;
}

}  // namespace

std::string state_hash(std::string_view bytes) { return hash_text(XXH3_128bits(bytes.data(), bytes.size())); }

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
  auto store = std::unique_ptr<SessionStore>(new SessionStore(env, root, std::move(dir), id));
  SESSIOND_TRY(store->open_lock());
  return store;
}

Status SessionStore::open_lock() {
  const std::string name(layout::lock);
  Result<Open> file = own(env_, env_.open_or_create(dir_.get(), name));
  // Nothing is ever written to it: other names do no harm.
  if (!file && has_other_names(file.error())) file = own(env_, env_.open_read(dir_.get(), name));
  SESSIOND_ASSIGN(lock_file_, std::move(file));
  SESSIOND_ASSIGN(lock_info_, env_.info(lock_file_.get()));
  return {};
}

// A lock on a file that somebody has replaced or removed keeps nobody out.
Result<bool> SessionStore::lock_is_in_place() {
  const Result<FileInfo> named = env_.stat(dir_.get(), std::string(layout::lock));
  if (named) return named->inode == lock_info_.inode && named->device == lock_info_.device;
  if (named.error().code == ErrorCode::not_found) return false;
  return named.error();
}

SessionStore::Locked::~Locked() {
  if (store_ != nullptr) (void)store_->env_.unlock(store_->lock_file_.get()).ok();
}

Result<SessionStore::Locked> SessionStore::lock() {
  std::chrono::milliseconds wait = lock_wait_first;
  for (int tried = 0; tried < lock_tries; ++tried) {
    SESSIOND_ASSIGN(const bool taken, env_.try_lock(lock_file_.get(), Env::LockMode::exclusive));
    if (taken) {
      Locked locked(*this);
      SESSIOND_ASSIGN(const bool in_place, lock_is_in_place());
      if (in_place) return locked;
      SESSIOND_TRY(open_lock());
      continue;
    }
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
  const std::string name(layout::history);
  Result<Open> file = own(env_, env_.open_write(dir_.get(), name));
  if (!file && has_other_names(file.error())) {
    // A backup made of links shares it: read it, and write to a copy. But only what is a history of ours.
    Error refused = file.error();
    file = own(env_, env_.open_read(dir_.get(), name));
    if (!file) return refused;
    auto shared = std::make_shared<const HistoryFile>(env_, std::move(*file));
    const Result<HistoryTail> tail = shared->read_tail();
    if (!tail || !tail->last) return refused;
    use_history(std::move(shared));
    return {};
  }
  if (!file && file.error().code != ErrorCode::not_found) return std::move(file).error();
  use_history(file ? std::make_shared<const HistoryFile>(env_, std::move(*file)) : nullptr);
  return {};
}

void SessionStore::use_history(std::shared_ptr<const HistoryFile> history) {
  history_ = std::move(history);
  history_info_.reset();
}

Result<HistoryTail> SessionStore::load() {
  SESSIOND_TRY(open_history());
  HistoryTail tail;
  if (has_history()) {
    SESSIOND_ASSIGN(tail, history_->read_tail());
  }
  length_ = synced_length_ = tail.good_length;
  needs_newline_ = tail.needs_newline;
  must_cut_ = unsettled_ = false;
  read_only_ = tail.damage;
  if (!tail.damage.empty()) return tail;
  if (has_history()) {
    SESSIOND_TRY(check_marker());
    if (Status settled = settle_history(tail.torn); !settled) SESSIOND_TRY(leave_unsettled(settled.error()));
  }
  // The same for names: a process that died between a rename and its sync leaves them in the cache only.
  SESSIOND_TRY(env_.sync_dir(dir_.get()));
  SESSIOND_TRY(env_.sync_dir(root_));
  return tail;
}

Status SessionStore::check_marker() {
  const Result<FileInfo> marker = env_.stat(dir_.get(), std::string(layout::sync_failed));
  if (!marker && marker.error().code != ErrorCode::not_found) return marker.error();
  if (marker) untrusted_ = marked_ = true;
  return {};
}

// What was read may only be in the page cache: whoever saw it must see it again after a power cut. A crash
// before the end leaves the torn tail in the file or in quarantine, and the next load begins again.
Status SessionStore::settle_history(const std::string& torn) {
  if (!torn.empty()) SESSIOND_TRY(save_aside(torn, "history-tail", nullptr));
  if (untrusted_) return replace_history();
  if (history_is_shared()) return copy_history();
  if (!torn.empty()) return cut();
  if (Status synced = env_.sync(history_->handle()); !synced) return repair(synced.error().message);
  return {};
}

// The end cannot be put in order, most likely for want of room. What stands before it can still be shown, if
// it is durable.
Status SessionStore::leave_unsettled(const Error& why) {
  if (untrusted_) return why;
  if (Status synced = env_.sync(history_->handle()); !synced) return repair(synced.error().message);
  unsettled_ = true;
  read_only_ = "the end of the history cannot be put in order (" + why.message +
               "); it is tried again with the next change";
  return {};
}

Status SessionStore::retry() {
  if (untrusted_) return repair("earlier");
  if (!unsettled_) return {};
  SESSIOND_ASSIGN(const HistoryTail tail, load());
  return read_only_.empty() ? Status() : Status(Error(ErrorCode::read_only, read_only_));
}

bool SessionStore::history_is_shared() {
  const Result<FileInfo> info = env_.info(history_->handle());
  return info && info->names > 1;
}

Status SessionStore::start_history() {
  const std::string name(layout::history);
  SESSIOND_ASSIGN(Open file, own(env_, env_.create(dir_.get(), name)));
  if (Status synced = env_.sync_dir(dir_.get()); !synced) {
    (void)env_.unlink(dir_.get(), name).ok();  // left behind, it is an empty history to the next load
    return synced;
  }
  use_history(std::make_shared<const HistoryFile>(env_, std::move(file)));
  length_ = synced_length_ = 0;
  return {};
}

// Writing at length_ would overwrite what another program appended, or go to a file that has lost its name.
bool SessionStore::history_unchanged() {
  if (!history_info_) {
    if (Result<FileInfo> mine = env_.info(history_->handle())) history_info_ = *mine;
  }
  const Result<FileInfo> named = env_.stat(dir_.get(), std::string(layout::history));
  return history_info_ && named && history_info_->inode == named->inode &&
         history_info_->device == named->device && named->size == length_;
}

Error SessionStore::unknown(const std::string& reason) const {
  return Error(ErrorCode::outcome_unknown, "the disk did not confirm the change: " + reason)
      .with("session_id", id_)
      .next("read the session again before you decide whether to repeat the change");
}

Status SessionStore::append(std::string_view lines, bool sync) {
  if (can_retry()) (void)retry().ok();  // the disk may have recovered; if not, read_only_ says so
  if (!read_only_.empty()) return Error(ErrorCode::read_only, "the session is read-only: " + read_only_);
  if (must_cut_) SESSIOND_TRY(cut());
  if (!history_unchanged())
    return Error(ErrorCode::storage_error, "another program has changed history.jsonl, or it cannot be read")
        .with("session_id", id_)
        .next("try again after the session was loaded again");
  if (history_is_shared()) SESSIOND_TRY(copy_history());
  std::string bytes;
  if (needs_newline_) {
    (bytes += '\n') += lines;
    lines = bytes;
  }
  if (Status written = write_all(env_, history_->handle(), length_, lines); !written) {
    if (Status taken_back = cut(); !taken_back) return unknown(written.error().message);
    return written;
  }
  if (sync) {
    if (Status synced = env_.sync(history_->handle()); !synced) {
      (void)repair(synced.error().message).ok();
      return unknown(synced.error().message);
    }
    synced_length_ = length_ + static_cast<std::int64_t>(lines.size());
  }
  length_ += static_cast<std::int64_t>(lines.size());
  needs_newline_ = false;
  return {};
}

// Takes back what stands behind length_. Without the sync a power cut could bring back lines that were
// refused, or mix them block by block with those that are written in their place.
Status SessionStore::cut() {
  must_cut_ = true;
  SESSIOND_TRY(env_.truncate(history_->handle(), length_));
  if (Status synced = env_.sync(history_->handle()); !synced) return repair(synced.error().message);
  must_cut_ = false;
  synced_length_ = length_;
  return {};
}

// After a failed sync the page cache shows what the disk may have lost, also to the next process: the inode
// cannot be trusted again. The marker tells that process. It needs no sync, because a power cut takes the
// cache away with it, and it is not a condition: a repair without it is better than none.
Status SessionStore::repair(const std::string& reason) {
  untrusted_ = true;
  const Result<Open> marker = own(env_, env_.create(dir_.get(), std::string(layout::sync_failed)));
  marked_ = marker.ok() || marker.error().code == ErrorCode::already_exists;
  Status replaced = replace_history();
  read_only_ = replaced ? ""
                        : "a sync failed (" + reason + ") and the repair too (" + replaced.error().message +
                              "); it is tried again with the next change";
  return replaced;
}

// A crash on the way leaves the old file and the marker, and the next load begins again.
Status SessionStore::replace_history() {
  untrusted_ = true;
  return copy_history();
}

// Goes on with a new file that has the good lines.
Status SessionStore::copy_history() {
  const std::string fresh(layout::history_repair);
  Status removed = env_.unlink(dir_.get(), fresh);
  if (!removed && !missing(removed)) return removed;
  SESSIOND_ASSIGN(Open copy, own(env_, env_.create(dir_.get(), fresh)));
  SESSIOND_TRY(copy_bytes(env_, history_->handle(), copy.get(), length_));
  SESSIOND_TRY(env_.sync(copy.get()));
  SESSIOND_TRY(env_.rename_over(dir_.get(), fresh, std::string(layout::history)));
  SESSIOND_TRY(env_.sync_dir(dir_.get()));
  use_history(std::make_shared<const HistoryFile>(env_, std::move(copy)));
  untrusted_ = marked_ = must_cut_ = unsettled_ = false;
  synced_length_ = length_;
  // A marker that stays or comes back costs the next load a copy, nothing else.
  (void)env_.unlink(dir_.get(), std::string(layout::sync_failed)).ok();
  return {};
}

Status SessionStore::restart_history(std::int64_t keep) {
  SESSIOND_TRY(quarantine_history());
  length_ = keep;
  needs_newline_ = false;
  SESSIOND_TRY(replace_history());
  read_only_.clear();
  return {};
}

// As state_hash, of the first `length` bytes.
Result<std::string> SessionStore::history_hash(std::int64_t length) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  for (std::int64_t at = 0; at < length;) {
    SESSIOND_ASSIGN(
        const std::string part,
        env_.read(history_->handle(), at, static_cast<std::size_t>(std::min(copy_chunk, length - at))));
    if (part.empty()) return Error(ErrorCode::damaged, "history.jsonl: it became shorter while it was read");
    XXH3_128bits_update(state.get(), part.data(), part.size());
    at += static_cast<std::int64_t>(part.size());
  }
  return hash_text(XXH3_128bits_digest(state.get()));
}

// Piece by piece, because a history may be large. A crash leaves a copy that is cut and an original that is
// whole. The name carries the content's hash, so that no copy of another content is ever replaced.
Status SessionStore::quarantine_history() {
  const std::string folder(layout::quarantine);
  Status made = env_.mkdir(dir_.get(), folder);
  if (!made && made.error().code != ErrorCode::already_exists) return made;
  SESSIOND_ASSIGN(const Open dir, own(env_, env_.open_dir(dir_.get(), folder)));
  SESSIOND_ASSIGN(const FileInfo info, env_.info(history_->handle()));
  SESSIOND_ASSIGN(const std::string hash, history_hash(info.size));
  const std::string name = std::string(layout::history) + "." + hash.substr(0, 16);
  Status removed = env_.unlink(dir.get(), name);
  if (!removed && !missing(removed)) return removed;
  SESSIOND_ASSIGN(const Open copy, own(env_, env_.create(dir.get(), name)));
  SESSIOND_TRY(copy_bytes(env_, history_->handle(), copy.get(), info.size));
  SESSIOND_TRY(env_.sync(copy.get()));
  SESSIOND_TRY(env_.sync_dir(dir.get()));
  return env_.sync_dir(dir_.get());
}

// To write to. A file that has other names too (a backup made of links) loses this one and keeps its content.
Result<Open> SessionStore::open_own(const std::string& name) {
  Result<Open> file = own(env_, env_.open_or_create(dir_.get(), name));
  if (file || !has_other_names(file.error())) return file;
  SESSIOND_TRY(env_.unlink(dir_.get(), name));
  return own(env_, env_.create(dir_.get(), name));
}

// What somebody put in a state file's place comes here by the exchanges: a link, a directory. It is moved to
// quarantine as it is, never written to.
Result<Open> SessionStore::open_temporary(const std::string& name) {
  Result<Open> file = open_own(name);
  if (file) return file;
  const Result<FileInfo> info = env_.stat(dir_.get(), name);
  if (!info || info->type == FileInfo::Type::file) return file;
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
    const auto size = static_cast<std::int64_t>(state.bytes.size());
    SESSIOND_ASSIGN(const Open file, open_temporary(temporary));
    SESSIOND_ASSIGN(const FileInfo spare, env_.info(file.get()));
    SESSIOND_TRY(write_all(env_, file.get(), 0, state.bytes));
    // Cutting a file to the size that it has costs ten times as much as looking.
    if (spare.size > size) SESSIOND_TRY(env_.truncate(file.get(), size));
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
  const Result<std::string> before = read_all(env_, dir_.get(), state.name, state_bytes_max);
  if (!before && before.error().code != ErrorCode::not_found) return before.error();
  if (before) {
    SESSIOND_ASSIGN(const Open file, open_own(layout::backup_of(state.name)));
    SESSIOND_TRY(write_all(env_, file.get(), 0, *before));
    SESSIOND_TRY(env_.truncate(file.get(), static_cast<std::int64_t>(before->size())));
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

// The name carries the content's hash: a crash and a second try give the same file, not another one. What an
// earlier try left is replaced, never trusted: its sync may have failed.
Status SessionStore::save_aside(const std::string& bytes, const std::string& stem, std::string* saved_as) {
  const std::string folder(layout::quarantine);
  Status made = env_.mkdir(dir_.get(), folder);
  if (!made && made.error().code != ErrorCode::already_exists) return made;
  SESSIOND_ASSIGN(const Open dir, own(env_, env_.open_dir(dir_.get(), folder)));
  const std::string name = stem + "." + state_hash(bytes).substr(0, 16);
  if (saved_as != nullptr) *saved_as = folder + "/" + name;
  Status removed = env_.unlink(dir.get(), name);
  if (!removed && !missing(removed)) return removed;
  SESSIOND_TRY(write_new_file(env_, dir.get(), name, bytes));
  SESSIOND_TRY(env_.sync_dir(dir.get()));
  return env_.sync_dir(dir_.get());
}

}  // namespace sessiond
