#include "common/caught.h"

#include <exception>
#include <new>

namespace sessiond {

Error caught_error() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::internal, "there is no memory left for this"};
  } catch (const std::exception& exception) {
    return {ErrorCode::internal, std::string("a fault inside the daemon: ") + exception.what()};
  } catch (...) {
    return {ErrorCode::internal, "a fault inside the daemon"};
  }
}

}  // namespace sessiond
