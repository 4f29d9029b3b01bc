// Exceptions come from libraries only (no memory, a JSON value of another type, no thread) and end at the
// edge where work starts: a request, a job of a strand, a worker. There they become an error like any other.
#pragma once

#include "common/error.h"

namespace sessiond {

// Inside a catch block: the exception that is being handled, as an error of code internal.
Error caught_error();

}  // namespace sessiond
