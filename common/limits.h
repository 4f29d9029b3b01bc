// Every limit of the daemon, with its unit and its reason. Those in Limits can be set in the configuration
// and are shown by daemon.info; the others are fixed because a format or a bound on memory depends on them.
#pragma once

#include <chrono>
#include <cstddef>

namespace sessiond {

// A JSON or YAML text nested deeper than this is refused: readers recurse, and no document of a kind needs
// it.
inline constexpr std::size_t json_depth_max = 64;
// Nodes of one YAML file. yaml-cpp needs about 230 bytes of memory per byte of a dense file.
inline constexpr std::size_t yaml_nodes_max = 100'000;
// A configuration file larger than this is not one.
inline constexpr std::size_t config_bytes_max = 256 * 1024;
// Requests in one batch: its replies are collected in memory before the first is sent.
inline constexpr std::size_t batch_requests_max = 1'000;
// An id is echoed in the reply and kept while the request runs.
inline constexpr std::size_t id_bytes_max = 1'024;
// Header block of a Content-Length or HTTP frame.
inline constexpr std::size_t header_bytes_max = 8 * 1024;
// A frame over the limit is read and thrown away so that the caller can receive the error; past this many
// bytes the connection is closed instead.
inline constexpr std::size_t skipped_bytes_max = 256UL * 1024 * 1024;
// One read of a connection; shared by all connections, so that an idle one owns no buffer. It also bounds how
// long one connection that pipelines keeps the network thread from the others.
inline constexpr std::size_t read_chunk_bytes = 64 * 1024;
// Requests of one connection that run on strands at the same time; reading stops until some are answered.
inline constexpr std::size_t requests_in_flight_max = 1'024;

struct Limits {
  // One request. Larger texts belong into artifact files.
  std::size_t frame_bytes = 1024 * 1024;
  // Open connections in all, and of one user; each costs a descriptor.
  std::size_t connections = 1'024;
  std::size_t connections_per_uid = 512;
  // Replies that a peer has not read yet. Above it the daemon stops reading from that peer.
  std::size_t outbox_bytes = 4 * 1024 * 1024;
  // A new connection must complete its first request within this time, and any later request must be complete
  // within this time of its first byte.
  std::chrono::milliseconds handshake{30'000};
  // A peer that reads none of its pending replies for this long is disconnected.
  std::chrono::milliseconds stall{30'000};
};

}  // namespace sessiond
