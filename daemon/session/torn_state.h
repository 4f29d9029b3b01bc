// A state file after a power cut. State files are not synced: the disk may hold blocks of several of its
// versions, or blocks that were never written. Such a file may still parse, and must not pass for an edit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sessiond {

// True when every block of `bytes` is the same block of one of the `versions`, or zeros. A person's edit that
// only puts back what stood there before looks the same: whoever replaces the file keeps a copy.
bool torn_between(std::string_view bytes, const std::vector<std::string>& versions);

}  // namespace sessiond
