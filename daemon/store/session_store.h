// One session directory on disk: its lock, its history and its state files. It knows bytes and names, not
// kinds. Used on the session's strand only, except read access to old revisions.
//
// What is durable when: load() returns only after everything it read is, the session's name in its root
// included; append() with `sync` only after its lines are. write_state() makes the new bytes
// visible under the file's name and keeps the ones before as .bak; it syncs nothing, because the history can
// rebuild them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/env.h"
#include "daemon/store/history_file.h"

namespace sessiond {

struct StateBytes {
  std::string name;
  std::string bytes;
};

// The hash by which a state file's bytes are known in the history.
std::string state_hash(std::string_view bytes);

class SessionStore {
 public:
  // Largest state file that is read.
  static constexpr std::size_t state_bytes_max = 32UL * 1024 * 1024;

  // Makes the directory whole and durable under another name, then gives it its own: a crash leaves nothing
  // or everything. already_exists when the name is taken.
  static Status create(Env& env, Handle root, const std::string& id, std::string_view history,
                       const std::vector<StateBytes>& state);

  // `root` stays open as long as the store.
  static Result<std::unique_ptr<SessionStore>> open(Env& env, Handle root, const std::string& id);

  // Holds the directory's lock, waiting for a foreign holder with growing pauses; then the error locked with
  // who holds it.
  class Locked {
   public:
    explicit Locked(SessionStore& store) : store_(&store) {}
    Locked(Locked&& other) noexcept : store_(std::exchange(other.store_, nullptr)) {}
    Locked& operator=(Locked&&) = delete;
    ~Locked();

   private:
    SessionStore* store_;
  };
  Result<Locked> lock();

  // History. load() first; it finishes a repair that a crash interrupted, and cuts a torn tail after saving
  // it. May be called again at any time. When there is no room for that, what was read can be served all the
  // same: read_only() says why nothing can be written, and can_retry() is true.
  Result<HistoryTail> load();
  // Starts a history in a directory that has none.
  Status start_history();
  bool has_history() const { return history_ != nullptr; }
  // Old lines may be read through it on any thread, also after the store has moved on to another file.
  const std::shared_ptr<const HistoryFile>& history() const { return history_; }
  std::int64_t length() const { return length_; }
  std::int64_t synced_length() const { return synced_length_; }
  // Appends whole lines. With `sync`, they are durable when it returns; without, they are durable with the
  // next synced append. On an error nothing was appended and length() is as before: storage_full and
  // storage_error leave the session usable, and the lines will not come back after a crash; after
  // outcome_unknown they may, until the next append succeeds. A file whose sync failed is replaced by a copy
  // of the lines before; while that fails too, append gives read_only and tries again the next time. So is a
  // file that has got other names (hard links): the lines would show there, too.
  Status append(std::string_view lines, bool sync);
  // False when another program has appended to the history, cut it or replaced it: load again.
  bool history_unchanged();
  // Keeps a copy of the whole file in quarantine/ and goes on with its first `keep` bytes, whatever is wrong
  // with the rest.
  Status restart_history(std::int64_t keep);
  // Not empty: why nothing can be written now.
  const std::string& read_only() const { return read_only_; }
  // True when that may pass: a repair failed, or the end of the history could not be put in order. retry()
  // tries again, and read_only() is empty when it worked.
  bool can_retry() const { return untrusted_ || unsettled_; }
  Status retry();
  // True while nobody but this object knows that the history cannot be trusted: a sync failed, and not even
  // a marker could be left. Keep the object, also after a failed load(), and load() it again: another one
  // would believe the page cache.
  bool must_keep() const { return untrusted_ && !marked_; }

  // State files.
  Status write_state(const StateBytes& state);
  Result<std::string> read_state(const std::string& name);
  // True while the file is the one that write_state or accept_state saw last.
  bool state_unchanged(const std::string& name);
  void accept_state(const std::string& name);
  // Makes the state files themselves survive a power cut. After an error they may not: the history can
  // rebuild them.
  Status sync_state(const std::vector<std::string>& names);
  // Copies a damaged file into quarantine/, once per content, and returns its name there.
  Result<std::string> quarantine(const std::string& name);

  Env& env() { return env_; }
  Handle dir() const { return dir_.get(); }
  const std::string& id() const { return id_; }

 private:
  SessionStore(Env& env, Handle root, Open dir, std::string id)
      : env_(env), root_(root), dir_(std::move(dir)), id_(std::move(id)) {}
  Status open_lock();
  Result<bool> lock_is_in_place();
  Status open_history();
  Status check_marker();
  void use_history(std::shared_ptr<const HistoryFile> history);
  Status settle_history(const std::string& torn);
  Status leave_unsettled(const Error& why);
  Status cut();
  Status repair(const std::string& reason);
  Status replace_history();
  Status copy_history();
  bool history_is_shared();
  Result<std::string> history_hash(std::int64_t length);
  Error unknown(const std::string& reason) const;
  Status quarantine_history();
  Status save_aside(const std::string& bytes, const std::string& stem, std::string* saved_as);
  Result<Open> open_own(const std::string& name);
  Result<Open> open_temporary(const std::string& name);
  Status write_backup_then_rename(const StateBytes& state, const std::string& temporary);

  Env& env_;
  Handle root_;
  Open dir_;
  std::string id_;
  Open lock_file_;
  FileInfo lock_info_;  // which file it is
  std::shared_ptr<const HistoryFile> history_;
  std::optional<FileInfo> history_info_;  // which file it is; none: not asked yet
  std::int64_t length_ = 0;               // where the next line goes
  std::int64_t synced_length_ = 0;        // everything before is durable
  bool needs_newline_ = false;
  bool must_cut_ = false;   // bytes behind length_ are left over from a failed write
  bool untrusted_ = false;  // a sync of the history failed: replace it before anything is written or synced
  bool marked_ = false;     // and the marker says so
  bool unsettled_ = false;  // the load could not put the end of the history in order
  std::string read_only_;
  std::map<std::string, FileInfo> seen_;  // state files as we left them
};

}  // namespace sessiond
