// A bundle: one session in one tar file, so that any tar can open it. First comes bundle.json with the kind,
// the id, the revision and the SHA-256 of every other file; then history.jsonl, the state files and the
// artifacts.
//
// Reading trusts nothing: only plain tar without compression, only regular files with names that a session
// directory may have, sizes bounded, everything that is listed present and unaltered, nothing else.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "daemon/store/session_store.h"

namespace sessiond {

// Bytes of a whole bundle; it is held in memory.
inline constexpr std::size_t bundle_bytes_max = 256UL * 1024 * 1024;
inline constexpr std::size_t bundle_files_max = 10'000;

struct Bundle {
  std::string kind;
  std::string session_id;
  std::int64_t revision = 0;
  std::string history;            // whole lines
  std::vector<StateBytes> files;  // state files and artifacts
};

Result<std::string> pack_bundle(const Bundle& bundle);
Result<Bundle> unpack_bundle(std::string_view bytes);
// Whether these bytes are meant to be a bundle rather than a state file.
bool looks_like_bundle(std::string_view bytes);

}  // namespace sessiond
