#include "daemon/session/added_roots.h"

#include "common/json.h"
#include "common/log.h"
#include "common/yaml.h"
#include "daemon/store/layout.h"
#include "proto/describe.h"

namespace sessiond {
namespace {

constexpr std::size_t roots_file_bytes_max = 1024 * 1024;

}  // namespace

std::vector<RootConfig> read_added_roots(Env& env, Handle state_dir) {
  const Result<std::string> text =
      read_all(env, state_dir, std::string(layout::roots_file), roots_file_bytes_max);
  if (!text) {
    if (text.error().code != ErrorCode::not_found) log::error(text.error().message);
    return {};
  }
  const Result<json::value> parsed = parse_yaml(*text);
  std::vector<RootConfig> roots;
  const Where where{nullptr, layout::roots_file};
  Status status = parsed ? Codec<std::vector<RootConfig>>::decode(roots, *parsed, where, Rules{})
                         : Status(parsed.error());
  if (status) return roots;
  log::error("the added roots are left out: " + status.error().message);
  return {};
}

Status write_added_roots(Env& env, Handle state_dir, const std::vector<RootConfig>& roots) {
  json::array list;
  for (const RootConfig& root : roots)
    list.emplace_back(json::object{{"name", root.name}, {"path", root.path}, {"kind", root.kind}});
  const std::string name(layout::roots_file);
  const std::string temporary = layout::temporary_of(name);
  // JSON is YAML too.
  const std::string text = to_pretty_json(list) + "\n";
  {
    SESSIOND_ASSIGN(const Open file, own(env, env.open_or_create(state_dir, temporary)));
    SESSIOND_TRY(write_all(env, file.get(), 0, text));
    SESSIOND_TRY(env.truncate(file.get(), static_cast<std::int64_t>(text.size())));
    SESSIOND_TRY(env.sync(file.get()));
  }
  SESSIOND_TRY(env.rename_over(state_dir, temporary, name));
  return env.sync_dir(state_dir);
}

}  // namespace sessiond
