#include "common/error.h"

#include <array>

namespace sessiond {
namespace {

constexpr std::array table{
    ErrorInfo{ErrorCode::parse_error, -32700, "parse_error", "The text is not valid JSON within the limits",
              2},
    ErrorInfo{ErrorCode::invalid_request, -32600, "invalid_request", "The JSON is not a JSON-RPC 2.0 request",
              2},
    ErrorInfo{ErrorCode::method_not_found, -32601, "method_not_found", "There is no such method", 2},
    ErrorInfo{ErrorCode::invalid_params, -32602, "invalid_params", "A parameter is missing, unknown or wrong",
              2},
    ErrorInfo{ErrorCode::internal, -32603, "internal", "A fault inside the daemon", 70},
    ErrorInfo{ErrorCode::frame_too_large, -32001, "frame_too_large", "The request is larger than the limit",
              10},
    ErrorInfo{ErrorCode::limit_exceeded, -32002, "limit_exceeded", "A limit of the daemon is reached", 10},
    ErrorInfo{ErrorCode::access_denied, -32003, "access_denied", "The caller may not do this", 7},
    ErrorInfo{ErrorCode::shutting_down, -32004, "shutting_down", "The daemon is stopping", 9},
    ErrorInfo{ErrorCode::not_found, -32010, "not_found",
              "There is no such session, artifact, root or revision", 4},
    ErrorInfo{ErrorCode::ambiguous, -32011, "ambiguous", "The id is in more than one root", 4},
    ErrorInfo{ErrorCode::already_exists, -32012, "already_exists", "The name is taken", 5},
    ErrorInfo{ErrorCode::revision_conflict, -32013, "revision_conflict", "The session is at another revision",
              5},
    ErrorInfo{ErrorCode::claimed, -32014, "claimed", "Somebody else holds a claim", 6},
    ErrorInfo{ErrorCode::locked, -32015, "locked", "Another program holds the session's lock", 6},
    ErrorInfo{ErrorCode::refused, -32016, "refused", "The session's state does not allow this", 8},
    ErrorInfo{ErrorCode::damaged, -32020, "damaged", "Files are damaged and need directions to recover", 12},
    ErrorInfo{ErrorCode::storage_full, -32021, "storage_full", "No room: disk, quota or file size", 13},
    ErrorInfo{ErrorCode::storage_error, -32022, "storage_error", "The file system refused", 13},
    ErrorInfo{ErrorCode::outcome_unknown, -32023, "outcome_unknown",
              "A sync failed: the change may or may not have happened; read again", 11},
    ErrorInfo{ErrorCode::read_only, -32024, "read_only", "The session can be read but not changed", 8},
    ErrorInfo{ErrorCode::unsupported, -32025, "unsupported", "Not available here, or another format version",
              14},
    ErrorInfo{ErrorCode::no_daemon, -32090, "no_daemon", "No daemon answers (client side)", 9},
    ErrorInfo{ErrorCode::usage, -32091, "usage", "The command line is wrong (client side)", 2},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].code) != i) return false;
  return true;
}
static_assert(in_order(), "the table has one row per code, in the order of the enum");
static_assert(table.size() == static_cast<std::size_t>(ErrorCode::usage) + 1);

}  // namespace

std::span<const ErrorInfo> error_table() { return table; }

const ErrorInfo& error_info(ErrorCode code) { return table[static_cast<std::size_t>(code)]; }

const ErrorInfo& error_info_by_number(std::int64_t number) {
  for (const ErrorInfo& info : table)
    if (info.number == number) return info;
  return error_info(ErrorCode::internal);
}

}  // namespace sessiond
