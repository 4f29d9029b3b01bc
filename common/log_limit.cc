#include "common/log_limit.h"

#include <string>

namespace sessiond {

void LogLimit::write(std::string_view message, Clock::time_point now) {
  if (began_ == Clock::time_point::min() || now - began_ >= interval_) {
    if (left_out_ > 0) log::write(level_, "left out: " + std::to_string(left_out_) + " more like the last");
    began_ = now;
    written_ = left_out_ = 0;
  }
  if (written_ == lines_max_) {
    ++left_out_;
    return;
  }
  ++written_;
  log::write(level_, message);
}

}  // namespace sessiond
