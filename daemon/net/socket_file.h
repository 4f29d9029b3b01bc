// The socket in the file system: made by us, or passed by systemd. A socket of our own has mode 0600 (0666
// when the configuration lets others in; credentials decide then) in a directory that must be ours and not
// writable by others; the directory is made with 0700 if it is missing. A socket file that is left over is
// replaced only after nobody answers on it, while a lock beside it keeps a second daemon from doing the same.
#pragma once

#include <string>

#include "common/result.h"

namespace sessiond {

class SocketFile {
 public:
  // Binds and listens.
  static Result<SocketFile> bind(const std::string& path, bool others_allowed);
  // Adopts the descriptor that systemd passed, if it passed exactly one listening Unix stream socket;
  // a closed SocketFile if it passed none.
  static Result<SocketFile> adopt();

  SocketFile() = default;
  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&& other) noexcept;
  ~SocketFile();

  bool is_open() const { return descriptor_ >= 0; }
  bool adopted() const { return adopted_; }
  const std::string& path() const { return path_; }
  // The listening descriptor, which the caller then owns.
  int release_descriptor();
  // Removes the file if it is ours and still the one that we made.
  void remove();

 private:
  std::string path_;
  int descriptor_ = -1;
  int lock_ = -1;
  bool adopted_ = false;
  unsigned long inode_ = 0;
};

}  // namespace sessiond
