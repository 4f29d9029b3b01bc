#include "daemon/net/socket_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace sessiond {
namespace {

constexpr int backlog = 1'024;

Error failure(const std::string& path, std::string_view what) {
  return Error(ErrorCode::storage_error, path + ": " + std::string(what) + ": " + std::strerror(errno))
      .with("file", path);
}

Error refusal(const std::string& path, std::string_view why) {
  return Error(ErrorCode::storage_error, path + ": " + std::string(why)).with("file", path);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Somebody who can write to the directory could put his own socket where clients look for ours.
Status check_directory(const std::string& directory, bool others_allowed) {
  if (mkdir(directory.c_str(), others_allowed ? 0755 : 0700) != 0 && errno != EEXIST)
    return failure(directory, "cannot make the directory");
  struct stat info {};
  if (lstat(directory.c_str(), &info) != 0) return failure(directory, "cannot look at the directory");
  if (!S_ISDIR(info.st_mode)) return refusal(directory, "not a directory");
  if (info.st_uid != geteuid() && info.st_uid != 0)
    return refusal(directory, "belongs to user " + std::to_string(info.st_uid) +
                                  "; the socket needs a directory of our own");
  const bool sticky = (info.st_mode & S_ISVTX) != 0;
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky)
    return refusal(directory,
                   "writable by others; the socket needs a directory that only its owner can write to");
  return {};
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int connect_to(const std::string& path) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return errno;
  const sockaddr_un address = address_of(path);
  const int status = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int reason = status == 0 ? 0 : errno;
  ::close(probe);
  return reason;
}

// Removes a socket that nobody listens on. Anything else in its place is left alone.
Status clear_stale(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return errno == ENOENT ? Status() : failure(path, "cannot look at it");
  if (!S_ISSOCK(info.st_mode)) return refusal(path, "exists and is not a socket; it is left alone");
  const int answer = connect_to(path);
  if (answer == 0 || answer == EAGAIN)
    return Error(ErrorCode::already_exists, path + ": a daemon already answers on this socket")
        .with("file", path);
  if (answer != ECONNREFUSED) {
    errno = answer;
    return failure(path, "cannot tell whether somebody answers on it");
  }
  if (unlink(path.c_str()) != 0) return failure(path, "cannot remove the stale socket");
  return {};
}

// Keeps two daemons from clearing each other's socket. The file stays; a lock on a file that gets removed
// protects nothing.
Result<int> lock_beside(const std::string& path) {
  const std::string name = path + ".lock";
  const int lock = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return failure(name, "cannot open");
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  const bool taken = errno == EWOULDBLOCK;
  Error error =
      taken ? Error(ErrorCode::already_exists, path + ": another daemon uses this socket").with("file", path)
            : failure(name, "cannot lock");
  ::close(lock);
  return error;
}

}  // namespace

SocketFile::SocketFile(SocketFile&& other) noexcept { *this = std::move(other); }

SocketFile& SocketFile::operator=(SocketFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(lock_, other.lock_);
  std::swap(adopted_, other.adopted_);
  std::swap(inode_, other.inode_);
  return *this;
}

SocketFile::~SocketFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  remove();
  if (lock_ >= 0) ::close(lock_);
}

int SocketFile::release_descriptor() { return std::exchange(descriptor_, -1); }

void SocketFile::remove() {
  if (adopted_ || inode_ == 0) return;
  struct stat info {};
  if (lstat(path_.c_str(), &info) == 0 && info.st_ino == inode_) unlink(path_.c_str());
  inode_ = 0;
}

Result<SocketFile> SocketFile::bind(const std::string& path, bool others_allowed) {
  SESSIOND_TRY(check_directory(parent_of(path), others_allowed));
  SocketFile made;
  made.path_ = path;
  SESSIOND_ASSIGN(made.lock_, lock_beside(path));
  SESSIOND_TRY(clear_stale(path));
  made.descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made.descriptor_ < 0) return failure(path, "cannot make a socket");
  const sockaddr_un address = address_of(path);
  // The mode is right from the first moment on: there is no time in which others could connect.
  const mode_t before = umask(others_allowed ? 0111 : 0177);
  const int status = ::bind(made.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int reason = errno;
  umask(before);
  errno = reason;
  if (status != 0) return failure(path, "cannot bind");
  struct stat info {};
  if (lstat(path.c_str(), &info) == 0) made.inode_ = info.st_ino;
  if (::listen(made.descriptor_, backlog) != 0) return failure(path, "cannot listen");
  return made;
}

Result<SocketFile> SocketFile::adopt() {
  const int count = sd_listen_fds(1);
  if (count < 0) {
    errno = -count;
    return failure("LISTEN_FDS", "cannot take the sockets that were passed");
  }
  if (count == 0) return SocketFile();
  if (count > 1) return refusal("LISTEN_FDS", "expected one socket, got " + std::to_string(count));
  SocketFile made;
  made.descriptor_ = SD_LISTEN_FDS_START;
  made.adopted_ = true;
  if (sd_is_socket_unix(made.descriptor_, SOCK_STREAM, 1, nullptr, 0) <= 0)
    return refusal("LISTEN_FDS", "the socket that was passed is not a listening Unix stream socket");
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (getsockname(made.descriptor_, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
      address.sun_path[0] == '/')
    made.path_ = address.sun_path;
  fcntl(made.descriptor_, F_SETFL, fcntl(made.descriptor_, F_GETFL) | O_NONBLOCK);
  return made;
}

}  // namespace sessiond
