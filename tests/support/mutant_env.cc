#include "tests/support/mutant_env.h"

#include <cerrno>

#include "daemon/store/layout.h"

namespace sessiond {
namespace {

constexpr std::string_view root_name = "/";

constexpr std::array names{
    MutationName{Mutation::append_sync, "no sync of the history after new lines"},
    MutationName{Mutation::failed_sync_unnoticed, "a failed sync of the history taken for done"},
    MutationName{Mutation::create_file_sync, "no sync of a new session's files"},
    MutationName{Mutation::create_dir_sync, "no sync of a new session's directory"},
    MutationName{Mutation::create_root_sync, "no sync of the root after a create"},
    MutationName{Mutation::load_history_sync, "no sync of the history that a load read"},
    MutationName{Mutation::load_dir_sync, "no sync of the directory that a load read"},
    MutationName{Mutation::load_root_sync, "no sync of the root that a load read"},
    MutationName{Mutation::cut, "torn lines not cut off"},
    MutationName{Mutation::cut_sync, "no sync after a cut"},
    MutationName{Mutation::aside_sync, "no sync of a torn tail's copy"},
    MutationName{Mutation::aside_name_sync, "no sync of the name of a torn tail's copy"},
    MutationName{Mutation::marker, "no marker after a failed sync"},
    MutationName{Mutation::copy_sync, "no sync of the copy after a failed sync"},
    MutationName{Mutation::copy_rename, "the copy after a failed sync never put in place"},
    MutationName{Mutation::copy_name_sync, "no sync of the copy's name"},
    MutationName{Mutation::state_first, "state files before the history"},
    MutationName{Mutation::state_exchange, "state files never put in place"},
};

}  // namespace

std::span<const MutationName> mutations() { return names; }

Result<Handle> MutantEnv::opened(Result<Handle> handle, Handle dir, const std::string& name) {
  if (handle) open_[*handle] = Known{name, open_[dir].name, Last::nothing};
  return handle;
}

Result<Handle> MutantEnv::open_root(const std::string& path) {
  Result<Handle> root = base_.open_root(path);
  if (root) open_[*root] = Known{std::string(root_name), "", Last::nothing};
  return root;
}

Result<Handle> MutantEnv::open_dir(Handle parent, const std::string& name) {
  return opened(base_.open_dir(parent, name), parent, name);
}

Status MutantEnv::mkdir(Handle parent, const std::string& name) {
  open_[parent].last = Last::written;
  return base_.mkdir(parent, name);
}

// A sync of names that nobody here has changed is one that a load does.
bool MutantEnv::dir_dropped(const Known& dir) const {
  if (dir.name == root_name)
    return mutation_ == (dir.last == Last::nothing ? Mutation::load_root_sync : Mutation::create_root_sync);
  if (dir.name.starts_with(layout::new_prefix)) return mutation_ == Mutation::create_dir_sync;
  if (dir.name == layout::quarantine) return mutation_ == Mutation::aside_name_sync;
  if (dir.last == Last::nothing) return mutation_ == Mutation::load_dir_sync;
  return dir.last == Last::renamed && mutation_ == Mutation::copy_name_sync;
}

Status MutantEnv::sync_dir(Handle dir) {
  Known& known = open_[dir];
  if (dir_dropped(known)) return {};
  known.last = Last::nothing;
  return base_.sync_dir(dir);
}

Result<FileInfo> MutantEnv::stat(Handle dir, const std::string& name) {
  if (mutation_ == Mutation::marker && name == layout::sync_failed)
    return file_error("cannot look at it", name, ENOENT);
  return base_.stat(dir, name);
}

Result<Handle> MutantEnv::open_write(Handle dir, const std::string& name) {
  return opened(base_.open_write(dir, name), dir, name);
}

Result<Handle> MutantEnv::create(Handle dir, const std::string& name) {
  open_[dir].last = Last::written;
  return opened(base_.create(dir, name), dir, name);
}

Result<Handle> MutantEnv::open_or_create(Handle dir, const std::string& name) {
  return opened(base_.open_or_create(dir, name), dir, name);
}

Result<std::size_t> MutantEnv::write(Handle file, std::int64_t offset, std::string_view bytes) {
  open_[file].last = Last::written;
  return base_.write(file, offset, bytes);
}

Status MutantEnv::truncate(Handle file, std::int64_t size) {
  Known& known = open_[file];
  known.last = Last::cut;
  if (mutation_ == Mutation::cut && known.name == layout::history) return {};
  return base_.truncate(file, size);
}

bool MutantEnv::dropped(const Known& file) const {
  if (file.directory.starts_with(layout::new_prefix)) return mutation_ == Mutation::create_file_sync;
  if (file.directory == layout::quarantine) return mutation_ == Mutation::aside_sync;
  // After a repair the copy's handle goes on as the history's.
  if (file.name == layout::history_repair && mutation_ == Mutation::copy_sync) return true;
  if (file.name != layout::history) return false;
  switch (file.last) {
    case Last::nothing:
      return mutation_ == Mutation::load_history_sync;
    case Last::cut:
      return mutation_ == Mutation::cut_sync;
    default:
      return mutation_ == Mutation::append_sync;
  }
}

Status MutantEnv::sync(Handle file) {
  Known& known = open_[file];
  if (dropped(known)) return {};
  known.last = Last::nothing;
  Status synced = base_.sync(file);
  if (mutation_ == Mutation::failed_sync_unnoticed && known.name == layout::history) return {};
  return synced;
}

void MutantEnv::close(Handle handle) {
  open_.erase(handle);
  base_.close(handle);
}

Status MutantEnv::unlink(Handle dir, const std::string& name) {
  open_[dir].last = Last::written;
  return base_.unlink(dir, name);
}

Status MutantEnv::rename_new(Handle from_dir, const std::string& from, Handle to_dir, const std::string& to) {
  open_[from_dir].last = open_[to_dir].last = Last::written;
  return base_.rename_new(from_dir, from, to_dir, to);
}

Status MutantEnv::rename_over(Handle dir, const std::string& from, const std::string& to) {
  open_[dir].last = Last::renamed;
  if (mutation_ == Mutation::copy_rename && from == layout::history_repair) return {};
  return base_.rename_over(dir, from, to);
}

Status MutantEnv::exchange(Handle dir, const std::string& a, const std::string& b) {
  if (mutation_ == Mutation::state_exchange) return {};
  return base_.exchange(dir, a, b);
}

}  // namespace sessiond
