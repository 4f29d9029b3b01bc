// Handlers of methods_artifact.h.
#include "common/digest.h"
#include "common/text.h"
#include "common/utf8.h"
#include "daemon/rpc/handlers.h"
#include "daemon/session/artifact_files.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

constexpr std::size_t artifact_bytes_max = 64UL * 1024 * 1024;

Result<std::string> decode_base64(const std::string& text) {
  if (std::optional<std::string> bytes = from_base64(text)) return std::move(*bytes);
  return Error(ErrorCode::invalid_params, "params.base64: not base64").with("field", "params.base64");
}

Result<std::string> content_of(const ArtifactPut::Params& params) {
  if (params.text.has_value() == params.base64.has_value())
    return Error(ErrorCode::invalid_params, "params: give either text or base64")
        .with("field", "params.text");
  if (params.text) return *params.text;
  return decode_base64(*params.base64);
}

Result<Open> open_directory(const View& view) {
  const SessionPlace& place = view.session->place();
  Env& env = view.session->env();
  return own(env, env.open_dir(place.root_handle, place.id));
}

}  // namespace

Change<ArtifactPut> change(For<ArtifactPut>, const View&, const Document& document,
                           const ArtifactPut::Params& params, const Moment&) {
  SESSIOND_TRY(layout::check_artifact_name(params.name));
  SESSIOND_ASSIGN(std::string content, content_of(params));
  Applied<ArtifactPut::Reply> applied;
  applied.document = document;
  applied.reply.name = params.name;
  applied.reply.bytes = static_cast<std::int64_t>(content.size());
  applied.reply.sha256 = sha256_hex(content);
  applied.files.push_back({.action = FileOp::Action::archive, .name = params.name});
  applied.files.push_back(
      {.action = FileOp::Action::write, .name = params.name, .bytes = std::move(content)});
  return applied;
}

Result<ArtifactGet::Reply> dig(For<ArtifactGet>, const View& view, const ArtifactGet::Params& params) {
  SESSIOND_TRY(layout::check_artifact_name(params.name));
  const std::string name =
      params.version ? layout::version_name(params.name, static_cast<int>(*params.version)) : params.name;
  SESSIOND_ASSIGN(const Open dir, open_directory(view));
  Result<std::string> content = read_all(view.session->env(), dir.get(), name, artifact_bytes_max);
  if (!content && content.error().code == ErrorCode::not_found)
    return Error(ErrorCode::not_found, "there is no artifact " + quoted(name))
        .with("file", name)
        .next("artifact.list shows what there is");
  if (!content) return std::move(content).error();
  ArtifactGet::Reply reply;
  reply.session = view.envelope();
  reply.name = name;
  reply.bytes = static_cast<std::int64_t>(content->size());
  reply.sha256 = sha256_hex(*content);
  if (is_utf8(*content))
    reply.text = std::move(*content);
  else
    reply.base64 = to_base64(*content);
  return reply;
}

Result<ArtifactList::Reply> dig(For<ArtifactList>, const View& view, const ArtifactList::Params&) {
  SESSIOND_ASSIGN(const Open dir, open_directory(view));
  SESSIOND_ASSIGN(const std::vector<Artifact> artifacts, list_artifacts(view.session->env(), dir.get()));
  ArtifactList::Reply reply;
  reply.session = view.envelope();
  for (const Artifact& artifact : artifacts) {
    ArtifactList::Item item;
    item.name = artifact.name;
    item.bytes = artifact.bytes;
    item.modified_at = artifact.modified_at;
    reply.artifacts.push_back(std::move(item));
  }
  return reply;
}

}  // namespace sessiond
