#include "proto/message.h"

#include "common/json.h"
#include "common/limits.h"
#include "common/text.h"

namespace sessiond {
namespace {

constexpr std::string_view head = R"({"jsonrpc":"2.0","id":)";

bool valid_id(const json::value& id) {
  if (id.is_string()) return id.get_string().size() <= id_bytes_max;
  return id.is_null() || id.is_number();
}

Error bad_request(std::string message) {
  return Error(ErrorCode::invalid_request, std::move(message))
      .next(R"(send {"jsonrpc":"2.0","id":1,"method":"rpc.discover"} to see the methods)");
}

Error bad_id(const json::value& id) {
  if (id.is_string()) return bad_request("id: longer than " + std::to_string(id_bytes_max) + " bytes");
  return bad_request("id: expected a string, a number or null, got " + brief(id));
}

void append_id(std::string& out, const json::value* id) {
  out += head;
  if (id == nullptr)
    out += "null";
  else
    print_json(out, *id);
}

}  // namespace

std::variant<Call, CallError> read_call(const json::value& message) {
  const json::object* object = message.if_object();
  if (object == nullptr) return CallError{bad_request("expected a request object, got " + brief(message))};
  Call call;
  call.id = object->if_contains("id");
  if (call.id != nullptr && !valid_id(*call.id)) return CallError{bad_id(*call.id)};
  const json::value* version = object->if_contains("jsonrpc");
  if (version == nullptr || !version->is_string() || version->get_string() != "2.0")
    return CallError{bad_request(R"(jsonrpc: expected "2.0")"), call.id};
  const json::value* method = object->if_contains("method");
  if (method == nullptr || !method->is_string())
    return CallError{
        bad_request("method: expected a string" +
                    (method == nullptr ? std::string(", it is missing") : ", got " + brief(*method))),
        call.id};
  call.method = method->get_string();
  call.params = object->if_contains("params");
  if (call.params != nullptr && !call.params->is_object() && !call.params->is_array())
    return CallError{bad_request("params: expected an object, got " + brief(*call.params)), call.id};
  return call;
}

Status check_batch(const json::array& batch) {
  if (batch.empty()) return bad_request("the batch is empty");
  if (batch.size() <= batch_requests_max) return {};
  return Error(ErrorCode::limit_exceeded, "the batch has " + std::to_string(batch.size()) +
                                              " requests, the limit is " + std::to_string(batch_requests_max))
      .next("send several smaller batches");
}

void begin_result(std::string& out, const json::value* id) {
  append_id(out, id);
  out += R"(,"result":)";
}

void end_reply(std::string& out) { out += '}'; }

void write_error(std::string& out, const json::value* id, const Error& error) {
  const ErrorInfo& info = error_info(error.code);
  append_id(out, id);
  out += R"(,"error":{"code":)";
  out += std::to_string(info.number);
  out += R"(,"message":)";
  print_json_string(out, error.message);
  out += R"(,"data":{"error":)";
  print_json_string(out, info.name);
  for (const auto& [name, value] : error.data) {
    out += ',';
    print_json_string(out, name);
    out += ':';
    print_json(out, value);
  }
  out += "}}}";
}

void write_notification(std::string& out, std::string_view method, std::string_view params_text) {
  out += R"({"jsonrpc":"2.0","method":)";
  print_json_string(out, method);
  (out += R"(,"params":)") += params_text;
  out += '}';
}

void write_request(std::string& out, std::int64_t id, std::string_view method, std::string_view params_text) {
  ((out += head) += std::to_string(id)) += R"(,"method":)";
  print_json_string(out, method);
  if (!params_text.empty()) (out += R"(,"params":)") += params_text;
  out += '}';
}

}  // namespace sessiond
