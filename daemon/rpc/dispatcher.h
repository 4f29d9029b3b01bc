// The dispatcher: frames in, replies out. It parses a frame, finds each call's method and spells the reply or
// the error; invoke.h takes a call to its handler. It knows no socket, so tests call it directly.
//
// handle() runs on the network thread. A frame is answered exactly once: at once, or later through the
// caller. An exception in a handler is answered as `internal` and ends there.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "daemon/rpc/caller.h"
#include "daemon/rpc/services.h"
#include "proto/message.h"
#include "proto/method.h"

namespace sessiond {

enum class Done { now, later };

struct Context;

class Dispatcher {
 public:
  // Takes the reply to one call; empty text when there is none. On any thread, once.
  using Send = std::function<void(std::string)>;
  using MakeSend = std::function<Send()>;

  explicit Dispatcher(Services& services);

  // Handles one frame of `caller`. Done::now: the reply, if there is one, was appended to `out`.
  Done handle(std::string_view frame, Caller& caller, std::string& out);

  // Appends a reply to a frame that could not be read at all.
  void refuse(const Error& error, std::string& out);

 private:
  using Invoke = Result<Done> (*)(Context&, const Call&, std::string& out, const MakeSend&);
  struct Entry {
    Invoke invoke;
    Access access;
    std::size_t index;  // in the method list
  };

  template <class M>
  void add();
  template <class... Methods>
  void add_all(MethodList<Methods...>);

  Done handle_frame(std::string_view frame, Caller& caller, std::string& out);
  Result<Done> invoke_guarded(const Entry& entry, const Call& call, Caller& caller, std::string& out,
                              const MakeSend& make_send);
  Done handle_message(const json::value& message, Caller& caller, std::string& out,
                      const MakeSend& make_send);
  Done handle_batch(const json::array& batch, Caller& caller, std::string& out);

  Services& services_;
  std::unordered_map<std::string_view, Entry> table_;
};

// The parameters of a call, which are by name; a null value when there are none.
Result<const json::value*> named_parameters(const Call& call);

// Appends an error reply with what every error carries: operation, timestamp, details. On any thread.
void spell_error(Services& services, const json::value* id, const Error& error, std::optional<Access> access,
                 std::string& out);

}  // namespace sessiond
