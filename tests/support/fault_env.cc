#include "tests/support/fault_env.h"

#include <cerrno>

namespace sessiond {

std::optional<Fault> FaultEnv::hit(Fault::Where where) {
  const std::lock_guard lock(mutex_);
  ++calls_;
  if (!fault_ || (fault_->where != Fault::Where::any_call && fault_->where != where)) return std::nullopt;
  const std::size_t number = seen_++;
  const bool struck = number == fault_->number || (fault_->sticky && number > fault_->number);
  if (!struck || (fault_->reason == 0 && where != Fault::Where::write)) return std::nullopt;
  ++hits_;
  return fault_;
}

std::optional<Error> FaultEnv::failed(std::string_view operation, std::string_view name, Fault::Where where) {
  const std::optional<Fault> fault = hit(where);
  if (!fault) return std::nullopt;
  return file_error(operation, name, fault->reason);
}

Result<Handle> FaultEnv::open_root(const std::string& path) {
  if (auto error = failed("cannot open the directory", path)) return std::move(*error);
  return base_.open_root(path);
}

Result<Handle> FaultEnv::open_dir(Handle parent, const std::string& name) {
  if (auto error = failed("cannot open", name)) return std::move(*error);
  return base_.open_dir(parent, name);
}

Status FaultEnv::mkdir(Handle parent, const std::string& name) {
  if (auto error = failed("cannot make the directory", name)) return std::move(*error);
  return base_.mkdir(parent, name);
}

Status FaultEnv::rmdir(Handle parent, const std::string& name) {
  if (auto error = failed("cannot remove the directory", name)) return std::move(*error);
  return base_.rmdir(parent, name);
}

Result<std::vector<DirEntry>> FaultEnv::list(Handle dir) {
  if (auto error = failed("cannot list", ".")) return std::move(*error);
  return base_.list(dir);
}

Status FaultEnv::sync_dir(Handle dir) {
  if (auto error = failed("cannot sync the directory", ".")) return std::move(*error);
  return base_.sync_dir(dir);
}

Result<FileInfo> FaultEnv::stat(Handle dir, const std::string& name) {
  if (auto error = failed("cannot look at it", name)) return std::move(*error);
  return base_.stat(dir, name);
}

Result<Handle> FaultEnv::open_read(Handle dir, const std::string& name) {
  if (auto error = failed("cannot open", name)) return std::move(*error);
  return base_.open_read(dir, name);
}

Result<Handle> FaultEnv::open_write(Handle dir, const std::string& name) {
  if (auto error = failed("cannot open", name)) return std::move(*error);
  return base_.open_write(dir, name);
}

Result<Handle> FaultEnv::create(Handle dir, const std::string& name) {
  if (auto error = failed("cannot open", name)) return std::move(*error);
  return base_.create(dir, name);
}

Result<Handle> FaultEnv::open_or_create(Handle dir, const std::string& name) {
  if (auto error = failed("cannot open", name)) return std::move(*error);
  return base_.open_or_create(dir, name);
}

Result<FileInfo> FaultEnv::info(Handle file) {
  if (auto error = failed("cannot look at the open file", "")) return std::move(*error);
  return base_.info(file);
}

Result<std::string> FaultEnv::read(Handle file, std::int64_t offset, std::size_t size) {
  if (auto error = failed("cannot read", "")) return std::move(*error);
  return base_.read(file, offset, size);
}

Result<std::size_t> FaultEnv::write(Handle file, std::int64_t offset, std::string_view bytes) {
  const std::optional<Fault> fault = hit(Fault::Where::write);
  if (!fault) return base_.write(file, offset, bytes);
  if (fault->reason != 0) return file_error("cannot write", "", fault->reason);
  if (hits() > 1) return file_error("cannot write", "", ENOSPC);
  // All but the last byte or half of them: a line without its newline, or a torn one.
  const std::size_t size = fault->number % 2 == 0 ? bytes.size() / 2 : bytes.size() - 1;
  return base_.write(file, offset, bytes.substr(0, std::max<std::size_t>(size, 1)));
}

Status FaultEnv::truncate(Handle file, std::int64_t size) {
  if (auto error = failed("cannot cut", "", Fault::Where::cut)) return std::move(*error);
  return base_.truncate(file, size);
}

Status FaultEnv::sync(Handle file) {
  if (auto error = failed("cannot sync", "", Fault::Where::sync)) {
    if (lose_) lose_(file);
    return std::move(*error);
  }
  return base_.sync(file);
}

Status FaultEnv::unlink(Handle dir, const std::string& name) {
  if (auto error = failed("cannot remove it", name)) return std::move(*error);
  return base_.unlink(dir, name);
}

Status FaultEnv::rename_new(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to) {
  if (auto error = failed("cannot rename to " + to, from)) return std::move(*error);
  return base_.rename_new(from_dir, from, to_dir, to);
}

Status FaultEnv::rename_over(Handle dir, const std::string& from, const std::string& to) {
  if (auto error = failed("cannot rename to " + to, from)) return std::move(*error);
  return base_.rename_over(dir, from, to);
}

Status FaultEnv::exchange(Handle dir, const std::string& a, const std::string& b) {
  if (auto error = failed("cannot rename to " + b, a)) return std::move(*error);
  return base_.exchange(dir, a, b);
}

Result<bool> FaultEnv::try_lock(Handle file, LockMode mode) {
  if (auto error = failed("cannot lock", "")) return std::move(*error);
  return base_.try_lock(file, mode);
}

Status FaultEnv::unlock(Handle file) {
  if (auto error = failed("cannot unlock", "")) return std::move(*error);
  return base_.unlock(file);
}

}  // namespace sessiond
