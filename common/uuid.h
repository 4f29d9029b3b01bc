// Random identifiers.
#pragma once

#include <string>

namespace sessiond {

// A version 4 UUID, such as "f47ac10b-58cc-4372-a567-0e02b2c3d479".
std::string make_uuid();

}  // namespace sessiond
