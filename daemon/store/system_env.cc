// Env on the real file system.
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/text.h"
#include "daemon/store/env.h"

namespace sessiond {
namespace {

Error failure(std::string_view operation, std::string_view name, int reason = errno) {
  return file_error(operation, name, reason);
}

// A name with a slash would be a path: the callers validate names, this only keeps a fault from doing harm.
bool single(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// openat2 also refuses other mounts; without it a single component and O_NOFOLLOW are as strict about links.
int open_beneath(int dir, const char* name, int flags, mode_t mode) {
  static std::atomic<bool> available{true};
  if (available.load(std::memory_order_relaxed)) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags);
    how.mode = (flags & O_CREAT) != 0 ? mode : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
    const long opened = ::syscall(SYS_openat2, dir, name, &how, sizeof how);
    if (opened >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(opened);
    available = errno != ENOSYS;
  }
  return ::openat(dir, name, flags, mode);
}

template <class Call>
auto retry(Call call) {
  for (;;) {
    const auto status = call();
    if (status >= 0 || errno != EINTR) return status;
  }
}

FileInfo to_info(const struct stat& raw) {
  FileInfo info;
  if (S_ISREG(raw.st_mode)) info.type = FileInfo::Type::file;
  if (S_ISDIR(raw.st_mode)) info.type = FileInfo::Type::directory;
  info.device = raw.st_dev;
  info.inode = raw.st_ino;
  info.size = raw.st_size;
  info.mtime_ns = static_cast<std::int64_t>(raw.st_mtim.tv_sec) * 1'000'000'000 + raw.st_mtim.tv_nsec;
  info.uid = raw.st_uid;
  info.mode = raw.st_mode & 07777;
  info.names = raw.st_nlink;
  return info;
}

class SystemEnv final : public Env {
 public:
  Result<Handle> open_root(const std::string& path) override {
    const int handle = retry([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (handle < 0) return failure("cannot open the directory", path);
    return handle;
  }

  Result<Handle> open_dir(Handle parent, const std::string& name) override {
    return open(parent, name, O_RDONLY | O_DIRECTORY);
  }

  Status mkdir(Handle parent, const std::string& name) override {
    if (!single(name)) return failure("cannot make", name, EINVAL);
    return ::mkdirat(parent, name.c_str(), 0700) == 0 ? Status() : failure("cannot make the directory", name);
  }

  Status rmdir(Handle parent, const std::string& name) override {
    if (!single(name)) return failure("cannot remove", name, EINVAL);
    return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 ? Status()
                                                               : failure("cannot remove the directory", name);
  }

  Result<std::vector<DirEntry>> list(Handle dir) override {
    const int copy = ::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
    if (stream == nullptr) {
      Error error = failure("cannot list", ".");
      if (copy >= 0) ::close(copy);
      return error;
    }
    std::vector<DirEntry> entries;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") entries.push_back({name, type_of(dir, *entry)});
      errno = 0;
    }
    const int reason = errno;
    ::closedir(stream);
    if (reason != 0) return failure("cannot list", ".", reason);
    return entries;
  }

  Status sync_dir(Handle dir) override {
    return ::fsync(dir) == 0 ? Status() : failure("cannot sync the directory", ".");
  }

  Result<FileInfo> stat(Handle dir, const std::string& name) override {
    if (!single(name)) return failure("cannot look at", name, EINVAL);
    struct stat raw {};
    if (::fstatat(dir, name.c_str(), &raw, AT_SYMLINK_NOFOLLOW) != 0)
      return failure("cannot look at it", name);
    return to_info(raw);
  }

  Result<Handle> open_read(Handle dir, const std::string& name) override {
    return open_file(dir, name, O_RDONLY);
  }
  Result<Handle> open_write(Handle dir, const std::string& name) override {
    return open_file(dir, name, O_RDWR);
  }
  Result<Handle> create(Handle dir, const std::string& name) override {
    return open_file(dir, name, O_RDWR | O_CREAT | O_EXCL);
  }
  Result<Handle> open_or_create(Handle dir, const std::string& name) override {
    return open_file(dir, name, O_RDWR | O_CREAT);
  }

  Result<FileInfo> info(Handle file) override {
    struct stat raw {};
    if (::fstat(file, &raw) != 0) return failure("cannot look at the open file", "");
    return to_info(raw);
  }

  Result<std::string> read(Handle file, std::int64_t offset, std::size_t size) override {
    std::string out(size, '\0');
    const ssize_t count = retry([&] { return ::pread(file, out.data(), size, offset); });
    if (count < 0) return failure("cannot read", "");
    out.resize(static_cast<std::size_t>(count));
    return out;
  }

  Result<std::size_t> write(Handle file, std::int64_t offset, std::string_view bytes) override {
    const ssize_t count = retry([&] { return ::pwrite(file, bytes.data(), bytes.size(), offset); });
    if (count < 0) return failure("cannot write", "");
    return static_cast<std::size_t>(count);
  }

  Status truncate(Handle file, std::int64_t size) override {
    return retry([&] { return ::ftruncate(file, size); }) == 0 ? Status() : failure("cannot cut", "");
  }

  Status sync(Handle file) override { return ::fdatasync(file) == 0 ? Status() : failure("cannot sync", ""); }

  void close(Handle handle) override { ::close(handle); }

  Status unlink(Handle dir, const std::string& name) override {
    if (!single(name)) return failure("cannot remove", name, EINVAL);
    return ::unlinkat(dir, name.c_str(), 0) == 0 ? Status() : failure("cannot remove it", name);
  }

  Status rename_new(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to) override {
    return rename(from_dir, from, to_dir, to, RENAME_NOREPLACE);
  }
  Status rename_over(Handle dir, const std::string& from, const std::string& to) override {
    return rename(dir, from, dir, to, 0);
  }
  Status exchange(Handle dir, const std::string& a, const std::string& b) override {
    return rename(dir, a, dir, b, RENAME_EXCHANGE);
  }

  Result<bool> try_lock(Handle file, LockMode mode) override {
    const int operation = (mode == LockMode::exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
    if (retry([&] { return ::flock(file, operation); }) == 0) return true;
    if (errno == EWOULDBLOCK) return false;
    return failure("cannot lock", "");
  }

  Status unlock(Handle file) override {
    return ::flock(file, LOCK_UN) == 0 ? Status() : failure("cannot unlock", "");
  }

  void wait(std::chrono::milliseconds time) override { std::this_thread::sleep_for(time); }

  // /proc/locks has lines such as "1: FLOCK  ADVISORY  WRITE 4242 fe:00:131 0 EOF".
  std::string lock_holder(Handle file) override {
    const Result<FileInfo> wanted = info(file);
    if (!wanted) return "";
    std::ifstream locks("/proc/locks");
    std::string line;
    while (std::getline(locks, line)) {
      std::istringstream words(line);
      std::string number, type, advisory, access, pid, place;
      words >> number >> type >> advisory >> access >> pid >> place;
      if (type != "FLOCK" || !place.ends_with(":" + std::to_string(wanted->inode))) continue;
      std::string program;
      std::ifstream comm("/proc/" + pid + "/comm");
      std::getline(comm, program);
      return "pid " + pid + (program.empty() ? "" : " (" + printable(program) + ")");
    }
    return "";
  }

 private:
  static FileInfo::Type type_of(Handle dir, const dirent& entry) {
    if (entry.d_type == DT_REG) return FileInfo::Type::file;
    if (entry.d_type == DT_DIR) return FileInfo::Type::directory;
    struct stat raw {};
    if (entry.d_type == DT_UNKNOWN && ::fstatat(dir, entry.d_name, &raw, AT_SYMLINK_NOFOLLOW) == 0)
      return to_info(raw).type;
    return FileInfo::Type::other;
  }

  static Result<Handle> open(Handle dir, const std::string& name, int flags) {
    if (!single(name)) return failure("cannot open", name, EINVAL);
    const int handle = retry(
        [&] { return open_beneath(dir, name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600); });
    if (handle < 0) return failure("cannot open", name);
    return handle;
  }

  static Result<Handle> open_file(Handle dir, const std::string& name, int flags) {
    SESSIOND_ASSIGN(const Handle handle, open(dir, name, flags));
    struct stat raw {};
    const bool regular = ::fstat(handle, &raw) == 0 && S_ISREG(raw.st_mode);
    const bool only_read = flags == O_RDONLY && raw.st_uid == ::geteuid();
    if (regular && (raw.st_nlink <= 1 || only_read)) return handle;
    ::close(handle);
    if (regular)
      return Error(ErrorCode::storage_error, printable(name) + ": the file has " +
                                                 std::to_string(raw.st_nlink) +
                                                 " names (hard links) and may belong elsewhere")
          .with("file", name)
          .with("names", raw.st_nlink)
          .next("replace it by a copy of its own: cp it to another name, then mv that over it");
    return Error(ErrorCode::storage_error, printable(name) + ": not a regular file").with("file", name);
  }

  static Status rename(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to,
                       unsigned flags) {
    if (!single(from) || !single(to)) return failure("cannot rename", from, EINVAL);
    if (::renameat2(from_dir, from.c_str(), to_dir, to.c_str(), flags) == 0) return {};
    return failure("cannot rename to " + printable(to), from);
  }
};

}  // namespace

std::unique_ptr<Env> make_system_env() { return std::make_unique<SystemEnv>(); }

}  // namespace sessiond
