// The table of kinds.
#pragma once

#include <span>
#include <string_view>

#include "daemon/kinds/kind.h"

namespace sessiond {

std::span<const Kind* const> all_kinds();
// Null for an unknown name.
const Kind* find_kind(std::string_view name);

}  // namespace sessiond
