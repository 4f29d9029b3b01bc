#include "daemon/session/artifact_recovery.h"

#include "daemon/session/artifact_files.h"
#include "daemon/session/state_text.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

Status quarantine_if_there(SessionStore& store, const std::string& name) {
  const Result<std::string> saved = store.quarantine(name);
  if (saved || saved.error().code == ErrorCode::not_found) return {};
  return saved.error();  // what is not kept is not replaced
}

Status keep(SessionStore& store, const Kind& kind, LoadedSession& loaded, TimePoint now) {
  for (const std::string& name : state_names(kind)) {
    SESSIOND_TRY(quarantine_if_there(store, name));
    if (loaded.report->level == 2) SESSIOND_TRY(quarantine_if_there(store, layout::backup_of(name)));
  }
  if (!store.has_history()) SESSIOND_TRY(store.start_history());
  SESSIOND_TRY(append_recovery(store, kind, loaded.state, loaded.state.document, *loaded.report, now,
                               "session.recovered"));
  // The unreadable file became the backup of the new one: once more, and both are good.
  for (const StateBytes& file : render_state(kind, loaded.state.document))
    SESSIOND_TRY(store.write_state(file));
  return {};
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

void keep_recovered(SessionStore& store, const Kind& kind, LoadedSession& loaded, TimePoint now) {
  if (!loaded.report) return;
  if (Status kept = keep(store, kind, loaded, now); !kept)
    loaded.state.warnings.push_back("the recovered state is not on disk yet: " + kept.error().message);
}

}  // namespace sessiond
