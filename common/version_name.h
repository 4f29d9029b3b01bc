// The names of kept versions of a file: "draft.md" is kept as "draft.v1.md", "draft.v2.md" and so on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sessiond {

// "draft.md" and 3 give "draft.v3.md".
std::string version_name(std::string_view file, int version);
// The version in a kept name of `file`: "draft.v3.md" gives 3.
std::optional<int> version_of(std::string_view file, std::string_view name);

}  // namespace sessiond
