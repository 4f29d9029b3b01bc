#include "proto/discover.h"

#include "common/error.h"
#include "proto/methods.h"
#include "proto/write_options.h"

namespace sessiond {
namespace {

// The parameters of `method`: its own, and for a write those that every write takes.
std::vector<Fields> parameter_groups(const MethodInfo& method) {
  std::vector<Fields> groups{method.params};
  if (method.access == Access::write) groups.push_back(fields_of<WriteOptions>());
  return groups;
}

json::object content_descriptor(const Field& field) {
  return {{"name", field.name},
          {"description", field.about},
          {"required", field.required},
          {"schema", field.schema(field.rules)}};
}

json::object describe_method(const MethodInfo& method) {
  json::array params;
  for (Fields group : parameter_groups(method))
    for (const Field& field : group) params.emplace_back(content_descriptor(field));
  json::object result_schema{{"type", "object"}};
  if (!method.reply.empty()) result_schema = fields_schema({&method.reply, 1});
  return {
      {"name", method.name},         {"summary", method.summary},
      {"paramStructure", "by-name"}, {"x-access", method.access == Access::read ? "read" : "write"},
      {"params", std::move(params)}, {"result", {{"name", "result"}, {"schema", std::move(result_schema)}}}};
}

std::string cell_list(std::span<const Fields> groups) {
  std::string out;
  for (Fields group : groups) {
    for (const Field& field : group) {
      if (!out.empty()) out += ", ";
      out += field.name;
      if (!field.required) out += '?';
    }
  }
  return out;
}

}  // namespace

json::object discover_document() {
  json::array methods;
  for (const MethodInfo& method : all_methods()) methods.emplace_back(describe_method(method));
  json::array errors;
  for (const ErrorInfo& error : error_table())
    errors.emplace_back(json::object{{"code", error.number}, {"message", error.text}, {"data", error.name}});
  return {{"openrpc", "1.2.6"},
          {"info",
           {{"title", "sessiond"},
            {"description", "A local daemon that owns the state of long-running agent work"},
            {"version", SESSIOND_VERSION}}},
          {"methods", std::move(methods)},
          {"x-errors", std::move(errors)}};
}

std::string protocol_tables() {
  std::string out = "### Methods\n\n| method | | parameters | result |\n|---|---|---|---|\n";
  for (const MethodInfo& method : all_methods()) {
    out += "| `" + std::string(method.name) + "` | " + std::string(method.summary);
    if (method.access == Access::write) out += " (write)";
    const std::string reply = method.reply.empty() ? "the document" : cell_list({&method.reply, 1});
    out += " | " + cell_list({&method.params, 1}) + " | " + reply + " |\n";
  }
  out += "\n### Errors\n\n| code | `data.error` | meaning | exit status |\n|---|---|---|---|\n";
  for (const ErrorInfo& error : error_table())
    out += "| " + std::to_string(error.number) + " | `" + std::string(error.name) + "` | " +
           std::string(error.text) + " | " + std::to_string(error.exit_status) + " |\n";
  return out;
}

}  // namespace sessiond
