#include "daemon/session/artifact_recovery.h"

#include "daemon/session/artifact_files.h"
#include "daemon/session/state_text.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

Status quarantine_unreadable(SessionStore& store, const Kind& kind) {
  for (const std::string& name : state_names(kind))
    for (const std::string& file : {name, layout::backup_of(name)})
      if (const Result<std::string> saved = store.quarantine(file);
          !saved && saved.error().code != ErrorCode::not_found)
        return saved.error();  // what is not kept is not replaced
  return {};
}

Status keep(SessionStore& store, const Kind& kind, LoadedSession& loaded, TimePoint now) {
  SESSIOND_TRY(quarantine_unreadable(store, kind));
  if (!store.has_history()) SESSIOND_TRY(store.start_history());
  return append_recovery(store, kind, loaded.state, loaded.state.document, *loaded.report, now,
                         "session.recovered");
}

}  // namespace

Result<LoadedSession> load_from_artifacts(SessionStore& store, const Kind& kind, TimePoint now,
                                          const std::string& directory) {
  if (kind.reconstruct == nullptr)
    return Error(ErrorCode::unsupported,
                 "sessions of kind " + std::string(kind.name) + " cannot be rebuilt from artifact files")
        .next("recover from history, backup or fresh");
  const Artifacts there = view_artifacts(store.env(), store.dir(), directory);
  LoadedSession loaded;
  SESSIOND_ASSIGN(loaded.state.document, kind.reconstruct(there, store.id(), now));
  loaded.report = RecoveryReport{.level = 2,
                                 .source = "artifacts",
                                 .revision = 1,
                                 .lost = std::string(reconstruction_lost),
                                 .message = std::string(reconstructed_message)};
  loaded.state.warnings.emplace_back(reconstructed_message);
  return loaded;
}

void keep_reconstruction(SessionStore& store, const Kind& kind, LoadedSession& loaded, TimePoint now) {
  if (!loaded.report || loaded.report->level != 2) return;
  if (Status kept = keep(store, kind, loaded, now); !kept)
    loaded.state.warnings.push_back("the reconstructed state is not on disk yet: " + kept.error().message);
}

}  // namespace sessiond
