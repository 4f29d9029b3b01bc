// The one list of methods.
#pragma once

#include <span>

#include "proto/methods_daemon.h"

namespace sessiond {

using AllMethods = JoinLists<DaemonMethods>::type;

// One entry per method of AllMethods, in its order.
std::span<const MethodInfo> all_methods();
const MethodInfo* find_method(std::string_view name);
// The names, for "did you mean".
std::span<const std::string_view> method_names();

}  // namespace sessiond
