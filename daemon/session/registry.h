// The registry: every root and every session in it, by name, with what session.list shows. Documents are
// loaded when somebody uses them and leave memory again when they have been idle longest.
//
// Safe on any thread. Lookups and lists only take a mutex; create, archive, restore, remove, add_root and
// scan touch the disk and belong on a worker.
#pragma once

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/config.h"
#include "daemon/session/bundle.h"
#include "daemon/session/moves.h"
#include "daemon/session/root.h"
#include "daemon/session/scan.h"
#include "daemon/session/session.h"

namespace sessiond {

// Whose sessions a caller sees: all, or only those that one user created.
struct Viewer {
  std::optional<std::int64_t> only_uid;
  std::int64_t uid = -1;
};

struct ListFilter {
  std::optional<std::string> kind, status, root, project, text, sort, cursor;
  std::optional<TimePoint> updated_since;
  std::size_t limit = 50;
};

struct ListedSession {
  std::string id, root, kind;
  SessionBrief brief;
  bool archived = false;
};

struct ListPage {
  std::vector<ListedSession> sessions;
  std::optional<std::string> next_cursor;
  std::size_t total = 0;
};

struct RootInfo {
  std::string name, path, kind, origin;
  std::size_t sessions = 0, problems = 0;
};

// Refuses what is not a cursor of ours.
Status check_cursor(const std::string& cursor);

class Registry {
 public:
  Registry(Env& env, const Clock& clock, WorkerPool& pool)
      : services_{env, clock, pool, commits_, quiet_, {}} {
    services_.changed = [this](const SessionPlace& place, const Snapshot& snapshot) {
      on_changed(place, snapshot);
    };
  }

  // What runs on the pool by itself ends first; the pool outlives the registry.
  ~Registry() {
    quiet_.stop();
    services_.pool.wait_idle();
  }

  // Opens the built-in roots below `state_dir`, the configured and the added ones, and looks at what is in
  // them. A root that cannot be opened is logged and left out.
  Status start(const std::string& state_dir, const std::vector<RootConfig>& configured);

  // By id, or root/id. Errors: not_found, ambiguous with the choices.
  Result<std::shared_ptr<Session>> find(std::string_view reference, const Viewer& viewer);
  ListPage list(const ListFilter& filter, const Viewer& viewer) const;

  // Where a new session would be.
  Result<std::string> directory_for(const Kind& kind, const std::optional<std::string>& root,
                                    const std::string& id);
  // A new session; `line` carries the command for the history. Blocks until it is durable.
  Result<std::shared_ptr<Session>> create(const Kind& kind, const std::optional<std::string>& root,
                                          const std::string& id, const Document& document, HistoryLine line,
                                          const Viewer& viewer,
                                          const std::vector<StateBytes>& artifacts = {});
  // root/id of a session of this kind that `viewer` created with this idempotency key, if there is one.
  std::optional<std::string> created_with(const Kind& kind, const std::string& key,
                                          const Viewer& viewer) const;

  // A new session with the files of a bundle.
  Result<std::shared_ptr<Session>> create_from(const Kind& kind, const std::optional<std::string>& root,
                                               const std::string& id, const Bundle& bundle,
                                               const Viewer& viewer);

  // Called through Session::exclusively, so nothing else happens to the session meanwhile. An error: the
  // directory is where it was.
  struct Moved {
    std::string directory;
    Status durable;
  };
  Result<Moved> archive(const SessionPlace& place);
  Result<Moved> restore(const SessionPlace& place);
  Result<Moved> remove(const SessionPlace& place);
  // A move that a process began which was killed: what it renamed may be in the page cache only.
  Result<Moved> finish_move(const SessionPlace& place, bool to_archive);
  // Where an earlier session.delete with the same key has put the session, if it did; blocks.
  std::optional<Moved> find_deleted(std::string_view reference, const Move& move, const Viewer& viewer);

  std::vector<RootInfo> roots() const;
  Result<RootInfo> add_root(const std::string& path, const Kind& kind, std::optional<std::string> name);
  Status remove_root(const std::string& name);
  Result<RootInfo> scan(const std::string& name);

  // For a clean stop, when nothing is accepted any more: begins to sync all state files that wait for it. The
  // pool is idle when it is done.
  void sync_files() { quiet_.finish(); }

  const CommitStats& commits() const { return commits_; }
  // Known sessions, by kind and status.
  std::map<std::string, std::map<std::string, std::int64_t>> counts() const;

 private:
  struct Entry {
    std::string id;
    Root* root = nullptr;
    bool archived = false;
    SessionBrief brief;
    std::shared_ptr<Session> session;  // null while not in use
    std::list<Entry*>::iterator recent;
    bool in_recent = false;
  };
  using Key = std::pair<std::string, std::string>;  // root, id

  // Checks that name and path are new, and looks at what is there.
  Status insert_root(Root root);
  Status check_new_root(const Root& root) const;
  // What create and create_from share: one at a time for an id, and the entry once the directory is there.
  Result<std::shared_ptr<Session>> make_session(const Kind& kind, const std::optional<std::string>& root,
                                                const std::string& id,
                                                const std::function<Result<FoundSession>(const Root&)>& make);
  Result<std::shared_ptr<Root>> root_of(const SessionPlace& place, bool with_archive);
  Result<Moved> move_within(const SessionPlace& place, bool to_archive);
  Status sync_both(Handle to, Handle from);
  Result<std::shared_ptr<Root>> find_root(const std::optional<std::string>& name, const Kind& kind);
  Status scan_root(Root& root);
  Status open_archive(Root& root);
  void add_entry(Root& root, FoundSession found, bool archived);
  void erase_entry(const Key& key);
  std::shared_ptr<Session> session_of(Entry& entry);
  void touch(Entry& entry);
  bool visible(const Entry& entry, const Viewer& viewer) const;
  void on_changed(const SessionPlace& place, const Snapshot& snapshot);
  Status save_roots() const;
  RootInfo info_of(const Root& root) const;
  std::string directory_of(const Root& root, const std::string& id, bool archived) const;

  CommitStats commits_;
  QuietSync quiet_;
  SessionServices services_;
  std::mutex adding_;          // one root is added at a time
  mutable std::mutex saving_;  // one writer of roots.yaml at a time
  mutable std::mutex mutex_;   // guards the rest
  std::string state_dir_;
  std::map<std::string, std::shared_ptr<Root>> roots_;
  std::set<Key> creating_;
  std::condition_variable created_;  // one of `creating_` is done
  std::map<Key, std::unique_ptr<Entry>> entries_;
  std::unordered_multimap<std::string, Entry*> by_id_;
  std::list<Entry*> recent_;  // loaded ones, newest first
};

}  // namespace sessiond
