#include "tests/support/order_env.h"

#include "daemon/store/history_file.h"
#include "daemon/store/layout.h"
#include "daemon/store/session_store.h"

namespace sessiond {

Result<Handle> OrderEnv::opened(Result<Handle> handle, const std::string& name) {
  if (!handle) return handle;
  const Result<FileInfo> info = peek_.info(*handle);
  open_[*handle] = Known{name, info ? info->inode : 0};
  return handle;
}

void OrderEnv::check_trusted(Handle file, std::string_view what) {
  const Known& known = open_[file];
  if (untrusted_.contains(known.inode) && !known.name.starts_with(state_file_))
    violations_.push_back(known.name + ": " + std::string(what) + " after a failed sync");
}

void OrderEnv::check_state(Handle dir, const std::string& from, const std::string& to) {
  if (to != state_file_) return;
  const Result<std::string> bytes = read_all(peek_, dir, from, SessionStore::state_bytes_max);
  if (!bytes) return;  // the call itself will report it
  if (synced_history_.find(state_hash(*bytes)) == std::string::npos)
    violations_.push_back(to + ": new content before its history line was synced");
}

Result<Handle> OrderEnv::open_read(Handle dir, const std::string& name) {
  return opened(base_.open_read(dir, name), name);
}
Result<Handle> OrderEnv::open_write(Handle dir, const std::string& name) {
  return opened(base_.open_write(dir, name), name);
}
Result<Handle> OrderEnv::create(Handle dir, const std::string& name) {
  return opened(base_.create(dir, name), name);
}
Result<Handle> OrderEnv::open_or_create(Handle dir, const std::string& name) {
  return opened(base_.open_or_create(dir, name), name);
}

Result<std::size_t> OrderEnv::write(Handle file, std::int64_t offset, std::string_view bytes) {
  check_trusted(file, "written");
  return base_.write(file, offset, bytes);
}

Status OrderEnv::truncate(Handle file, std::int64_t size) {
  check_trusted(file, "cut");
  return base_.truncate(file, size);
}

Status OrderEnv::sync(Handle file) {
  check_trusted(file, "synced");
  Status synced = base_.sync(file);
  const Known& known = open_[file];
  if (!synced) {
    untrusted_.insert(known.inode);
  } else if (known.name == layout::history || known.name == layout::history_repair) {
    const Result<std::string> content = peek_.read(file, 0, history_line_bytes_max);
    if (content) synced_history_ = *content;
  }
  return synced;
}

void OrderEnv::close(Handle handle) {
  open_.erase(handle);
  base_.close(handle);
}

Status OrderEnv::rename_new(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to) {
  check_state(from_dir, from, to);
  return base_.rename_new(from_dir, from, to_dir, to);
}

Status OrderEnv::rename_over(Handle dir, const std::string& from, const std::string& to) {
  check_state(dir, from, to);
  return base_.rename_over(dir, from, to);
}

Status OrderEnv::exchange(Handle dir, const std::string& a, const std::string& b) {
  check_state(dir, a, b);
  return base_.exchange(dir, a, b);
}

}  // namespace sessiond
