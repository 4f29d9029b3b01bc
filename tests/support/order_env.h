// OrderEnv: checks the order of calls on their way to another Env.
//   - An inode is never written, cut or synced again after one of its syncs failed. State files and their
//     .tmp and .bak are exempt: the history can rebuild them.
//   - A state file gets new content only after a history line with that content's hash was synced.
#pragma once

#include <map>
#include <set>

#include "tests/support/forward_env.h"

namespace sessiond {

class OrderEnv final : public ForwardEnv {
 public:
  // `peek` is the innermost Env: what the checks themselves read must not be counted or failed.
  OrderEnv(Env& base, Env& peek, std::string state_file)
      : ForwardEnv(base), peek_(peek), state_file_(std::move(state_file)) {}

  // What was broken, in the order it happened.
  const std::vector<std::string>& violations() const { return violations_; }

  Result<Handle> open_read(Handle dir, const std::string& name) override;
  Result<Handle> open_write(Handle dir, const std::string& name) override;
  Result<Handle> create(Handle dir, const std::string& name) override;
  Result<Handle> open_or_create(Handle dir, const std::string& name) override;
  Result<std::size_t> write(Handle file, std::int64_t offset, std::string_view bytes) override;
  Status truncate(Handle file, std::int64_t size) override;
  Status sync(Handle file) override;
  void close(Handle handle) override;
  Status rename_new(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to) override;
  Status rename_over(Handle dir, const std::string& from, const std::string& to) override;
  Status exchange(Handle dir, const std::string& a, const std::string& b) override;

 private:
  struct Known {
    std::string name;
    std::uint64_t inode = 0;
  };
  Result<Handle> opened(Result<Handle> handle, const std::string& name);
  void check_trusted(Handle file, std::string_view what);
  void check_state(Handle dir, const std::string& from, const std::string& to);

  Env& peek_;
  std::string state_file_;
  std::map<Handle, Known> open_;
  std::set<std::uint64_t> untrusted_;
  std::string synced_history_;
  std::vector<std::string> violations_;
};

}  // namespace sessiond
