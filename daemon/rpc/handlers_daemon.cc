// Handlers of methods_daemon.h.
#include <unistd.h>

#include <fstream>

#include "common/json.h"
#include "daemon/kinds/kinds.h"
#include "daemon/rpc/handlers.h"
#include "proto/discover.h"

namespace sessiond {
namespace {

std::int64_t uptime_seconds(const Services& services) {
  return (services.clock.boottime() - services.started_at).count() / 1000;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const Kind* kind : all_kinds()) names.emplace_back(kind->name);
  return names;
}

std::vector<std::string> root_names(const Registry& registry) {
  std::vector<std::string> names;
  for (const RootInfo& root : registry.roots()) names.push_back(root.name);
  return names;
}

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

void metric(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  ((((out += "# HELP sessiond_") += name) += ' ') += help) += '\n';
  ((((out += "# TYPE sessiond_") += name) += ' ') += type) += '\n';
}

void sample(std::string& out, std::string_view name, std::int64_t value, std::string_view label = {},
            std::string_view label_value = {}) {
  (out += "sessiond_") += name;
  if (!label.empty()) ((((out += '{') += label) += "=\"") += label_value) += "\"}";
  ((out += ' ') += std::to_string(value)) += '\n';
}

std::string prometheus_text(const DaemonStats::Reply& reply) {
  std::string out;
  const auto single = [&](std::string_view name, std::string_view type, std::string_view help,
                          std::int64_t value) {
    metric(out, name, type, help);
    sample(out, name, value);
  };
  single("uptime_seconds", "gauge", "Seconds since the daemon started.", reply.uptime_seconds);
  single("notifications_total", "counter", "Requests without an id.", reply.notifications);
  single("batches_total", "counter", "Batches received.", reply.batches);
  metric(out, "requests_total", "counter", "Calls by method.");
  for (const auto& [method, count] : reply.requests_by_method)
    sample(out, "requests_total", count, "method", method);
  metric(out, "errors_total", "counter", "Error replies by name.");
  for (const auto& [name, count] : reply.errors) sample(out, "errors_total", count, "error", name);
  single("connections_open", "gauge", "Open connections.", reply.connections.open);
  single("connections_accepted_total", "counter", "Accepted connections.", reply.connections.accepted);
  single("connections_refused_total", "counter", "Refused connections.", reply.connections.refused);
  single("connections_dropped_total", "counter", "Connections closed for breaking a limit.",
         reply.connections.dropped);
  metric(out, "sessions", "gauge", "Known sessions by kind and status.");
  for (const auto& [kind, statuses] : reply.sessions)
    for (const auto& [status, count] : statuses)
      out += "sessiond_sessions{kind=\"" + kind + "\",status=\"" + status + "\"} " + std::to_string(count) +
             "\n";
  single("commits_total", "counter", "Commands that became durable.", reply.commits.commits);
  single("syncs_total", "counter", "Syncs of histories.", reply.commits.syncs);
  single("history_bytes_total", "counter", "Bytes appended to histories.", reply.commits.history_bytes);
  metric(out, "commit_microseconds", "summary", "Time from the start of a commit to its being durable.");
  sample(out, "commit_microseconds", reply.commits.p50_us, "quantile", "0.5");
  sample(out, "commit_microseconds", reply.commits.p95_us, "quantile", "0.95");
  sample(out, "commit_microseconds", reply.commits.p99_us, "quantile", "0.99");
  single("resident_memory_bytes", "gauge", "Resident memory.", reply.memory_bytes);
  return out;
}

}  // namespace

Result<DaemonPing::Reply> run(For<DaemonPing>, Context&, const DaemonPing::Params&) {
  return DaemonPing::Reply{.pong = true, .version = SESSIOND_VERSION};
}

Result<DaemonInfo::Reply> run(For<DaemonInfo>, Context& context, const DaemonInfo::Params&) {
  const Config& config = context.services.config;
  const Limits& limits = config.limits;
  const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  return DaemonInfo::Reply{.version = SESSIOND_VERSION,
                           .pid = getpid(),
                           .uptime_seconds = uptime_seconds(context.services),
                           .socket = config.socket,
                           .state_directory = config.state_dir,
                           .kinds = kind_names(),
                           .roots = root_names(context.services.registry),
                           .config_files = config.files,
                           .log_level = std::string(log::level_name(config.log_level)),
                           .limits = {.frame_bytes = number(limits.frame_bytes),
                                      .connections = number(limits.connections),
                                      .connections_per_uid = number(limits.connections_per_uid),
                                      .outbox_bytes = number(limits.outbox_bytes),
                                      .handshake_ms = limits.handshake.count(),
                                      .stall_ms = limits.stall.count(),
                                      .json_depth = number(json_depth_max),
                                      .batch_requests = number(batch_requests_max),
                                      .id_bytes = number(id_bytes_max),
                                      .header_bytes = number(header_bytes_max),
                                      .requests_in_flight = number(requests_in_flight_max)}};
}

Result<DaemonStats::Reply> run(For<DaemonStats>, Context& context, const DaemonStats::Params& params) {
  const Stats& stats = context.services.stats;
  DaemonStats::Reply reply;
  reply.uptime_seconds = uptime_seconds(context.services);
  reply.requests = stats.requests;
  reply.notifications = stats.notifications;
  reply.batches = stats.batches;
  const auto methods = all_methods();
  for (std::size_t i = 0; i < methods.size(); ++i)
    if (stats.by_method[i] > 0) reply.requests_by_method[std::string(methods[i].name)] = stats.by_method[i];
  for (const ErrorInfo& info : error_table()) {
    const std::int64_t count = stats.errors(info.code);
    if (count > 0) reply.errors[std::string(info.name)] = count;
  }
  reply.connections = {.open = stats.connections_open,
                       .accepted = stats.connections_accepted,
                       .refused = stats.connections_refused,
                       .dropped = stats.connections_dropped};
  reply.memory_bytes = resident_bytes();
  reply.sessions = context.services.registry.counts();
  const CommitStats& commits = context.services.registry.commits();
  reply.commits = {.commits = commits.commits(),
                   .syncs = commits.syncs(),
                   .history_bytes = commits.history_bytes(),
                   .p50_us = commits.quantile_us(0.5),
                   .p95_us = commits.quantile_us(0.95),
                   .p99_us = commits.quantile_us(0.99)};
  if (params.format == "prometheus") reply.text = prometheus_text(reply);
  return reply;
}

Result<ClientHello::Reply> run(For<ClientHello>, Context& context, const ClientHello::Params& params) {
  Caller& caller = context.caller;
  if (params.agent) caller.agent = params.agent;
  if (params.model) caller.model = params.model;
  if (params.name) caller.name = params.name;
  return ClientHello::Reply{.uid = caller.uid,
                            .gid = caller.gid,
                            .pid = caller.pid,
                            .agent = caller.agent,
                            .model = caller.model,
                            .name = caller.name,
                            .version = SESSIOND_VERSION};
}

Result<RpcDiscover::Reply> run(For<RpcDiscover>, Context&, const RpcDiscover::Params&) {
  static const std::string text = to_json_text(discover_document());
  return RawJson{text};
}

}  // namespace sessiond
