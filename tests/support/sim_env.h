// SimEnv: a disk in memory that knows what would survive. Every inode has what the page cache shows and what
// is surely on the disk. A file's content becomes durable only by sync(file), names only by sync_dir of their
// directory.
//
// The model is harsher than any real file system, so that a program that passes here needs no luck:
//   - of the unsynced writes to a file, each block is on the disk in any of its versions since the last sync,
//     zero-filled (where it held nothing before), or half there, whatever the other blocks are; the size is
//     any size it had;
//   - of the unsynced changes of names in a directory, any subset is on the disk. A rename is one change,
//     also between two directories: every file system with a journal does that, and nothing could be built on
//     one that does not. The sync of either directory makes it durable.
//
// A failed sync behaves as real kernels do: what was to be written is lost, the page cache goes on showing
// it, and the next sync reports success.
//
// Deterministic: same calls and same choices, same disk. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>

#include "daemon/store/env.h"

namespace sessiond {

// Decides what survives.
class Chooser {
 public:
  virtual ~Chooser() = default;
  // A number below `count`.
  virtual std::size_t pick(std::size_t count) = 0;
};

class RandomChooser final : public Chooser {
 public:
  explicit RandomChooser(std::uint64_t seed) : random_(seed) {}
  std::size_t pick(std::size_t count) override { return random_() % count; }

 private:
  std::mt19937_64 random_;
};

// In runs of the oldest or the newest, about `run` long: whole lines survive and whole lines are lost, which
// independent choices hardly ever give.
class RunChooser final : public Chooser {
 public:
  RunChooser(std::uint64_t seed, std::size_t run) : random_(seed), run_(run) {}
  std::size_t pick(std::size_t count) override {
    if (random_() % run_ == 0) which_ = random_() % 3;
    return which_ < count ? which_ : count - 1;
  }

 private:
  std::mt19937_64 random_;
  std::size_t run_;
  std::size_t which_ = 1;
};

// The same way for everything: 0 the oldest (all that was not synced is lost), 1 the newest.
class SameChooser final : public Chooser {
 public:
  explicit SameChooser(std::size_t which) : which_(which) {}
  std::size_t pick(std::size_t count) override { return which_ < count ? which_ : count - 1; }

 private:
  std::size_t which_;
};

// Goes through every combination: use, then advance() until it gives false.
class EveryChooser final : public Chooser {
 public:
  std::size_t pick(std::size_t count) override;
  bool advance();

 private:
  struct Digit {
    std::size_t value;
    std::size_t count;
  };
  std::vector<Digit> digits_;
  std::size_t next_ = 0;
};

class SimEnv final : public Env {
 public:
  static constexpr std::size_t block_bytes = 64;
  static constexpr std::size_t lost = 0;     // for SameChooser
  static constexpr std::size_t present = 1;  // for SameChooser

  // Small blocks give many disks; those of real disks, with halves, are 1024.
  explicit SimEnv(std::size_t block_size = block_bytes);

  // Crashes. Both give a new machine; this one can be crashed again in another way.
  // Power cut: only what the chooser lets survive.
  std::unique_ptr<SimEnv> power_cut(Chooser& chooser) const;
  // How many disks power_cut can give, at most `max`.
  std::size_t survivors(std::size_t max) const;
  // The process died, the machine did not: the page cache is as it was, handles and locks are gone.
  std::unique_ptr<SimEnv> process_kill() const;

  // Calls that change something, and all of them.
  std::size_t changes() const {
    const std::lock_guard lock(mutex_);
    return changes_;
  }
  std::size_t calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // The change with this number (from 0) and every later call are refused: the program runs to its end
  // without effect, as if it had died there, and frees what it holds.
  void stop_at(std::size_t change) {
    const std::lock_guard lock(mutex_);
    stop_at_ = change;
  }
  bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  // Called before every change, when the disk is as it was before it. Not copied to the new machine.
  void observe(std::function<void()> observer) {
    const std::lock_guard lock(mutex_);
    observer_ = std::move(observer);
  }
  std::size_t open_handles() const {
    const std::lock_guard lock(mutex_);
    return handles_.size();
  }

  // A disk that fails: see above. The caller reports the error.
  void lose_unsynced(Handle file);
  // True while a file of this name, anywhere, shows content that a failed sync has lost.
  bool shows_lost_content(const std::string& name) const;
  // A file system without RENAME_EXCHANGE.
  void refuse_exchange() { can_exchange_ = false; }
  // True when some directory holds this name, as the page cache shows it.
  bool has_name(const std::string& name) const;

  Result<Handle> open_root(const std::string& path) override;  // from the one root
  Result<Handle> open_dir(Handle parent, const std::string& name) override;
  Status mkdir(Handle parent, const std::string& name) override;
  Status rmdir(Handle parent, const std::string& name) override;
  Result<std::vector<DirEntry>> list(Handle dir) override;
  Status sync_dir(Handle dir) override;
  Result<FileInfo> stat(Handle dir, const std::string& name) override;
  Result<Handle> open_read(Handle dir, const std::string& name) override;
  Result<Handle> open_write(Handle dir, const std::string& name) override;
  Result<Handle> create(Handle dir, const std::string& name) override;
  Result<Handle> open_or_create(Handle dir, const std::string& name) override;
  Result<FileInfo> info(Handle file) override;
  Result<std::string> read(Handle file, std::int64_t offset, std::size_t size) override;
  Result<std::size_t> write(Handle file, std::int64_t offset, std::string_view bytes) override;
  Status truncate(Handle file, std::int64_t size) override;
  Status sync(Handle file) override;
  void close(Handle handle) override;
  Status unlink(Handle dir, const std::string& name) override;
  Status rename_new(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to) override;
  Status rename_over(Handle dir, const std::string& from, const std::string& to) override;
  Status exchange(Handle dir, const std::string& a, const std::string& b) override;
  Result<bool> try_lock(Handle file, LockMode mode) override;
  Status unlock(Handle file) override;
  void wait(std::chrono::milliseconds) override {}
  std::string lock_holder(Handle file) override;

 private:
  mutable std::recursive_mutex mutex_;  // guards all; an observer may ask back

  using Inode = std::uint64_t;
  using Names = std::map<std::string, Inode>;

  // An unsynced write or cut: the whole new content of each block that it touched, and the size after it.
  struct Change {
    std::map<std::size_t, std::string> blocks;
    std::size_t size = 0;
  };
  // An unsynced change of names: each name with its new inode, or none for removed. Half of a rename between
  // two directories has the same `joint` as the other half; 0: a change by itself.
  struct NameChange {
    std::vector<std::pair<std::string, std::optional<Inode>>> names;
    std::size_t joint = 0;
  };

  struct Node {
    bool directory = false;
    std::int64_t mtime_ns = 0;
    // Files.
    std::string content;
    std::string durable;
    std::vector<Change> changes;
    bool lost_content = false;
    // Directories.
    Names names;
    Names durable_names;
    std::vector<NameChange> name_changes;
  };
  struct OpenFile {
    Inode inode;
    std::optional<LockMode> lock;
  };

  bool refused();
  bool change_refused();
  Result<Inode> lookup(Handle dir, const std::string& name, const char* operation) const;
  Node& node(Handle handle) { return nodes_.at(handles_.at(handle).inode); }
  const Node& node(Handle handle) const { return nodes_.at(handles_.at(handle).inode); }
  Handle open_inode(Inode inode);
  Result<Handle> open_existing(Handle dir, const std::string& name);
  Inode add_node(bool directory);
  FileInfo info_of(Inode inode) const;
  void change_names(Handle dir, NameChange change);
  void settle_joint(std::size_t joint);
  void note_change(Node& file, std::size_t from, std::size_t to);
  void drop_unreachable();
  std::string surviving_content(const Node& file, Chooser& chooser) const;
  std::string block_of(const std::string& content, std::size_t index) const;
  // `joints` are the renames between directories that were decided already.
  static Names surviving_names(const Node& directory, Chooser& chooser, std::map<std::size_t, bool>& joints);
  static void apply_names(Names& names, const NameChange& change);

  std::size_t block_size_;
  std::map<Inode, Node> nodes_;
  std::map<Handle, OpenFile> handles_;
  Inode next_inode_ = 2;
  Handle next_handle_ = 1000;
  std::int64_t clock_ns_ = 1'000'000'000;
  bool can_exchange_ = true;
  std::size_t next_joint_ = 1;
  std::size_t changes_ = 0;
  std::size_t calls_ = 0;
  std::optional<std::size_t> stop_at_;
  bool stopped_ = false;
  std::function<void()> observer_;
};

}  // namespace sessiond
