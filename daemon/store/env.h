// Env: every contact of the store with the file system, and the only one. One of the daemon's three
// interfaces, because tests need a disk that loses what was not synced, calls that fail, and a check of the
// order of calls.
//
// All names are single components relative to an open directory; only open_root takes a path. A name that is
// a link is never followed, and only directories and regular files are opened, so that nothing planted in a
// session directory can lead elsewhere or block the daemon. A file with several names (hard links) is only
// opened to be read, and only if it is the daemon's own: a write would show under the other names. Errors
// carry the operation, the name and errno, with the code storage_full for no room (disk, quota, file size),
// not_found and already_exists for names, storage_error else. Calls may block and may come from any thread;
// one handle is used by one thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace sessiond {

// A descriptor, or what stands for one in a simulated Env.
using Handle = int;
inline constexpr Handle no_handle = -1;

struct FileInfo {
  enum class Type { file, directory, other };
  Type type = Type::other;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;
  uid_t uid = 0;
  mode_t mode = 0;
  std::uint64_t names = 1;  // hard links

  // Changes whenever somebody replaces or writes the file.
  friend bool same_content(const FileInfo& a, const FileInfo& b) {
    return a.inode == b.inode && a.size == b.size && a.mtime_ns == b.mtime_ns && a.device == b.device;
  }
};

struct DirEntry {
  std::string name;
  FileInfo::Type type;
};

class Env {
 public:
  enum class LockMode { exclusive, shared };

  virtual ~Env() = default;

  // Directories.
  virtual Result<Handle> open_root(const std::string& path) = 0;
  virtual Result<Handle> open_dir(Handle parent, const std::string& name) = 0;
  virtual Status mkdir(Handle parent, const std::string& name) = 0;  // 0700
  virtual Status rmdir(Handle parent, const std::string& name) = 0;
  virtual Result<std::vector<DirEntry>> list(Handle dir) = 0;  // without . and .., in any order
  virtual Status sync_dir(Handle dir) = 0;                     // names in it survive a power cut
  virtual Result<FileInfo> stat(Handle dir, const std::string& name) = 0;

  // Files. A file that is created has mode 0600.
  virtual Result<Handle> open_read(Handle dir, const std::string& name) = 0;
  virtual Result<Handle> open_write(Handle dir, const std::string& name) = 0;  // read and write, must exist
  virtual Result<Handle> create(Handle dir, const std::string& name) = 0;      // must not exist
  virtual Result<Handle> open_or_create(Handle dir, const std::string& name) = 0;
  virtual Result<FileInfo> info(Handle file) = 0;
  virtual Result<std::string> read(Handle file, std::int64_t offset,
                                   std::size_t size) = 0;  // shorter at the end
  // May write less than all; returns how much.
  virtual Result<std::size_t> write(Handle file, std::int64_t offset, std::string_view bytes) = 0;
  virtual Status truncate(Handle file, std::int64_t size) = 0;
  virtual Status sync(Handle file) = 0;  // fdatasync: content and size survive a power cut
  virtual void close(Handle handle) = 0;

  // Names.
  virtual Status unlink(Handle dir, const std::string& name) = 0;
  virtual Status rename_new(Handle from_dir, const std::string& from, Handle to_dir,
                            const std::string& to) = 0;
  virtual Status rename_over(Handle dir, const std::string& from, const std::string& to) = 0;
  virtual Status exchange(Handle dir, const std::string& a, const std::string& b) = 0;  // both must exist

  // Locks, as flock(2): tied to the open handle, released by close. False when somebody else holds it.
  virtual Result<bool> try_lock(Handle file, LockMode mode) = 0;
  virtual Status unlock(Handle file) = 0;
  // Waits between two tries for a lock. Returns early in a simulated Env.
  virtual void wait(std::chrono::milliseconds time) = 0;
  // Who holds a lock on this file, for messages: "pid 123 (vim)". Empty when unknown.
  virtual std::string lock_holder(Handle file) = 0;
};

std::unique_ptr<Env> make_system_env();

// The error of a call that failed with this errno, as every Env reports it.
Error file_error(std::string_view operation, std::string_view name, int reason);

// Owns a handle.
class Open {
 public:
  Open() = default;
  Open(Env& env, Handle handle) : env_(&env), handle_(handle) {}
  Open(Open&& other) noexcept : env_(other.env_), handle_(std::exchange(other.handle_, no_handle)) {}
  Open& operator=(Open&& other) noexcept {
    if (this != &other) {
      reset();
      env_ = other.env_;
      handle_ = std::exchange(other.handle_, no_handle);
    }
    return *this;
  }
  ~Open() { reset(); }

  Handle get() const { return handle_; }
  bool is_open() const { return handle_ != no_handle; }
  void reset() {
    if (handle_ != no_handle) env_->close(std::exchange(handle_, no_handle));
  }

 private:
  Env* env_ = nullptr;
  Handle handle_ = no_handle;
};

inline Result<Open> own(Env& env, Result<Handle> handle) {
  if (!handle) return std::move(handle).error();
  return Open(env, *handle);
}

// Writes all of `bytes`, repeating short writes; a write that makes no progress is an error.
Status write_all(Env& env, Handle file, std::int64_t offset, std::string_view bytes);
// The whole file; an error when it is larger than `bytes_max`.
Result<std::string> read_all(Env& env, Handle dir, const std::string& name, std::size_t bytes_max);
// Removes a directory and all below it; nothing when it is not there. Links inside are removed, not followed.
Status remove_tree(Env& env, Handle parent, const std::string& name);

}  // namespace sessiond
