// The methods about the daemon itself, the caller and the protocol.
#pragma once

#include "proto/method.h"

namespace sessiond {

struct DaemonPing {
  static constexpr std::string_view name = "daemon.ping";
  static constexpr std::string_view summary = "Answers at once: the daemon is alive";
  static constexpr Access access = Access::read;
  using Params = Nothing;
  struct Reply {
    bool pong = true;
    std::string version;
    static constexpr auto fields() {
      return std::array{field<&Reply::pong>("pong", "always true"),
                        field<&Reply::version>("version", "version of the daemon")};
    }
  };
};

struct DaemonInfo {
  static constexpr std::string_view name = "daemon.info";
  static constexpr std::string_view summary =
      "Tells what this daemon is, where it keeps things and its limits";
  static constexpr Access access = Access::read;
  using Params = Nothing;
  struct LimitsReply {
    std::int64_t frame_bytes = 0, connections = 0, connections_per_uid = 0, outbox_bytes = 0,
                 handshake_ms = 0, stall_ms = 0, json_depth = 0, batch_requests = 0, id_bytes = 0,
                 header_bytes = 0, requests_in_flight = 0;
    static constexpr auto fields() {
      using L = LimitsReply;
      return std::array{
          field<&L::frame_bytes>("frame_bytes", "bytes of one request"),
          field<&L::connections>("connections", "open connections in all"),
          field<&L::connections_per_uid>("connections_per_uid", "open connections of one user"),
          field<&L::outbox_bytes>("outbox_bytes", "unread replies above which a peer is no longer read from"),
          field<&L::handshake_ms>("handshake_ms",
                                  "time for a first request, and for any request to be complete"),
          field<&L::stall_ms>("stall_ms", "time after which a peer that reads nothing is disconnected"),
          field<&L::json_depth>("json_depth", "levels of nesting"),
          field<&L::batch_requests>("batch_requests", "requests in one batch"),
          field<&L::id_bytes>("id_bytes", "bytes of a request's id"),
          field<&L::header_bytes>("header_bytes", "bytes of the headers of one frame"),
          field<&L::requests_in_flight>("requests_in_flight", "unanswered requests of one connection")};
    }
  };
  struct Reply {
    std::string version;
    std::int64_t pid = 0;
    std::int64_t uptime_seconds = 0;
    std::string socket;
    std::string state_directory;
    std::vector<std::string> kinds;
    std::vector<std::string> roots;
    std::vector<std::string> config_files;
    std::string log_level;
    LimitsReply limits;
    static constexpr auto fields() {
      return std::array{field<&Reply::version>("version", "version of the daemon"),
                        field<&Reply::pid>("pid", "process id of the daemon"),
                        field<&Reply::uptime_seconds>("uptime_seconds", "seconds since it started"),
                        field<&Reply::socket>("socket", "path of the socket it listens on"),
                        field<&Reply::state_directory>("state_directory", "directory that it owns"),
                        field<&Reply::kinds>("kinds", "kinds of session that it knows"),
                        field<&Reply::roots>("roots", "names of the directories that hold sessions"),
                        field<&Reply::config_files>("config_files", "configuration files that were read"),
                        field<&Reply::log_level>("log_level", "trace, debug, info, warn or error"),
                        field<&Reply::limits>("limits", "the limits in force")};
    }
  };
};

struct DaemonStats {
  static constexpr std::string_view name = "daemon.stats";
  static constexpr std::string_view summary = "Counts what the daemon did since it started";
  static constexpr Access access = Access::read;
  static constexpr std::array<std::string_view, 2> formats{"json", "prometheus"};
  struct Params {
    std::optional<std::string> format;
    static constexpr auto fields() {
      return std::array{field<&Params::format>("format", "json (default) or prometheus", one_of(formats))};
    }
  };
  struct Commits {
    std::int64_t commits = 0, syncs = 0, history_bytes = 0, p50_us = 0, p95_us = 0, p99_us = 0;
    static constexpr auto fields() {
      using C = Commits;
      return std::array{
          field<&C::commits>("commits", "commands that became durable"),
          field<&C::syncs>("syncs", "syncs that made them so; commands that wait together share one"),
          field<&C::history_bytes>("history_bytes", "bytes appended to histories"),
          field<&C::p50_us>("p50_us", "half of the commits took at most this long"),
          field<&C::p95_us>("p95_us", "95 % of the commits took at most this long"),
          field<&C::p99_us>("p99_us", "99 % of the commits took at most this long")};
    }
  };
  struct Connections {
    std::int64_t open = 0, accepted = 0, refused = 0, dropped = 0;
    static constexpr auto fields() {
      using C = Connections;
      return std::array{field<&C::open>("open", "open now"),
                        field<&C::accepted>("accepted", "accepted so far"),
                        field<&C::refused>("refused", "refused by access or limits"),
                        field<&C::dropped>("dropped", "closed by the daemon for breaking a limit")};
    }
  };
  struct Reply {
    std::int64_t uptime_seconds = 0;
    std::int64_t requests = 0;
    std::int64_t notifications = 0;
    std::int64_t batches = 0;
    std::map<std::string, std::int64_t> requests_by_method;
    std::map<std::string, std::int64_t> errors;
    Connections connections;
    std::map<std::string, std::map<std::string, std::int64_t>> sessions;
    Commits commits;
    std::int64_t memory_bytes = 0;
    std::optional<std::string> text;
    static constexpr auto fields() {
      return std::array{field<&Reply::uptime_seconds>("uptime_seconds", "seconds since it started"),
                        field<&Reply::requests>("requests", "requests answered, notifications not counted"),
                        field<&Reply::notifications>("notifications", "requests without an id"),
                        field<&Reply::batches>("batches", "batches received"),
                        field<&Reply::requests_by_method>("requests_by_method", "calls of each method"),
                        field<&Reply::errors>("errors", "error replies by name"),
                        field<&Reply::connections>("connections", "connections"),
                        field<&Reply::sessions>("sessions", "known sessions by kind and status"),
                        field<&Reply::commits>("commits", "changes made durable"),
                        field<&Reply::memory_bytes>("memory_bytes", "resident memory"),
                        field<&Reply::text>("text", "the same in Prometheus' text format, if asked for")};
    }
  };
};

struct ClientHello {
  static constexpr std::string_view name = "client.hello";
  static constexpr std::string_view summary =
      "Introduces the caller; agent and model become defaults of this connection";
  static constexpr Access access = Access::read;
  struct Params {
    std::optional<std::string> agent;
    std::optional<std::string> model;
    std::optional<std::string> name;
    static constexpr auto fields() {
      return std::array{field<&Params::agent>("agent", "agent that calls, for the history", length(1, 128)),
                        field<&Params::model>("model", "model that it uses, for the history", length(1, 128)),
                        field<&Params::name>("name", "name of the calling program", length(1, 128))};
    }
  };
  struct Reply {
    std::int64_t uid = 0;
    std::int64_t gid = 0;
    std::int64_t pid = 0;
    std::optional<std::string> agent;
    std::optional<std::string> model;
    std::optional<std::string> name;
    std::string version;
    static constexpr auto fields() {
      return std::array{field<&Reply::uid>("uid", "user id of the caller, from the kernel"),
                        field<&Reply::gid>("gid", "group id of the caller, from the kernel"),
                        field<&Reply::pid>("pid", "process id of the caller, from the kernel"),
                        field<&Reply::agent>("agent", "agent of this connection"),
                        field<&Reply::model>("model", "model of this connection"),
                        field<&Reply::name>("name", "name of the calling program"),
                        field<&Reply::version>("version", "version of the daemon")};
    }
  };
};

struct RpcDiscover {
  static constexpr std::string_view name = "rpc.discover";
  static constexpr std::string_view summary = "Describes every method as an OpenRPC document";
  static constexpr Access access = Access::read;
  using Params = Nothing;
  // The reply is the document itself; see discover.h.
  using Reply = RawJson;
};

using DaemonMethods = MethodList<DaemonPing, DaemonInfo, DaemonStats, ClientHello, RpcDiscover>;

}  // namespace sessiond
