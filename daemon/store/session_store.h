// One session directory on disk: its lock, its history and its state files. It knows bytes and names, not
// kinds. Used on the session's strand only, except read access to old revisions.
//
// What is durable when: append() returns only after its lines are synced. write_state() makes the new bytes
// visible under the file's name and keeps the ones before as .bak; it syncs nothing, because the history can
// rebuild them.
#pragma once

#include <map>
#include <memory>
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
  // it.
  Result<HistoryTail> load();
  // Starts a history in a directory that has none.
  Status start_history();
  bool has_history() const { return history_ != nullptr; }
  // Old lines may be read through it on any thread, also after the store has moved on to another file.
  const std::shared_ptr<const HistoryFile>& history() const { return history_; }
  std::int64_t length() const { return length_; }
  std::int64_t synced_length() const { return synced_length_; }
  // Appends whole lines. With `sync`, they are durable when it returns; without, they are durable with the
  // next synced append. On an error nothing was appended: storage_full and storage_error leave the session
  // usable; outcome_unknown means that a sync failed, and that the file was replaced by a copy of what is
  // durable.
  Status append(std::string_view lines, bool sync);
  // Not empty: why nothing can be written any more.
  const std::string& read_only() const { return read_only_; }

  // State files.
  Status write_state(const StateBytes& state);
  Result<std::string> read_state(const std::string& name);
  // True while the file is the one that write_state or accept_state saw last.
  bool state_unchanged(const std::string& name);
  void accept_state(const std::string& name);
  // Makes the state files themselves survive a power cut.
  Status sync_state(const std::vector<std::string>& names);
  // Copies a damaged file into quarantine/, once per content, and returns its name there.
  Result<std::string> quarantine(const std::string& name);

  Env& env() { return env_; }
  Handle dir() const { return dir_.get(); }
  const std::string& id() const { return id_; }

 private:
  SessionStore(Env& env, Open dir, std::string id) : env_(env), dir_(std::move(dir)), id_(std::move(id)) {}
  Status open_history();
  Status repair(std::int64_t durable_length);
  Status replace_history(std::int64_t durable_length);
  Status save_aside(const std::string& bytes, const std::string& stem, std::string* saved_as);
  Result<Open> open_temporary(const std::string& name);
  Status write_backup_then_rename(const StateBytes& state, const std::string& temporary);

  Env& env_;
  Open dir_;
  std::string id_;
  Open lock_file_;
  std::shared_ptr<const HistoryFile> history_;
  std::int64_t length_ = 0;         // where the next line goes
  std::int64_t synced_length_ = 0;  // everything before is durable
  bool needs_newline_ = false;
  bool must_cut_ = false;  // bytes behind length_ are left over from a failed write
  std::string read_only_;
  std::map<std::string, FileInfo> seen_;  // state files as we left them
};

}  // namespace sessiond
