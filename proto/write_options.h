// The parameters that every write accepts beside its own.
#pragma once

#include "proto/describe.h"

namespace sessiond {

struct WriteOptions {
  std::optional<std::int64_t> if_revision;
  std::optional<std::string> idempotency_key;
  std::optional<std::string> agent;
  std::optional<std::string> model;

  static constexpr auto fields() {
    using W = WriteOptions;
    return std::array{
        field<&W::if_revision>("if_revision", "refuse unless the session is at this revision", at_least(0)),
        field<&W::idempotency_key>("idempotency_key",
                                   "a retry with the same key changes nothing and answers as the first",
                                   length(1, 128)),
        field<&W::agent>("agent", "who does this, for the history; default from client.hello",
                         length(1, 128)),
        field<&W::model>("model", "with which model, for the history; default from client.hello",
                         length(1, 128))};
  }
};

}  // namespace sessiond
