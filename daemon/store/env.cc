#include "daemon/store/env.h"

#include <cerrno>
#include <cstring>

#include "common/text.h"

namespace sessiond {
namespace {

ErrorCode code_of(int reason) {
  switch (reason) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorCode::storage_full;
    case ENOENT:
      return ErrorCode::not_found;
    case EEXIST:
    case ENOTEMPTY:
      return ErrorCode::already_exists;
    default:
      return ErrorCode::storage_error;
  }
}

}  // namespace

Error file_error(std::string_view operation, std::string_view name, int reason) {
  return Error(code_of(reason),
               printable(name) + ": " + std::string(operation) + ": " + std::strerror(reason))
      .with("file", name)
      .with("errno", reason);
}

Status write_all(Env& env, Handle file, std::int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    SESSIOND_ASSIGN(const std::size_t count, env.write(file, offset, bytes));
    if (count == 0) return Error(ErrorCode::storage_full, "a write made no progress");
    bytes.remove_prefix(count);
    offset += static_cast<std::int64_t>(count);
  }
  return {};
}

Result<std::string> read_all(Env& env, Handle dir, const std::string& name, std::size_t bytes_max) {
  SESSIOND_ASSIGN(const Open file, own(env, env.open_read(dir, name)));
  SESSIOND_ASSIGN(const FileInfo info, env.info(file.get()));
  if (info.size > static_cast<std::int64_t>(bytes_max))
    return Error(ErrorCode::limit_exceeded, name + ": larger than " + std::to_string(bytes_max) + " bytes")
        .with("file", name);
  std::string out;
  while (out.size() < static_cast<std::size_t>(info.size)) {
    const auto offset = static_cast<std::int64_t>(out.size());
    SESSIOND_ASSIGN(const std::string part,
                    env.read(file.get(), offset, static_cast<std::size_t>(info.size - offset)));
    if (part.empty()) break;
    out += part;
  }
  return out;
}

Status remove_tree(Env& env, Handle parent, const std::string& name) {
  const Result<FileInfo> info = env.stat(parent, name);
  if (!info) return info.error().code == ErrorCode::not_found ? Status() : Status(info.error());
  if (info->type != FileInfo::Type::directory) return env.unlink(parent, name);
  {
    SESSIOND_ASSIGN(const Open dir, own(env, env.open_dir(parent, name)));
    SESSIOND_ASSIGN(const std::vector<DirEntry> entries, env.list(dir.get()));
    for (const DirEntry& entry : entries) {
      if (entry.type == FileInfo::Type::directory)
        SESSIOND_TRY(remove_tree(env, dir.get(), entry.name));
      else
        SESSIOND_TRY(env.unlink(dir.get(), entry.name));
    }
  }
  return env.rmdir(parent, name);
}

}  // namespace sessiond
