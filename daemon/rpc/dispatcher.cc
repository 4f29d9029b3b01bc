#include "daemon/rpc/dispatcher.h"

#include <atomic>
#include <memory>
#include <vector>

#include "common/caught.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "daemon/rpc/invoke.h"
#include "proto/methods.h"

namespace sessiond {
namespace {

// Most requests fit; larger ones continue on the heap.
constexpr std::size_t parse_buffer_bytes = 4 * 1024;

Error unknown_method(std::string_view name) {
  return Error(ErrorCode::method_not_found,
               "there is no method " + quoted(name) + did_you_mean(name, method_names()))
      .next("rpc.discover lists the methods");
}

// The replies of a batch, some of which come later and from other threads. The last one to arrive sends them
// all, in the order of the calls.
class BatchReplies {
 public:
  BatchReplies(std::size_t calls, Dispatcher::Send send)
      : parts_(calls), missing_(calls), send_(std::move(send)) {}

  // True when this was the last one and the whole was sent.
  void put(std::size_t index, std::string part) {
    parts_[index] = std::move(part);
    if (missing_.fetch_sub(1) == 1) send_(joined());
  }

  std::string joined() const {
    std::string out;
    for (const std::string& part : parts_) {
      if (part.empty()) continue;
      (out += out.empty() ? '[' : ',') += part;
    }
    if (!out.empty()) out += ']';
    return out;
  }

 private:
  std::vector<std::string> parts_;
  std::atomic<std::size_t> missing_;
  Dispatcher::Send send_;
};

}  // namespace

Result<const json::value*> named_parameters(const Call& call) {
  static const json::value none;
  if (call.params == nullptr) return &none;
  if (!call.params->is_array()) return call.params;
  if (call.params->get_array().empty()) return &none;
  return Error(ErrorCode::invalid_params, "params: expected an object, parameters are by name");
}

void spell_error(Services& services, const json::value* id, const Error& error, std::optional<Access> access,
                 std::string& out) {
  services.stats.count_error(error.code);
  Error full = error;
  if (access && !full.data.contains("operation"))
    full.data["operation"] = *access == Access::read ? "read" : "update";
  full.data["timestamp"] = format_rfc3339_millis(services.clock.now());
  full.data["details"] = full.message;
  write_error(out, id, full);
}

Status invoke_detail::wrong_kind(std::string_view method, std::string_view wanted,
                                 const SessionPlace& place) {
  return Error(ErrorCode::refused, std::string(method) + " needs a session of kind " + std::string(wanted) +
                                       ", but " + quoted(place.id) + " is of kind " +
                                       std::string(place.kind->name))
      .with("session_id", place.id);
}

Actor actor_of(const Context& context, const WriteOptions& options) {
  const Caller& caller = context.caller;
  Actor actor;
  actor.viewer.uid = static_cast<std::int64_t>(caller.uid);
  if (caller.uid != 0 && caller.uid != context.services.own_uid) actor.viewer.only_uid = actor.viewer.uid;
  actor.agent = options.agent ? options.agent : caller.agent;
  actor.model = options.model ? options.model : caller.model;
  return actor;
}

template <class M>
void Dispatcher::add() {
  table_.emplace(M::name, Entry{&invoke<M>, M::access, table_.size()});
}

template <class... Methods>
void Dispatcher::add_all(MethodList<Methods...>) {
  (add<Methods>(), ...);
}

Dispatcher::Dispatcher(Services& services) : services_(services) {
  add_all(AllMethods{});
  services_.stats.by_method.resize(table_.size());
}

Done Dispatcher::handle(std::string_view frame, Caller& caller, std::string& out) {
  const std::size_t before = out.size();
  try {
    return handle_frame(frame, caller, out);
  } catch (...) {
    out.resize(before);
    refuse(caught_error(), out);
    return Done::now;
  }
}

Done Dispatcher::handle_frame(std::string_view frame, Caller& caller, std::string& out) {
  unsigned char buffer[parse_buffer_bytes];
  json::monotonic_resource memory(buffer, sizeof buffer);
  Result<json::value> message = parse_json(frame, &memory);
  if (!message) {
    refuse(message.error(), out);
    return Done::now;
  }
  if (const json::array* batch = message->if_array()) return handle_batch(*batch, caller, out);
  return handle_message(*message, caller, out, [&caller] { return caller.later; });
}

void Dispatcher::refuse(const Error& error, std::string& out) {
  spell_error(services_, nullptr, error, std::nullopt, out);
}

Done Dispatcher::handle_message(const json::value& message, Caller& caller, std::string& out,
                                const MakeSend& make_send) {
  const auto parsed = read_call(message);
  if (const CallError* bad = std::get_if<CallError>(&parsed)) {
    spell_error(services_, bad->id, bad->error, std::nullopt, out);
    return Done::now;
  }
  const Call& call = std::get<Call>(parsed);
  ++(call.notification() ? services_.stats.notifications : services_.stats.requests);
  const auto found = table_.find(call.method);
  const Entry* entry = found == table_.end() ? nullptr : &found->second;
  if (entry != nullptr) ++services_.stats.by_method[entry->index];
  const Result<Done> done =
      entry == nullptr ? unknown_method(call.method) : invoke_guarded(*entry, call, caller, out, make_send);
  if (done) return *done;
  if (call.notification()) {
    // The specification forbids an answer, even to an error.
    services_.stats.count_error(done.error().code);
    log::debug("notification " + std::string(call.method) + " failed: " + done.error().message);
    return Done::now;
  }
  std::optional<Access> access;
  if (entry != nullptr) access = entry->access;
  spell_error(services_, call.id, done.error(), access, out);
  return Done::now;
}

// An exception before the reply was promised to come later; after that the replier answers it.
Result<Done> Dispatcher::invoke_guarded(const Entry& entry, const Call& call, Caller& caller,
                                        std::string& out, const MakeSend& make_send) {
  const std::size_t before = out.size();
  try {
    Context context{services_, caller};
    return entry.invoke(context, call, out, make_send);
  } catch (...) {
    out.resize(before);
    return caught_error();
  }
}

Done Dispatcher::handle_batch(const json::array& batch, Caller& caller, std::string& out) {
  ++services_.stats.batches;
  if (Status status = check_batch(batch); !status) {
    refuse(status.error(), out);
    return Done::now;
  }
  // One more part than calls: this loop's own, so that nothing is sent before it has gone through all.
  const auto replies = std::make_shared<BatchReplies>(batch.size() + 1, caller.later);
  bool all_now = true;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::string part;
    const auto make_send = [&replies, i] {
      return Send([replies, i](std::string text) { replies->put(i, std::move(text)); });
    };
    if (handle_message(batch[i], caller, part, make_send) == Done::now)
      replies->put(i, std::move(part));
    else
      all_now = false;
  }
  if (all_now) {
    out += replies->joined();
    return Done::now;
  }
  replies->put(batch.size(), {});
  return Done::later;
}

}  // namespace sessiond
