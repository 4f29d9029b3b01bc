#include "tests/support/sim_env.h"

#include <cassert>
#include <cerrno>
#include <set>
#include <sstream>

namespace sessiond {
namespace {

constexpr std::uint64_t root_inode = 1;

void add_once(std::vector<std::string>& list, std::string item) {
  for (const std::string& have : list)
    if (have == item) return;
  list.push_back(std::move(item));
}

class CountingChooser final : public Chooser {
 public:
  explicit CountingChooser(std::size_t max) : max_(max) {}
  std::size_t pick(std::size_t count) override {
    product_ = product_ > max_ / count ? max_ : product_ * count;
    return 0;
  }
  std::size_t product() const { return product_; }

 private:
  std::size_t max_;
  std::size_t product_ = 1;
};

}  // namespace

std::size_t EveryChooser::pick(std::size_t count) {
  if (next_ == digits_.size()) digits_.push_back({0, count});
  return digits_[next_++].value;
}

bool EveryChooser::advance() {
  next_ = 0;
  while (!digits_.empty()) {
    if (++digits_.back().value < digits_.back().count) return true;
    digits_.pop_back();
  }
  return false;
}

SimEnv::SimEnv(std::size_t block_size) : block_size_(block_size) { nodes_[root_inode].directory = true; }

std::string SimEnv::block_of(const std::string& content, std::size_t index) const {
  const std::size_t start = index * block_size_;
  std::string block = start < content.size() ? content.substr(start, block_size_) : std::string();
  block.resize(block_size_, '\0');
  return block;
}

// What survives.

// Every file asks for the same number of choices whatever is chosen, so that survivors() can multiply.
std::string SimEnv::surviving_content(const Node& file, Chooser& chooser) const {
  if (file.changes.empty()) return file.durable;
  std::vector<std::size_t> sizes{file.changes.back().size};
  std::size_t smallest = file.durable.size();
  std::map<std::size_t, std::vector<std::string>> versions;
  for (auto change = file.changes.rbegin(); change != file.changes.rend(); ++change) {
    if (std::find(sizes.begin(), sizes.end(), change->size) == sizes.end()) sizes.push_back(change->size);
    smallest = std::min(smallest, change->size);
    for (const auto& [index, block] : change->blocks) add_once(versions[index], block);
  }
  // The oldest comes first and the newest second, as SameChooser expects.
  std::erase(sizes, file.durable.size());
  sizes.insert(sizes.begin(), file.durable.size());
  const std::size_t size = sizes[chooser.pick(sizes.size())];
  std::string survived = file.durable;
  survived.resize(std::max(size, (versions.rbegin()->first + 1) * block_size_), '\0');
  for (auto& [index, blocks] : versions) {
    const std::string old = block_of(file.durable, index);
    const std::string newest = blocks.front();
    std::erase(blocks, old);
    blocks.insert(blocks.begin(), old);
    add_once(blocks, newest.substr(0, block_size_ / 2) + old.substr(block_size_ / 2));
    // A block that was cut off in between may be a new one now. One that was not is overwritten in place.
    if (smallest <= index * block_size_) add_once(blocks, std::string(block_size_, '\0'));
    survived.replace(index * block_size_, block_size_, blocks[chooser.pick(blocks.size())]);
  }
  survived.resize(size, '\0');
  return survived;
}

void SimEnv::apply_names(Names& names, const NameChange& change) {
  for (const auto& [name, inode] : change.names) {
    if (inode)
      names[name] = *inode;
    else
      names.erase(name);
  }
}

SimEnv::Names SimEnv::surviving_names(const Node& directory, Chooser& chooser,
                                      std::map<std::size_t, bool>& joints) {
  Names names = directory.durable_names;
  for (const NameChange& change : directory.name_changes) {
    const auto decided = change.joint == 0 ? joints.end() : joints.find(change.joint);
    const bool survives = decided == joints.end() ? chooser.pick(2) != 0 : decided->second;
    if (change.joint != 0) joints[change.joint] = survives;
    if (survives) apply_names(names, change);
  }
  return names;
}

std::unique_ptr<SimEnv> SimEnv::power_cut(Chooser& chooser) const {
  const std::lock_guard lock(mutex_);
  auto machine = std::make_unique<SimEnv>(block_size_);
  machine->next_inode_ = next_inode_;
  machine->clock_ns_ = clock_ns_ + 1'000;
  machine->can_exchange_ = can_exchange_;
  machine->next_joint_ = next_joint_;
  machine->nodes_.clear();
  std::map<std::size_t, bool> joints;
  for (const auto& [inode, old] : nodes_) {
    Node& survived = machine->nodes_[inode];
    survived.directory = old.directory;
    survived.mtime_ns = old.mtime_ns;
    if (old.directory)
      survived.names = survived.durable_names = surviving_names(old, chooser, joints);
    else
      survived.content = survived.durable = surviving_content(old, chooser);
  }
  machine->drop_unreachable();
  return machine;
}

std::size_t SimEnv::survivors(std::size_t max) const {
  const std::lock_guard lock(mutex_);
  CountingChooser counter(max);
  (void)power_cut(counter);
  return counter.product();
}

std::unique_ptr<SimEnv> SimEnv::process_kill() const {
  const std::lock_guard lock(mutex_);
  auto machine = std::make_unique<SimEnv>(block_size_);
  machine->next_inode_ = next_inode_;
  machine->clock_ns_ = clock_ns_ + 1'000;
  machine->can_exchange_ = can_exchange_;
  machine->next_joint_ = next_joint_;
  machine->nodes_ = nodes_;
  return machine;
}

// Inodes without a name are gone after a crash, as fsck leaves them.
void SimEnv::drop_unreachable() {
  std::set<Inode> reached{root_inode};
  std::vector<Inode> open{root_inode};
  while (!open.empty()) {
    const Inode inode = open.back();
    open.pop_back();
    for (const auto& [name, child] : nodes_.at(inode).names)
      if (reached.insert(child).second) open.push_back(child);
  }
  std::erase_if(nodes_, [&](const auto& item) { return !reached.contains(item.first); });
}

void SimEnv::lose_unsynced(Handle file) {
  const std::lock_guard lock(mutex_);
  Node& lossy = node(file);
  if (lossy.changes.empty()) return;
  lossy.changes.clear();
  lossy.lost_content = true;
}

bool SimEnv::shows_lost_content(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [inode, directory] : nodes_)
    if (const auto found = directory.names.find(name); found != directory.names.end())
      if (nodes_.at(found->second).lost_content) return true;
  return false;
}

bool SimEnv::has_name(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const auto& item) { return item.second.names.contains(name); });
}

// Calls.

bool SimEnv::refused() {
  ++calls_;
  return stopped_;
}

bool SimEnv::change_refused() {
  if (refused()) return true;
  if (stop_at_ && changes_ >= *stop_at_) return stopped_ = true;
  if (observer_) observer_();
  ++changes_;
  return false;
}

Result<SimEnv::Inode> SimEnv::lookup(Handle dir, const std::string& name, const char* operation) const {
  const Names& names = node(dir).names;
  const auto found = names.find(name);
  if (found == names.end()) return file_error(operation, name, ENOENT);
  return found->second;
}

Handle SimEnv::open_inode(Inode inode) {
  handles_[next_handle_] = OpenFile{inode, std::nullopt};
  return next_handle_++;
}

SimEnv::Inode SimEnv::add_node(bool directory) {
  Node& added = nodes_[next_inode_];
  added.directory = directory;
  added.mtime_ns = ++clock_ns_;
  return next_inode_++;
}

FileInfo SimEnv::info_of(Inode inode) const {
  const Node& found = nodes_.at(inode);
  FileInfo info;
  info.type = found.directory ? FileInfo::Type::directory : FileInfo::Type::file;
  info.device = 1;
  info.inode = inode;
  info.size = static_cast<std::int64_t>(found.content.size());
  info.mtime_ns = found.mtime_ns;
  info.mode = found.directory ? 0700 : 0600;
  return info;
}

void SimEnv::change_names(Handle dir, NameChange change) {
  Node& directory = node(dir);
  apply_names(directory.names, change);
  directory.mtime_ns = ++clock_ns_;
  directory.name_changes.push_back(std::move(change));
}

// The page cache writes whole blocks.
void SimEnv::note_change(Node& file, std::size_t from, std::size_t to) {
  Change change;
  change.size = file.content.size();
  for (std::size_t index = from / block_size_; index * block_size_ < to; ++index)
    change.blocks[index] = block_of(file.content, index);
  if (change.blocks.empty()) change.blocks[from / block_size_] = block_of(file.content, from / block_size_);
  file.changes.push_back(std::move(change));
  file.mtime_ns = ++clock_ns_;
}

Result<Handle> SimEnv::open_root(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (refused()) return file_error("cannot open the directory", path, EIO);
  Inode at = root_inode;
  std::istringstream components(path);
  for (std::string name; std::getline(components, name, '/');) {
    if (name.empty()) continue;
    const auto found = nodes_.at(at).names.find(name);
    if (found == nodes_.at(at).names.end()) return file_error("cannot open the directory", path, ENOENT);
    at = found->second;
    if (!nodes_.at(at).directory) return file_error("cannot open the directory", path, ENOTDIR);
  }
  return open_inode(at);
}

Result<Handle> SimEnv::open_dir(Handle parent, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (refused()) return file_error("cannot open", name, EIO);
  SESSIOND_ASSIGN(const Inode inode, lookup(parent, name, "cannot open"));
  if (!nodes_.at(inode).directory) return file_error("cannot open", name, ENOTDIR);
  return open_inode(inode);
}

Status SimEnv::mkdir(Handle parent, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot make the directory", name, EIO);
  if (node(parent).names.contains(name)) return file_error("cannot make the directory", name, EEXIST);
  const Inode made = add_node(true);
  change_names(parent, {.names = {{name, made}}});
  return {};
}

Status SimEnv::rmdir(Handle parent, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot remove the directory", name, EIO);
  SESSIOND_ASSIGN(const Inode inode, lookup(parent, name, "cannot remove the directory"));
  if (!nodes_.at(inode).directory) return file_error("cannot remove the directory", name, ENOTDIR);
  if (!nodes_.at(inode).names.empty()) return file_error("cannot remove the directory", name, ENOTEMPTY);
  change_names(parent, {.names = {{name, std::nullopt}}});
  return {};
}

Result<std::vector<DirEntry>> SimEnv::list(Handle dir) {
  const std::lock_guard lock(mutex_);
  if (refused()) return file_error("cannot list", ".", EIO);
  std::vector<DirEntry> entries;
  for (const auto& [name, inode] : node(dir).names) entries.push_back({name, info_of(inode).type});
  return entries;
}

Status SimEnv::sync_dir(Handle dir) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot sync the directory", ".", EIO);
  Node& directory = node(dir);
  const std::vector<NameChange> settled = std::exchange(directory.name_changes, {});
  directory.durable_names = directory.names;
  for (const NameChange& change : settled)
    if (change.joint != 0) settle_joint(change.joint);
  return {};
}

// The other half of a rename whose one half is durable.
void SimEnv::settle_joint(std::size_t joint) {
  for (auto& [inode, other] : nodes_) {
    const auto half = std::find_if(other.name_changes.begin(), other.name_changes.end(),
                                   [&](const NameChange& change) { return change.joint == joint; });
    if (half == other.name_changes.end()) continue;
    apply_names(other.durable_names, *half);
    other.name_changes.erase(half);
    return;
  }
}

Result<FileInfo> SimEnv::stat(Handle dir, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (refused()) return file_error("cannot look at it", name, EIO);
  SESSIOND_ASSIGN(const Inode inode, lookup(dir, name, "cannot look at it"));
  return info_of(inode);
}

Result<Handle> SimEnv::open_existing(Handle dir, const std::string& name) {
  SESSIOND_ASSIGN(const Inode inode, lookup(dir, name, "cannot open"));
  if (nodes_.at(inode).directory) return file_error("cannot open", name, EISDIR);
  return open_inode(inode);
}

Result<Handle> SimEnv::open_read(Handle dir, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (refused()) return file_error("cannot open", name, EIO);
  return open_existing(dir, name);
}

Result<Handle> SimEnv::open_write(Handle dir, const std::string& name) { return open_read(dir, name); }

Result<Handle> SimEnv::create(Handle dir, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot open", name, EIO);
  if (node(dir).names.contains(name)) return file_error("cannot open", name, EEXIST);
  const Inode made = add_node(false);
  change_names(dir, {.names = {{name, made}}});
  return open_inode(made);
}

Result<Handle> SimEnv::open_or_create(Handle dir, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (node(dir).names.contains(name)) return open_read(dir, name);
  return create(dir, name);
}

Result<FileInfo> SimEnv::info(Handle file) {
  const std::lock_guard lock(mutex_);
  if (refused()) return file_error("cannot look at the open file", "", EIO);
  return info_of(handles_.at(file).inode);
}

Result<std::string> SimEnv::read(Handle file, std::int64_t offset, std::size_t size) {
  const std::lock_guard lock(mutex_);
  if (refused()) return file_error("cannot read", "", EIO);
  const std::string& content = node(file).content;
  const auto from = static_cast<std::size_t>(offset);
  return from >= content.size() ? std::string() : content.substr(from, size);
}

Result<std::size_t> SimEnv::write(Handle file, std::int64_t offset, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot write", "", EIO);
  Node& target = node(file);
  const auto from = static_cast<std::size_t>(offset);
  const std::size_t changed_from = std::min(from, target.content.size());
  if (target.content.size() < from + bytes.size()) target.content.resize(from + bytes.size(), '\0');
  target.content.replace(from, bytes.size(), bytes);
  note_change(target, changed_from, from + bytes.size());
  return bytes.size();
}

Status SimEnv::truncate(Handle file, std::int64_t size) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot cut", "", EIO);
  Node& target = node(file);
  const auto to = static_cast<std::size_t>(size);
  if (to == target.content.size()) return {};
  const std::size_t from = std::min(to, target.content.size());
  target.content.resize(to, '\0');
  note_change(target, from, to);
  return {};
}

Status SimEnv::sync(Handle file) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot sync", "", EIO);
  Node& target = node(file);
  if (target.changes.empty()) return {};
  // Blocks that an earlier failed sync lost are clean for the kernel: they are not written again.
  for (const Change& change : target.changes) {
    for (const auto& [index, block] : change.blocks) {
      if (target.durable.size() < (index + 1) * block_size_)
        target.durable.resize((index + 1) * block_size_, '\0');
      target.durable.replace(index * block_size_, block_size_, block_of(target.content, index));
    }
    if (change.size < target.durable.size()) target.durable.resize(change.size);
  }
  target.durable.resize(target.content.size(), '\0');
  target.changes.clear();
  return {};
}

void SimEnv::close(Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto erased = handles_.erase(handle);
  assert(erased == 1);
  (void)erased;
}

Status SimEnv::unlink(Handle dir, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot remove it", name, EIO);
  SESSIOND_ASSIGN(const Inode inode, lookup(dir, name, "cannot remove it"));
  if (nodes_.at(inode).directory) return file_error("cannot remove it", name, EISDIR);
  change_names(dir, {.names = {{name, std::nullopt}}});
  return {};
}

Status SimEnv::rename_new(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot rename to " + to, from, EIO);
  SESSIOND_ASSIGN(const Inode inode, lookup(from_dir, from, "cannot rename"));
  if (node(to_dir).names.contains(to)) return file_error("cannot rename to " + to, from, EEXIST);
  if (handles_.at(from_dir).inode == handles_.at(to_dir).inode) {
    change_names(from_dir, {.names = {{from, std::nullopt}, {to, inode}}});
  } else {
    const std::size_t joint = next_joint_++;
    change_names(to_dir, {.names = {{to, inode}}, .joint = joint});
    change_names(from_dir, {.names = {{from, std::nullopt}}, .joint = joint});
  }
  return {};
}

Status SimEnv::rename_over(Handle dir, const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot rename to " + to, from, EIO);
  SESSIOND_ASSIGN(const Inode inode, lookup(dir, from, "cannot rename"));
  change_names(dir, {.names = {{from, std::nullopt}, {to, inode}}});
  return {};
}

Status SimEnv::exchange(Handle dir, const std::string& a, const std::string& b) {
  const std::lock_guard lock(mutex_);
  if (change_refused()) return file_error("cannot rename to " + b, a, EIO);
  if (!can_exchange_) return file_error("cannot rename to " + b, a, EINVAL);
  SESSIOND_ASSIGN(const Inode inode_a, lookup(dir, a, "cannot rename"));
  SESSIOND_ASSIGN(const Inode inode_b, lookup(dir, b, "cannot rename"));
  change_names(dir, {.names = {{a, inode_b}, {b, inode_a}}});
  return {};
}

Result<bool> SimEnv::try_lock(Handle file, LockMode mode) {
  const std::lock_guard lock(mutex_);
  if (refused()) return file_error("cannot lock", "", EIO);
  OpenFile& mine = handles_.at(file);
  for (const auto& [handle, other] : handles_) {
    if (handle == file || other.inode != mine.inode || !other.lock) continue;
    if (mode == LockMode::exclusive || *other.lock == LockMode::exclusive) return false;
  }
  mine.lock = mode;
  return true;
}

Status SimEnv::unlock(Handle file) {
  const std::lock_guard lock(mutex_);
  if (refused()) return file_error("cannot unlock", "", EIO);
  handles_.at(file).lock.reset();
  return {};
}

std::string SimEnv::lock_holder(Handle file) {
  const std::lock_guard lock(mutex_);
  const OpenFile& mine = handles_.at(file);
  for (const auto& [handle, other] : handles_)
    if (handle != file && other.inode == mine.inode && other.lock) return "handle " + std::to_string(handle);
  return "";
}

}  // namespace sessiond
