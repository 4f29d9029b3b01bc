// owner.lock: held while a daemon owns a state directory. The directory is made (0700) if it is missing, and
// refused if it is not ours or others can write to it.
#pragma once

#include <string>

#include "common/result.h"

namespace sessiond {

class OwnerLock {
 public:
  // A second daemon gets an error that names the pid of the first.
  static Result<OwnerLock> take(const std::string& state_dir);

  OwnerLock(OwnerLock&& other) noexcept;
  OwnerLock& operator=(OwnerLock&& other) = delete;
  ~OwnerLock();

 private:
  explicit OwnerLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace sessiond
