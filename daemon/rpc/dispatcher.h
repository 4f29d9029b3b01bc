// The dispatcher: frames in, replies out. It parses a frame, finds each call's method, decodes its
// parameters, runs the handler and spells the reply or the error. It knows no socket, so tests call it
// directly.
//
// On the network thread. A frame is answered exactly once: at once, or later through the caller.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "common/time.h"
#include "daemon/rpc/caller.h"
#include "daemon/rpc/services.h"
#include "proto/message.h"
#include "proto/method.h"

namespace sessiond {

enum class Done { now, later };

class Dispatcher {
 public:
  explicit Dispatcher(Services& services);

  // Handles one frame of `caller`. Done::now: the reply, if there is one, was appended to `out`.
  Done handle(std::string_view frame, Caller& caller, std::string& out);

  // Appends a reply to a frame that could not be read at all.
  void refuse(const Error& error, std::string& out);

 private:
  using Invoke = Result<void> (*)(Services&, Caller&, const Call&, std::string& out);
  struct Entry {
    Invoke invoke;
    Access access;
    std::size_t index;  // in the method list
  };

  template <class M>
  void add();
  template <class... Methods>
  void add_all(MethodList<Methods...>);

  void handle_message(const json::value& message, Caller& caller, std::string& out);
  void handle_batch(const json::array& batch, Caller& caller, std::string& out);
  void answer_error(const json::value* id, Error error, const Entry* entry, std::string& out);

  Services& services_;
  std::unordered_map<std::string_view, Entry> table_;
};

}  // namespace sessiond
