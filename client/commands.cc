#include "client/commands.h"

#include <cstdio>

#include "client/arguments.h"
#include "client/daemon_link.h"
#include "client/render.h"
#include "common/json.h"
#include "common/text.h"
#include "proto/discover.h"

namespace sessiond {
namespace {

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// What a session holds may come from anybody.
void print_foreign(std::string_view text, std::FILE* file = stdout) {
  const std::string safe = for_terminal(text);
  std::fwrite(safe.data(), 1, safe.size(), file);
}

int fail(const Options& options, const Error& error) {
  const ErrorInfo& info = error_info(error.code);
  if (options.json) {
    json::object data = error.data;
    data["error"] = info.name;
    json::object reply{
        {"error", {{"code", info.number}, {"message", error.message}, {"data", std::move(data)}}}};
    print(to_json_text(reply) + "\n");
  } else {
    print_foreign(render_error(error), stderr);
  }
  return info.exit_status;
}

Result<json::value> ask(const Options& options, std::string_view method, const json::object& params = {}) {
  SESSIOND_ASSIGN(DaemonLink link, DaemonLink::open(options.socket, options.timeout));
  return link.call(method, params.empty() ? "" : to_json_text(params));
}

// The daemon's own description if one answers: it may be newer than this client.
json::object describe_methods(const Options& options) {
  Result<json::value> document = ask(options, "rpc.discover");
  if (document && document->is_object()) return std::move(document->get_object());
  return discover_document();
}

std::string_view name_of(const json::value& method) {
  const json::value* name = method.is_object() ? method.get_object().if_contains("name") : nullptr;
  return name != nullptr && name->is_string() ? std::string_view(name->get_string()) : std::string_view();
}

const json::object* find_method(const json::object& document, std::string_view name) {
  for (const json::value& method : document.at("methods").as_array())
    if (name_of(method) == name) return &method.get_object();
  return nullptr;
}

Error no_method(const json::object& document, std::string_view name) {
  std::vector<std::string_view> known;
  for (const json::value& method : document.at("methods").as_array()) known.push_back(name_of(method));
  return Error(ErrorCode::method_not_found, "there is no method " + quoted(name) + did_you_mean(name, known))
      .next("'sessiond-client discover' lists the methods");
}

int show(const Options& options, const json::value& result) {
  if (options.json)
    print(to_json_text(result) + "\n");
  else if (result.is_object())
    print_foreign(render_members(result.get_object()));
  else
    print(render_json(result) + "\n");
  return 0;
}

}  // namespace

int ping(const Options& options) {
  Result<DaemonLink> link = DaemonLink::open(options.socket, options.timeout);
  if (!link) return fail(options, link.error());
  const auto before = std::chrono::steady_clock::now();
  const Result<json::value> reply = link->call("daemon.ping", "");
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
  if (!reply) return fail(options, reply.error());
  if (options.json) return show(options, *reply);
  const json::object& pong = reply->get_object();
  std::printf("pong from sessiond %s in %.2f ms\n", pong.at("version").as_string().c_str(), took.count());
  return 0;
}

int info(const Options& options) {
  const Result<json::value> reply = ask(options, "daemon.info");
  return reply ? show(options, *reply) : fail(options, reply.error());
}

int stats(const Options& options, bool prometheus) {
  json::object params;
  if (prometheus) params["format"] = "prometheus";
  const Result<json::value> reply = ask(options, "daemon.stats", params);
  if (!reply) return fail(options, reply.error());
  if (!prometheus || options.json) return show(options, *reply);
  print(reply->get_object().at("text").as_string());
  return 0;
}

int discover(const Options& options, const std::string& method, bool tables) {
  if (tables) {
    print(protocol_tables());
    return 0;
  }
  const json::object document = describe_methods(options);
  if (!method.empty()) {
    const json::object* found = find_method(document, method);
    if (found == nullptr) return fail(options, no_method(document, method));
    print(options.json ? to_json_text(*found) + "\n" : render_method(*found));
    return 0;
  }
  print(options.json ? to_json_text(document) + "\n" : render_method_list(document));
  return 0;
}

int call(const Options& options, const std::string& method, const std::vector<std::string>& words,
         bool help) {
  if (help) return discover(options, method, false);
  json::object params;
  if (!words.empty()) {
    // The list that this client was built with answers at once; a newer daemon is asked for what is not in
    // it.
    json::object document = discover_document();
    const json::object* found = find_method(document, method);
    if (found == nullptr) {
      document = describe_methods(options);
      found = find_method(document, method);
    }
    if (found == nullptr) return fail(options, no_method(document, method));
    Result<json::object> parsed = parse_arguments(*found, words);
    if (!parsed) return fail(options, parsed.error());
    params = std::move(*parsed);
  }
  Result<json::value> reply = ask(options, method, params);
  if (!reply) return fail(options, reply.error());
  print((options.json ? to_json_text(*reply) : render_json(*reply)) + "\n");
  return 0;
}

}  // namespace sessiond
