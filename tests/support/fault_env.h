// FaultEnv: fails one call of another Env, or that call and all later ones, with the errors that the real Env
// would give. A call that fails has no effect, except that a failed sync loses what it was to make durable.
// Safe on any thread if its base is.
#pragma once

#include <functional>
#include <mutex>

#include "tests/support/forward_env.h"

namespace sessiond {

struct Fault {
  enum class Where { any_call, write, sync, cut };
  Where where = Where::any_call;
  std::size_t number = 0;  // of the call among those of `where`, from 0
  int reason = 0;          // errno; 0: a short write of half the bytes, and then no room if it is sticky
  bool sticky = false;
};

class FaultEnv final : public ForwardEnv {
 public:
  // `lose` is told the file whose sync failed.
  FaultEnv(Env& base, std::function<void(Handle)> lose) : ForwardEnv(base), lose_(std::move(lose)) {}

  void set(const Fault& fault) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    seen_ = 0;
    hits_ = 0;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    fault_.reset();
  }
  // Calls that were failed or shortened.
  std::size_t hits() const {
    const std::lock_guard lock(mutex_);
    return hits_;
  }
  std::size_t calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  Result<Handle> open_root(const std::string& path) override;
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
  Status unlink(Handle dir, const std::string& name) override;
  Status rename_new(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to) override;
  Status rename_over(Handle dir, const std::string& from, const std::string& to) override;
  Status exchange(Handle dir, const std::string& a, const std::string& b) override;
  Result<bool> try_lock(Handle file, LockMode mode) override;
  Status unlock(Handle file) override;

 private:
  // The fault if this call is to fail; a short write is only for writes.
  std::optional<Fault> hit(Fault::Where where);
  std::optional<Error> failed(std::string_view operation, std::string_view name,
                              Fault::Where where = Fault::Where::any_call);

  std::function<void(Handle)> lose_;
  mutable std::mutex mutex_;  // guards the rest
  std::optional<Fault> fault_;
  std::size_t seen_ = 0;
  std::size_t calls_ = 0;
  std::size_t hits_ = 0;
};

}  // namespace sessiond
