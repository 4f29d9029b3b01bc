#include "common/uuid.h"

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace sessiond {

std::string make_uuid() { return boost::uuids::to_string(boost::uuids::random_generator()()); }

}  // namespace sessiond
