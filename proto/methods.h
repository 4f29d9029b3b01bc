// The one list of methods.
#pragma once

#include <span>

#include "proto/methods_artifact.h"
#include "proto/methods_bundle.h"
#include "proto/methods_daemon.h"
#include "proto/methods_essay.h"
#include "proto/methods_keeping.h"
#include "proto/methods_lifecycle.h"
#include "proto/methods_reading.h"
#include "proto/methods_root.h"
#include "proto/methods_workflow.h"

namespace sessiond {

using AllMethods = JoinLists<DaemonMethods, RootMethods, ReadingMethods, LifecycleMethods, KeepingMethods,
                             BundleMethods, ArtifactMethods, WorkflowMethods, EssayMethods>::type;

// One entry per method of AllMethods, in its order.
std::span<const MethodInfo> all_methods();
const MethodInfo* find_method(std::string_view name);
// The names, for "did you mean".
std::span<const std::string_view> method_names();

}  // namespace sessiond
