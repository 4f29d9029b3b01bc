#include "daemon/kinds/kinds.h"

#include <array>

#include "daemon/kinds/essay.h"
#include "daemon/kinds/workflow.h"

namespace sessiond {

std::span<const Kind* const> all_kinds() {
  static const std::array<const Kind*, 2> kinds{&workflow_kind(), &essay_kind()};
  return kinds;
}

const Kind* find_kind(std::string_view name) {
  for (const Kind* kind : all_kinds())
    if (kind->name == name) return kind;
  return nullptr;
}

}  // namespace sessiond
