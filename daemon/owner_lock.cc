#include "daemon/owner_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/text.h"

namespace sessiond {
namespace {

Error failure(const std::string& path, std::string_view what) {
  return Error(ErrorCode::storage_error, path + ": " + std::string(what) + ": " + std::strerror(errno))
      .with("file", path);
}

Status make_directories(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (mkdir(path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST)
      return failure(path.substr(0, slash), "cannot make the directory");
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failure(path, "cannot make the directory");
  return {};
}

Status check_directory(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return failure(path, "cannot look at the directory");
  if (!S_ISDIR(info.st_mode)) return Error(ErrorCode::storage_error, path + ": not a directory");
  if (info.st_uid != geteuid())
    return Error(ErrorCode::storage_error,
                 path + ": belongs to user " + std::to_string(info.st_uid) + ", not to us");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error(ErrorCode::storage_error, path + ": writable by others").next("chmod go-w " + path);
  return {};
}

std::string holder(int descriptor) {
  char text[32] = {};
  const ssize_t count = pread(descriptor, text, sizeof text - 1, 0);
  const std::string pid(trim(std::string_view(text, count > 0 ? static_cast<std::size_t>(count) : 0)));
  return pid.empty() ? "unknown" : printable(pid);
}

}  // namespace

OwnerLock::OwnerLock(OwnerLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

OwnerLock::~OwnerLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<OwnerLock> OwnerLock::take(const std::string& state_dir) {
  SESSIOND_TRY(make_directories(state_dir));
  SESSIOND_TRY(check_directory(state_dir));
  const std::string path = state_dir + "/owner.lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return failure(path, "cannot open");
  OwnerLock lock(descriptor);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return failure(path, "cannot lock");
    const std::string pid = holder(descriptor);
    return Error(ErrorCode::already_exists, state_dir + ": already owned by the daemon with pid " + pid)
        .with("pid", pid)
        .next("use that daemon, stop it, or choose another --state-dir");
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, pid.data(), pid.size(), 0) < 0)
    return failure(path, "cannot write");
  return lock;
}

}  // namespace sessiond
