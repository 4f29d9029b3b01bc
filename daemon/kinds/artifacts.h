// The artifact files of a session as a kind sees them: names, sizes, times, and a way to read one. Kinds do
// no I/O; whoever calls them gives them this view of the directory, and tests give them a map.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "common/result.h"
#include "common/time.h"
#include "common/version_name.h"

namespace sessiond {

struct Artifacts {
  struct Info {
    std::int64_t bytes = 0;
    TimePoint modified;
  };

  std::string directory;              // where they are now
  std::map<std::string, Info> files;  // by name; kept versions included
  std::function<Result<std::string>(const std::string& name)> read;
  // Whether there is something at a path outside of the directory; may be missing.
  std::function<bool(const std::string& path)> exists;

  bool has(const std::string& name) const { return files.contains(name); }
  // The content, or nothing when the file is missing or cannot be read.
  std::string text(const std::string& name) const {
    if (!has(name) || !read) return {};
    Result<std::string> content = read(name);
    return content ? std::move(*content) : std::string();
  }
  // The name under which `name` would be kept if it were archived now.
  std::string kept_name(const std::string& name) const {
    int highest = 0;
    for (const auto& [other, info] : files) highest = std::max(highest, version_of(name, other).value_or(0));
    return version_name(name, highest + 1);
  }
};

}  // namespace sessiond
