// MutantEnv: leaves out one class of calls and reports success, to show that the tests would notice. Each
// mutation stands for a line that could be missing in the store.
#pragma once

#include <map>
#include <span>

#include "tests/support/forward_env.h"

namespace sessiond {

enum class Mutation {
  none,
  append_sync,            // the history after new lines
  failed_sync_unnoticed,  // a sync of the history that failed counts as done
  create_file_sync,       // the files of a new session
  create_dir_sync,        // their names
  create_root_sync,       // the new session's own name
  load_history_sync,      // what a load found in the page cache
  load_dir_sync,          // the names that a load found
  load_root_sync,         // the session's name that a load found
  cut,                    // torn or refused lines stay
  cut_sync,               // they may come back
  aside_sync,             // the saved copy of a torn tail
  aside_name_sync,        // its name
  marker,                 // nobody knows that a file cannot be trusted
  copy_sync,              // the copy made after a failed sync
  copy_rename,            // it never replaces the old file
  copy_name_sync,         // its name
  state_first,            // state files before the history; done by the driver, not here
  state_exchange,         // state files are overwritten in place
};

struct MutationName {
  Mutation mutation;
  std::string_view name;
};
// Every mutation but none.
std::span<const MutationName> mutations();

class MutantEnv final : public ForwardEnv {
 public:
  MutantEnv(Env& base, Mutation mutation) : ForwardEnv(base), mutation_(mutation) {}

  Result<Handle> open_root(const std::string& path) override;
  Result<Handle> open_dir(Handle parent, const std::string& name) override;
  Status mkdir(Handle parent, const std::string& name) override;
  Status sync_dir(Handle dir) override;
  Result<FileInfo> stat(Handle dir, const std::string& name) override;
  Result<Handle> open_write(Handle dir, const std::string& name) override;
  Result<Handle> create(Handle dir, const std::string& name) override;
  Result<Handle> open_or_create(Handle dir, const std::string& name) override;
  Result<std::size_t> write(Handle file, std::int64_t offset, std::string_view bytes) override;
  Status truncate(Handle file, std::int64_t size) override;
  Status sync(Handle file) override;
  void close(Handle handle) override;
  Status unlink(Handle dir, const std::string& name) override;
  Status rename_new(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to) override;
  Status rename_over(Handle dir, const std::string& from, const std::string& to) override;
  Status exchange(Handle dir, const std::string& a, const std::string& b) override;

 private:
  enum class Last { nothing, written, cut, renamed };
  struct Known {
    std::string name;
    std::string directory;  // that it was opened in; of a directory its own name
    Last last = Last::nothing;
  };
  Result<Handle> opened(Result<Handle> handle, Handle dir, const std::string& name);
  bool dropped(const Known& file) const;
  bool dir_dropped(const Known& dir) const;

  Mutation mutation_;
  std::map<Handle, Known> open_;
};

}  // namespace sessiond
