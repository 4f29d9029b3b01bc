#include "daemon/rpc/dispatcher.h"

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "daemon/rpc/handlers.h"
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

Error by_position() {
  return Error(ErrorCode::invalid_params, "params: expected an object, parameters are by name");
}

template <class M>
Status invoke(Services& services, Caller& caller, const Call& call, std::string& out) {
  typename M::Params params{};
  static const json::value none;
  const json::value* given = call.params == nullptr ? &none : call.params;
  if (given->is_array()) {
    if (!given->get_array().empty()) return by_position();
    given = &none;
  }
  const Where root{nullptr, "params"};
  const Target target{fields_of<typename M::Params>(), &params};
  SESSIOND_TRY(decode_fields({&target, 1}, *given, root));
  Context context{services, caller};
  SESSIOND_ASSIGN(const typename M::Reply reply, run(For<M>{}, context, params));
  if (call.notification()) return {};
  begin_result(out, call.id);
  Codec<typename M::Reply>::write(reply, out);
  end_reply(out);
  return {};
}

}  // namespace

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
  unsigned char buffer[parse_buffer_bytes];
  json::monotonic_resource memory(buffer, sizeof buffer);
  Result<json::value> message = parse_json(frame, &memory);
  if (!message) {
    refuse(message.error(), out);
  } else if (const json::array* batch = message->if_array()) {
    handle_batch(*batch, caller, out);
  } else {
    handle_message(*message, caller, out);
  }
  return Done::now;
}

void Dispatcher::refuse(const Error& error, std::string& out) { answer_error(nullptr, error, nullptr, out); }

void Dispatcher::handle_message(const json::value& message, Caller& caller, std::string& out) {
  const auto parsed = read_call(message);
  if (const CallError* bad = std::get_if<CallError>(&parsed)) {
    answer_error(bad->id, bad->error, nullptr, out);
    return;
  }
  const Call& call = std::get<Call>(parsed);
  ++(call.notification() ? services_.stats.notifications : services_.stats.requests);
  const auto found = table_.find(call.method);
  const Entry* entry = found == table_.end() ? nullptr : &found->second;
  if (entry != nullptr) ++services_.stats.by_method[entry->index];
  const Status status =
      entry == nullptr ? unknown_method(call.method) : entry->invoke(services_, caller, call, out);
  if (status) return;
  if (call.notification()) {
    // The specification forbids an answer, even to an error.
    services_.stats.count_error(status.error().code);
    log::debug("notification " + std::string(call.method) + " failed: " + status.error().message);
    return;
  }
  answer_error(call.id, status.error(), entry, out);
}

void Dispatcher::handle_batch(const json::array& batch, Caller& caller, std::string& out) {
  ++services_.stats.batches;
  if (Status status = check_batch(batch); !status) {
    refuse(status.error(), out);
    return;
  }
  const std::size_t start = out.size();
  for (const json::value& message : batch) {
    const std::size_t before = out.size();
    out += before == start ? '[' : ',';
    handle_message(message, caller, out);
    if (out.size() == before + 1) out.resize(before);  // a notification leaves nothing
  }
  if (out.size() > start) out += ']';
}

void Dispatcher::answer_error(const json::value* id, Error error, const Entry* entry, std::string& out) {
  services_.stats.count_error(error.code);
  if (entry != nullptr) error.data["operation"] = entry->access == Access::read ? "read" : "update";
  error.data["timestamp"] = format_rfc3339_millis(services_.clock.now());
  error.data["details"] = error.message;
  write_error(out, id, error);
}

}  // namespace sessiond
