#include "daemon/session/torn_state.h"

#include <algorithm>

namespace sessiond {
namespace {

// What disks write at once is a multiple of it; larger blocks are runs of these.
constexpr std::size_t block_bytes = 512;

bool all_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

// The bytes behind a version's end are zeros.
bool same_block(std::string_view block, std::string_view version, std::size_t at) {
  const std::string_view there = at < version.size() ? version.substr(at, block.size()) : std::string_view();
  return block.starts_with(there) && all_zero(block.substr(there.size()));
}

}  // namespace

bool torn_between(std::string_view bytes, const std::vector<std::string>& versions) {
  for (std::size_t at = 0; at < bytes.size(); at += block_bytes) {
    const std::string_view block = bytes.substr(at, block_bytes);
    const bool known = std::any_of(versions.begin(), versions.end(), [&](const std::string& version) {
      return same_block(block, version, at);
    });
    if (!known && !all_zero(block)) return false;
  }
  return true;
}

}  // namespace sessiond
