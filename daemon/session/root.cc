#include "daemon/session/root.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"

namespace sessiond {
namespace {

Error unsafe(const std::string& path, std::string_view why, std::string_view next) {
  return Error(ErrorCode::refused, path + ": " + std::string(why)).with("file", path).next(next);
}

}  // namespace

Result<Root> open_root(Env& env, std::string name, std::string path, const Kind& kind, Root::Origin origin) {
  if (!path.starts_with('/'))
    return Error(ErrorCode::invalid_params, "path: expected an absolute path, got " + quoted(path))
        .with("field", "params.path");
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  Root root{std::move(name), std::move(path), &kind, origin, {}, {}};
  SESSIOND_ASSIGN(root.dir, own(env, env.open_root(root.path)));
  SESSIOND_ASSIGN(const FileInfo info, env.info(root.dir.get()));
  if (info.uid != geteuid() && info.uid != 0)
    return unsafe(root.path, "belongs to user " + std::to_string(info.uid) + ", not to this daemon's",
                  "choose a directory of your own");
  if ((info.mode & (S_IWGRP | S_IWOTH)) != 0 && (info.mode & S_ISVTX) == 0)
    return unsafe(root.path, "writable by others, who could put files of theirs into sessions",
                  "chmod go-w " + root.path);
  return root;
}

}  // namespace sessiond
