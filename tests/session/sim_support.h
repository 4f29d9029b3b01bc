// Sessions on a simulated disk, and what lies on that disk.
#pragma once

#include "daemon/store/layout.h"
#include "tests/session/session_support.h"
#include "tests/support/fault_env.h"
#include "tests/support/sim_env.h"

namespace sessiond {

inline std::unique_ptr<Env> forward(Env& base) { return std::make_unique<ForwardEnv>(base); }

// A disk whose calls can be made to fail; a failed sync loses what it was to write.
struct FaultyDisk {
  SimEnv& sim;
  FaultEnv fault{sim, [this](Handle file) { sim.lose_unsynced(file); }};
};

inline const std::string sim_root = "/roots/workflow/";

inline std::string sim_read(Env& disk, const std::string& dir, const std::string& name) {
  const Result<Open> opened = own(disk, disk.open_root(dir));
  if (!opened) return "";
  const Result<std::string> bytes = read_all(disk, opened->get(), name, history_line_bytes_max);
  return bytes ? *bytes : "";
}

// Replaces a file's content in place, durably.
inline void sim_write(Env& disk, const std::string& dir, const std::string& name, std::string_view bytes) {
  const Open opened(disk, *disk.open_root(dir));
  const Open file(disk, *disk.open_or_create(opened.get(), name));
  REQUIRE(disk.truncate(file.get(), 0).ok());
  REQUIRE(write_all(disk, file.get(), 0, bytes).ok());
  REQUIRE(disk.sync(file.get()).ok());
  REQUIRE(disk.sync_dir(opened.get()).ok());
}

// The content of every file in a directory.
inline std::vector<std::string> sim_files(Env& disk, const std::string& dir) {
  std::vector<std::string> out;
  const Result<Open> opened = own(disk, disk.open_root(dir));
  if (!opened) return out;
  const Result<std::vector<DirEntry>> entries = disk.list(opened->get());
  for (const DirEntry& entry : *entries)
    if (entry.type == FileInfo::Type::file) out.push_back(sim_read(disk, dir, entry.name));
  return out;
}

inline std::unique_ptr<SimEnv> cut_power(const SimEnv& disk, std::size_t which = SimEnv::lost) {
  SameChooser chooser(which);
  return disk.power_cut(chooser);
}

}  // namespace sessiond
