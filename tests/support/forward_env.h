// ForwardEnv hands every call to another Env. The fault, order and mutant Envs change some of them.
#pragma once

#include "daemon/store/env.h"

namespace sessiond {

class ForwardEnv : public Env {
 public:
  explicit ForwardEnv(Env& base) : base_(base) {}

  Result<Handle> open_root(const std::string& path) override { return base_.open_root(path); }
  Result<Handle> open_dir(Handle parent, const std::string& name) override {
    return base_.open_dir(parent, name);
  }
  Status mkdir(Handle parent, const std::string& name) override { return base_.mkdir(parent, name); }
  Status rmdir(Handle parent, const std::string& name) override { return base_.rmdir(parent, name); }
  Result<std::vector<DirEntry>> list(Handle dir) override { return base_.list(dir); }
  Status sync_dir(Handle dir) override { return base_.sync_dir(dir); }
  Result<FileInfo> stat(Handle dir, const std::string& name) override { return base_.stat(dir, name); }
  Result<Handle> open_read(Handle dir, const std::string& name) override {
    return base_.open_read(dir, name);
  }
  Result<Handle> open_write(Handle dir, const std::string& name) override {
    return base_.open_write(dir, name);
  }
  Result<Handle> create(Handle dir, const std::string& name) override { return base_.create(dir, name); }
  Result<Handle> open_or_create(Handle dir, const std::string& name) override {
    return base_.open_or_create(dir, name);
  }
  Result<FileInfo> info(Handle file) override { return base_.info(file); }
  Result<std::string> read(Handle file, std::int64_t offset, std::size_t size) override {
    return base_.read(file, offset, size);
  }
  Result<std::size_t> write(Handle file, std::int64_t offset, std::string_view bytes) override {
    return base_.write(file, offset, bytes);
  }
  Status truncate(Handle file, std::int64_t size) override { return base_.truncate(file, size); }
  Status sync(Handle file) override { return base_.sync(file); }
  void close(Handle handle) override { base_.close(handle); }
  Status unlink(Handle dir, const std::string& name) override { return base_.unlink(dir, name); }
  Status rename_new(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to) override {
    return base_.rename_new(from_dir, from, to_dir, to);
  }
  Status rename_over(Handle dir, const std::string& from, const std::string& to) override {
    return base_.rename_over(dir, from, to);
  }
  Status exchange(Handle dir, const std::string& a, const std::string& b) override {
    return base_.exchange(dir, a, b);
  }
  Result<bool> try_lock(Handle file, LockMode mode) override { return base_.try_lock(file, mode); }
  Status unlock(Handle file) override { return base_.unlock(file); }
  void wait(std::chrono::milliseconds time) override { base_.wait(time); }
  std::string lock_holder(Handle file) override { return base_.lock_holder(file); }

 protected:
  Env& base_;
};

}  // namespace sessiond
