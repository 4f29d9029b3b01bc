#include "daemon/session/registry.h"

#include <algorithm>

#include "common/caught.h"
#include "common/log.h"
#include "common/text.h"
#include "daemon/kinds/kinds.h"
#include "daemon/session/added_roots.h"
#include "daemon/session/recovery.h"
#include "daemon/session/state_text.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

// Documents kept in memory; each holds three descriptors and perhaps tens of kilobytes.
constexpr std::size_t sessions_loaded_max = 512;

std::string_view origin_name(Root::Origin origin) {
  switch (origin) {
    case Root::Origin::built_in:
      return "built_in";
    case Root::Origin::configured:
      return "configured";
    case Root::Origin::added:
      return "added";
  }
  return "";
}

Status ensure_directory(Env& env, Handle parent, std::string_view name) {
  Status made = env.mkdir(parent, std::string(name));
  if (!made && made.error().code != ErrorCode::already_exists) return made;
  return {};
}

Error no_session(std::string_view reference) {
  return Error(ErrorCode::not_found, "there is no session " + quoted(reference))
      .with("session_id", reference)
      .next("session.list shows the sessions");
}

}  // namespace

Status Registry::start(const std::string& state_dir, const std::vector<RootConfig>& configured) {
  Env& env = services_.env;
  state_dir_ = state_dir;
  SESSIOND_ASSIGN(const Open state, own(env, env.open_root(state_dir)));
  SESSIOND_TRY(ensure_directory(env, state.get(), layout::roots));
  SESSIOND_ASSIGN(const Open built_in, own(env, env.open_dir(state.get(), std::string(layout::roots))));
  for (const Kind* kind : all_kinds()) {
    const std::string name(kind->name);
    SESSIOND_TRY(ensure_directory(env, built_in.get(), name));
    SESSIOND_ASSIGN(Root root, open_root(env, name, state_dir + "/" + std::string(layout::roots) + "/" + name,
                                         *kind, Root::Origin::built_in));
    SESSIOND_TRY(insert_root(std::move(root)));
  }
  // What is acknowledged below them is worth nothing without their own names.
  SESSIOND_TRY(env.sync_dir(built_in.get()));
  SESSIOND_TRY(env.sync_dir(state.get()));
  const auto add_all = [&](const std::vector<RootConfig>& list, Root::Origin origin) {
    for (const RootConfig& one : list) {
      const Kind* kind = find_kind(one.kind);
      Result<Root> root =
          kind == nullptr ? Result<Root>(Error(ErrorCode::invalid_params, "unknown kind " + quoted(one.kind)))
                          : open_root(env, one.name, one.path, *kind, origin);
      Status added = root ? insert_root(std::move(*root)) : Status(root.error());
      if (!added) log::error("root " + one.name + " is left out: " + added.error().message);
    }
  };
  add_all(configured, Root::Origin::configured);
  add_all(read_added_roots(env, state.get()), Root::Origin::added);
  return {};
}

Status Registry::insert_root(Root root) {
  // One at a time: what is swept must not be in use yet.
  const std::lock_guard adding(adding_);
  SESSIOND_TRY(check_new_root(root));
  sweep_leftovers(services_.env, root.dir.get());
  const auto added = std::make_shared<Root>(std::move(root));
  {
    const std::lock_guard lock(mutex_);
    roots_.emplace(added->name, added);
  }
  Status scanned = scan_root(*added);
  if (!scanned) log::error("root " + added->name + ": " + scanned.error().message);
  return {};
}

// The same directory under two names would have two strands.
Status Registry::check_new_root(const Root& root) const {
  SESSIOND_ASSIGN(const FileInfo info, services_.env.info(root.dir.get()));
  const std::lock_guard lock(mutex_);
  if (roots_.contains(root.name))
    return Error(ErrorCode::already_exists, "there is a root " + quoted(root.name) + " already")
        .with("root", root.name);
  for (const auto& [other, known] : roots_) {
    const Result<FileInfo> there = services_.env.info(known->dir.get());
    if (known->path == root.path || (there && there->device == info.device && there->inode == info.inode))
      return Error(ErrorCode::already_exists, root.path + " is the root " + quoted(other) + " already");
  }
  return {};
}

Status Registry::scan_root(Root& root) {
  Env& env = services_.env;
  const TimePoint now = services_.clock.now();
  SESSIOND_ASSIGN(std::vector<FoundSession> found, scan_directory(env, root.dir.get(), *root.kind, now));
  std::vector<FoundSession> archived;
  if (env.stat(root.dir.get(), std::string(layout::archive_of_root)).ok()) {
    const std::lock_guard lock(mutex_);
    SESSIOND_TRY(open_archive(root));
  }
  if (root.archive.is_open()) {
    SESSIOND_ASSIGN(archived, scan_directory(env, root.archive.get(), *root.kind, now));
  }
  const std::lock_guard lock(mutex_);
  if (const auto still = roots_.find(root.name); still == roots_.end() || still->second.get() != &root)
    return {};
  for (FoundSession& one : found) add_entry(root, std::move(one), false);
  for (FoundSession& one : archived) add_entry(root, std::move(one), true);
  return {};
}

Status Registry::open_archive(Root& root) {
  if (root.archive.is_open()) return {};
  const std::string name(layout::archive_of_root);
  SESSIOND_TRY(ensure_directory(services_.env, root.dir.get(), name));
  SESSIOND_ASSIGN(root.archive, own(services_.env, services_.env.open_dir(root.dir.get(), name)));
  return services_.env.sync_dir(root.dir.get());
}

void Registry::add_entry(Root& root, FoundSession found, bool archived) {
  const Key key{root.name, found.id};
  if (const auto known = entries_.find(key); known != entries_.end()) {
    // A session in use knows better than the disk did a moment ago.
    if (known->second->session == nullptr) known->second->brief = std::move(found.brief);
    return;
  }
  auto entry = std::make_unique<Entry>();
  entry->id = std::move(found.id);
  entry->root = &root;
  entry->archived = archived;
  entry->brief = std::move(found.brief);
  by_id_.emplace(entry->id, entry.get());
  entries_.emplace(key, std::move(entry));
}

void Registry::erase_entry(const Key& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  Entry* entry = found->second.get();
  if (entry->in_recent) recent_.erase(entry->recent);
  const auto [first, last] = by_id_.equal_range(entry->id);
  for (auto at = first; at != last; ++at) {
    if (at->second != entry) continue;
    by_id_.erase(at);
    break;
  }
  entries_.erase(found);
}

std::string Registry::directory_of(const Root& root, const std::string& id, bool archived) const {
  return root.path + "/" + (archived ? std::string(layout::archive_of_root) + "/" : "") + id;
}

bool Registry::visible(const Entry& entry, const Viewer& viewer) const {
  return !viewer.only_uid || entry.brief.owner_uid == *viewer.only_uid;
}

std::shared_ptr<Session> Registry::session_of(Entry& entry) {
  if (entry.session == nullptr) {
    const Root& root = *entry.root;
    SessionPlace place{.id = entry.id,
                       .root = root.name,
                       .directory = directory_of(root, entry.id, entry.archived),
                       .root_handle = entry.archived ? root.archive.get() : root.dir.get(),
                       .archived = entry.archived,
                       .kind = root.kind};
    entry.session = std::make_shared<Session>(std::move(place), services_);
  }
  touch(entry);
  return entry.session;
}

// Moves the entry to the front, and lets go of sessions that nobody uses beyond the limit.
void Registry::touch(Entry& entry) {
  if (entry.in_recent) recent_.erase(entry.recent);
  recent_.push_front(&entry);
  entry.recent = recent_.begin();
  entry.in_recent = true;
  std::size_t over = recent_.size() > sessions_loaded_max ? recent_.size() - sessions_loaded_max : 0;
  for (auto at = recent_.end(); over > 0 && at != recent_.begin();) {
    --at;
    Entry& old = **at;
    // Only the registry holds it: nobody reads, nothing waits, nothing runs.
    if (old.session.use_count() > 1 || &old == &entry || old.session->must_keep()) continue;
    old.session.reset();
    old.in_recent = false;
    at = recent_.erase(at);
    --over;
  }
}

Result<std::shared_ptr<Session>> Registry::find(std::string_view reference, const Viewer& viewer) {
  const std::lock_guard lock(mutex_);
  if (const std::size_t slash = reference.find('/'); slash != std::string_view::npos) {
    const auto found =
        entries_.find({std::string(reference.substr(0, slash)), std::string(reference.substr(slash + 1))});
    if (found == entries_.end() || !visible(*found->second, viewer)) return no_session(reference);
    return session_of(*found->second);
  }
  std::vector<Entry*> matches;
  const auto [first, last] = by_id_.equal_range(std::string(reference));
  for (auto at = first; at != last; ++at)
    if (visible(*at->second, viewer)) matches.push_back(at->second);
  if (matches.empty()) return no_session(reference);
  if (matches.size() == 1) return session_of(*matches.front());
  json::array choices;
  for (const Entry* entry : matches) choices.emplace_back(entry->root->name + "/" + entry->id);
  return Error(ErrorCode::ambiguous, "more than one root has a session " + quoted(reference))
      .with("choices", std::move(choices))
      .next("name it as root/id");
}

Result<std::shared_ptr<Root>> Registry::find_root(const std::optional<std::string>& name, const Kind& kind) {
  const auto found = roots_.find(name.value_or(std::string(kind.name)));
  if (found == roots_.end())
    return Error(ErrorCode::not_found, "there is no root " + quoted(*name)).next("root.list shows the roots");
  if (found->second->kind != &kind)
    return Error(ErrorCode::refused, "root " + quoted(found->first) + " holds sessions of kind " +
                                         std::string(found->second->kind->name) + ", not " +
                                         std::string(kind.name));
  return found->second;
}

Result<std::string> Registry::directory_for(const Kind& kind, const std::optional<std::string>& root,
                                            const std::string& id) {
  const std::lock_guard lock(mutex_);
  SESSIOND_ASSIGN(const std::shared_ptr<Root> found, find_root(root, kind));
  return directory_of(*found, id, false);
}

Result<std::shared_ptr<Session>> Registry::create(const Kind& kind,
                                                  const std::optional<std::string>& root_name,
                                                  const std::string& id, const Document& document,
                                                  HistoryLine line, const Viewer& viewer,
                                                  const std::vector<StateBytes>& artifacts) {
  return make_session(kind, root_name, id, [&](const Root& root) -> Result<FoundSession> {
    const TimePoint now = services_.clock.now();
    line.timestamp = format_rfc3339_millis(now);
    line.seq = line.revision = line.base = 1;
    line.document = document;
    line.meta = describe_meta(kind, document, {}, line.timestamp, now);
    if (viewer.uid >= 0) line.meta["owner_uid"] = viewer.uid;
    if (line.idempotency_key) line.meta["created_with"] = creation_mark(viewer.uid, *line.idempotency_key);
    std::vector<StateBytes> state = render_state(kind, document);
    for (const StateBytes& file : state) line.files[file.name] = state_hash(file.bytes);
    state.insert(state.end(), artifacts.begin(), artifacts.end());
    SESSIOND_TRY(SessionStore::create(services_.env, root.dir.get(), id, build_history_line(line), state));
    return FoundSession{id, brief_of_meta(line.meta, 1)};
  });
}

std::optional<std::string> Registry::created_with(const Kind& kind, const std::string& key,
                                                  const Viewer& viewer) const {
  const std::uint64_t mark = mark_value(creation_mark(viewer.uid, key));
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : entries_)
    if (entry->brief.creation_mark == mark && entry->root->kind == &kind && visible(*entry, viewer))
      return name.first + "/" + name.second;
  return std::nullopt;
}

Result<std::shared_ptr<Session>> Registry::create_from(const Kind& kind,
                                                       const std::optional<std::string>& root_name,
                                                       const std::string& id, const Bundle& bundle,
                                                       const Viewer& viewer) {
  return make_session(kind, root_name, id, [&](const Root& root) -> Result<FoundSession> {
    SESSIOND_TRY(SessionStore::create(services_.env, root.dir.get(), id, bundle.history, bundle.files));
    std::optional<FoundSession> found =
        examine_directory(services_.env, root.dir.get(), id, kind, services_.clock.now());
    if (!found)
      return Error(ErrorCode::damaged, "the imported session cannot be read").with("session_id", id);
    if (viewer.uid >= 0) found->brief.owner_uid = viewer.uid;
    return std::move(*found);
  });
}

Result<std::shared_ptr<Session>> Registry::make_session(
    const Kind& kind, const std::optional<std::string>& root_name, const std::string& id,
    const std::function<Result<FoundSession>(const Root&)>& make) {
  SESSIOND_TRY(layout::check_session_id(id));
  std::shared_ptr<Root> root;
  {
    std::unique_lock lock(mutex_);
    SESSIOND_ASSIGN(root, find_root(root_name, kind));
    // Two that make the same session would work in the same directory.
    created_.wait(lock, [&] { return !creating_.contains({root->name, id}); });
    if (entries_.contains({root->name, id}))
      return Error(ErrorCode::already_exists, "a session " + quoted(id) + " exists already")
          .with("session_id", id);
    creating_.insert({root->name, id});
  }
  Result<FoundSession> made = Error(ErrorCode::internal, "");
  try {
    made = make(*root);
  } catch (...) {
    made = caught_error();
  }
  Result<std::shared_ptr<Session>> session =
      made ? Result<std::shared_ptr<Session>>(std::shared_ptr<Session>())
           : Result<std::shared_ptr<Session>>(made.error());
  {
    const std::lock_guard lock(mutex_);
    creating_.erase({root->name, id});
    const auto still = roots_.find(root->name);
    if (made && (still == roots_.end() || still->second != root)) {
      session = Error(ErrorCode::not_found, "root " + quoted(root->name) + " was removed meanwhile")
                    .with("session_id", id);
    } else if (made) {
      add_entry(*root, std::move(*made), false);
      session = session_of(*entries_.at({root->name, id}));
    }
  }
  created_.notify_all();
  return session;
}

// The moves below take the mutex only to look and to note: a sync may take long, and requests must not wait
// for it. The strand that runs them keeps the root from being removed.

Result<std::shared_ptr<Root>> Registry::root_of(const SessionPlace& place, bool with_archive) {
  const std::lock_guard lock(mutex_);
  const auto found = roots_.find(place.root);
  if (found == roots_.end()) return no_session(place.id);
  if (with_archive) SESSIOND_TRY(open_archive(*found->second));
  return found->second;
}

Status Registry::sync_both(Handle to, Handle from) {
  SESSIOND_TRY(services_.env.sync_dir(to));
  return services_.env.sync_dir(from);
}

Result<Registry::Moved> Registry::archive(const SessionPlace& place) { return move_within(place, true); }
Result<Registry::Moved> Registry::restore(const SessionPlace& place) { return move_within(place, false); }

Result<Registry::Moved> Registry::move_within(const SessionPlace& place, bool to_archive) {
  SESSIOND_ASSIGN(const std::shared_ptr<Root> root, root_of(place, true));
  const Handle from = to_archive ? root->dir.get() : root->archive.get();
  const Handle to = to_archive ? root->archive.get() : root->dir.get();
  SESSIOND_TRY(services_.env.rename_new(from, place.id, to, place.id));
  Status durable = sync_both(to, from);
  const std::lock_guard lock(mutex_);
  SessionBrief brief;
  if (const auto known = entries_.find({place.root, place.id}); known != entries_.end())
    brief = known->second->brief;
  erase_entry({place.root, place.id});
  add_entry(*root, FoundSession{place.id, std::move(brief)}, to_archive);
  return Moved{directory_of(*root, place.id, to_archive), std::move(durable)};
}

Result<Registry::Moved> Registry::remove(const SessionPlace& place) {
  SESSIOND_ASSIGN(const std::shared_ptr<Root> root, root_of(place, false));
  const std::string trash(layout::trash_of_root);
  SESSIOND_TRY(ensure_directory(services_.env, root->dir.get(), trash));
  SESSIOND_TRY(services_.env.sync_dir(root->dir.get()));
  SESSIOND_ASSIGN(const Open dir, own(services_.env, services_.env.open_dir(root->dir.get(), trash)));
  const Handle from = place.archived ? root->archive.get() : root->dir.get();
  std::int64_t number = services_.clock.now().time_since_epoch().count();
  std::string to;
  Status renamed;
  do {  // the same id may have been deleted within this millisecond, or before the clock was set back
    to = place.id + "." + std::to_string(number++);
    renamed = services_.env.rename_new(from, place.id, dir.get(), to);
  } while (!renamed && renamed.error().code == ErrorCode::already_exists);
  SESSIOND_TRY(std::move(renamed));
  Status durable = sync_both(dir.get(), from);
  const std::lock_guard lock(mutex_);
  erase_entry({place.root, place.id});
  return Moved{root->path + "/" + trash + "/" + to, std::move(durable)};
}

Result<Registry::Moved> Registry::finish_move(const SessionPlace& place, bool to_archive) {
  SESSIOND_ASSIGN(const std::shared_ptr<Root> root, root_of(place, true));
  return Moved{directory_of(*root, place.id, to_archive), sync_both(root->archive.get(), root->dir.get())};
}

std::optional<Registry::Moved> Registry::find_deleted(std::string_view reference, const Move& move,
                                                      const Viewer& viewer) {
  const std::size_t slash = reference.find('/');
  const std::string start(reference.substr(slash == std::string_view::npos ? 0 : slash + 1));
  std::vector<std::shared_ptr<Root>> searched;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, root] : roots_)
      if (slash == std::string_view::npos || name == reference.substr(0, slash)) searched.push_back(root);
  }
  Env& env = services_.env;
  const std::string trash(layout::trash_of_root);
  for (const std::shared_ptr<Root>& root : searched) {
    const Result<Open> dir = own(env, env.open_dir(root->dir.get(), trash));
    if (!dir) continue;
    const Result<std::vector<DirEntry>> entries = env.list(dir->get());
    if (!entries) continue;
    for (const DirEntry& entry : *entries) {
      if (!entry.name.starts_with(start + ".")) continue;
      const Result<Open> session = own(env, env.open_dir(dir->get(), entry.name));
      if (!session || !ends_with_move(env, session->get(), move, viewer.only_uid)) continue;
      Status durable = sync_both(dir->get(), root->dir.get());
      if (durable && root->archive.is_open()) durable = env.sync_dir(root->archive.get());
      return Moved{root->path + "/" + trash + "/" + entry.name, std::move(durable)};
    }
  }
  return std::nullopt;
}

void Registry::on_changed(const SessionPlace& place, const Snapshot& snapshot) {
  const json::object meta =
      snapshot.meta.empty()
          ? describe_meta(*place.kind, snapshot.document, {}, snapshot.last_activity, services_.clock.now())
          : snapshot.meta;
  SessionBrief brief = brief_of_meta(meta, snapshot.revision);
  brief.problem = snapshot.read_only;
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find({place.root, place.id}); found != entries_.end())
    found->second->brief = std::move(brief);
}

Status Registry::save_roots() const {
  const std::lock_guard saving(saving_);
  std::vector<RootConfig> added;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, root] : roots_)
      if (root->origin == Root::Origin::added)
        added.push_back({name, root->path, std::string(root->kind->name)});
  }
  SESSIOND_ASSIGN(const Open state, own(services_.env, services_.env.open_root(state_dir_)));
  return write_added_roots(services_.env, state.get(), added);
}

RootInfo Registry::info_of(const Root& root) const {
  RootInfo info{root.name, root.path, std::string(root.kind->name), std::string(origin_name(root.origin)),
                0,         0};
  for (auto at = entries_.lower_bound({root.name, ""}); at != entries_.end() && at->first.first == root.name;
       ++at) {
    ++info.sessions;
    if (!at->second->brief.problem.empty()) ++info.problems;
  }
  return info;
}

std::vector<RootInfo> Registry::roots() const {
  const std::lock_guard lock(mutex_);
  std::vector<RootInfo> out;
  for (const auto& [name, root] : roots_) out.push_back(info_of(*root));
  return out;
}

Result<RootInfo> Registry::add_root(const std::string& path, const Kind& kind,
                                    std::optional<std::string> name) {
  if (!name) name = path.substr(path.find_last_of('/') + 1);
  if (Status good = layout::check_session_id(*name); !good)
    return Error(ErrorCode::invalid_params, "name: " + quoted(*name) + " cannot name a root")
        .with("field", "params.name")
        .next("give a name of letters, digits and hyphens");
  SESSIOND_ASSIGN(Root root, open_root(services_.env, *name, path, kind, Root::Origin::added));
  SESSIOND_TRY(insert_root(std::move(root)));
  SESSIOND_TRY(save_roots());
  const std::lock_guard lock(mutex_);
  const auto added = roots_.find(*name);
  if (added == roots_.end())
    return Error(ErrorCode::not_found, "root " + quoted(*name) + " was removed meanwhile");
  return info_of(*added->second);
}

Status Registry::remove_root(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = roots_.find(name);
    if (found == roots_.end())
      return Error(ErrorCode::not_found, "there is no root " + quoted(name))
          .next("root.list shows the roots");
    if (found->second->origin != Root::Origin::added)
      return Error(ErrorCode::refused, "root " + quoted(name) + " is " +
                                           std::string(origin_name(found->second->origin)) +
                                           "; only added roots can be removed");
    std::vector<Key> keys;
    for (auto at = entries_.lower_bound({name, ""}); at != entries_.end() && at->first.first == name; ++at) {
      if (at->second->session != nullptr && at->second->session.use_count() > 1)
        return Error(ErrorCode::refused, "session " + quoted(at->first.second) + " of this root is in use")
            .next("try again later");
      keys.push_back(at->first);
    }
    for (const Key& key : keys) erase_entry(key);
    roots_.erase(found);
  }
  return save_roots();
}

Result<RootInfo> Registry::scan(const std::string& name) {
  std::shared_ptr<Root> root;
  {
    const std::lock_guard lock(mutex_);
    const auto found = roots_.find(name);
    if (found == roots_.end())
      return Error(ErrorCode::not_found, "there is no root " + quoted(name))
          .next("root.list shows the roots");
    root = found->second;
  }
  SESSIOND_TRY(scan_root(*root));
  const std::lock_guard lock(mutex_);
  return info_of(*root);
}

std::map<std::string, std::map<std::string, std::int64_t>> Registry::counts() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::map<std::string, std::int64_t>> out;
  for (const auto& [key, entry] : entries_)
    ++out[std::string(entry->root->kind->name)][entry->archived ? "archived" : entry->brief.status];
  return out;
}

}  // namespace sessiond
