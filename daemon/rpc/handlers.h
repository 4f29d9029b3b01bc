// The handlers: for each method of proto/methods.h one function, overloaded on a tag for the method. A
// handler gets decoded parameters and knows neither ids nor connections. Which of these five it is says where
// it runs:
//
//   run     on the network thread; must not block
//   look    with the newest state of params.session_id; must not block
//   dig     the same, on a worker: it may read files
//   change  on the session's strand: pure, gives the next document
//   begin   on the network thread; answers later, through `done`, from any thread
//
// A method that has none of them does not compile.
#pragma once

#include <functional>
#include <memory>

#include "common/caught.h"
#include "daemon/kinds/kind.h"
#include "daemon/rpc/caller.h"
#include "daemon/rpc/services.h"
#include "proto/methods.h"
#include "proto/write_options.h"

namespace sessiond {

template <class M>
struct For {};

struct Context {
  Services& services;
  Caller& caller;
};

// A session as a reader sees it.
struct View {
  Services& services;
  std::shared_ptr<Session> session;
  std::shared_ptr<const Snapshot> snapshot;
  const Kind& kind() const { return *session->place().kind; }
  Envelope envelope() const { return make_envelope(session->place(), *snapshot, services.clock.now()); }
};

// What is known of the caller after it may be gone.
struct Actor {
  Viewer viewer;
  std::optional<std::string> agent, model;
};
Actor actor_of(const Context& context, const WriteOptions& options);

template <class M>
using Done_ = std::function<void(Result<typename M::Reply>)>;

template <class M>
using Change = Result<Applied<typename M::Reply>>;

// In handlers_daemon.cc.
Result<DaemonPing::Reply> run(For<DaemonPing>, Context&, const DaemonPing::Params&);
Result<DaemonInfo::Reply> run(For<DaemonInfo>, Context&, const DaemonInfo::Params&);
Result<DaemonStats::Reply> run(For<DaemonStats>, Context&, const DaemonStats::Params&);
Result<ClientHello::Reply> run(For<ClientHello>, Context&, const ClientHello::Params&);
Result<RpcDiscover::Reply> run(For<RpcDiscover>, Context&, const RpcDiscover::Params&);

// In handlers_root.cc.
Result<RootList::Reply> run(For<RootList>, Context&, const RootList::Params&);
void begin(For<RootAdd>, Context&, const RootAdd::Params&, const WriteOptions&, Done_<RootAdd>);
void begin(For<RootRemove>, Context&, const RootRemove::Params&, const WriteOptions&, Done_<RootRemove>);
void begin(For<RootScan>, Context&, const RootScan::Params&, const WriteOptions&, Done_<RootScan>);

// In handlers_reading.cc.
Result<SessionList::Reply> run(For<SessionList>, Context&, const SessionList::Params&);
Result<SessionGet::Reply> look(For<SessionGet>, const View&, const SessionGet::Params&);
Result<SessionGet::Reply> dig(For<SessionGet>, const View&, const SessionGet::Params&);
bool must_dig(For<SessionGet>, const SessionGet::Params&);
Result<SessionContext::Reply> look(For<SessionContext>, const View&, const SessionContext::Params&);
Result<SessionValidate::Reply> dig(For<SessionValidate>, const View&, const SessionValidate::Params&);
Result<SessionHistory::Reply> dig(For<SessionHistory>, const View&, const SessionHistory::Params&);
Result<SessionDiff::Reply> dig(For<SessionDiff>, const View&, const SessionDiff::Params&);

// In handlers_lifecycle.cc.
Change<SessionPause> change(For<SessionPause>, const View&, const Document&, const SessionPause::Params&,
                            const Moment&);
Change<SessionResume> change(For<SessionResume>, const View&, const Document&, const SessionResume::Params&,
                             const Moment&);
Change<SessionComplete> change(For<SessionComplete>, const View&, const Document&,
                               const SessionComplete::Params&, const Moment&);
Change<SessionAbort> change(For<SessionAbort>, const View&, const Document&, const SessionAbort::Params&,
                            const Moment&);
Change<SessionUpdate> change(For<SessionUpdate>, const View&, const Document&, const SessionUpdate::Params&,
                             const Moment&);

// In handlers_keeping.cc.
Change<SessionRevert> change(For<SessionRevert>, const View&, const Document&, const SessionRevert::Params&,
                             const Moment&);
Change<SessionMigrate> change(For<SessionMigrate>, const View&, const Document&,
                              const SessionMigrate::Params&, const Moment&);
void begin(For<SessionFork>, Context&, const SessionFork::Params&, const WriteOptions&, Done_<SessionFork>);
void begin(For<SessionArchive>, Context&, const SessionArchive::Params&, const WriteOptions&,
           Done_<SessionArchive>);
void begin(For<SessionRestore>, Context&, const SessionRestore::Params&, const WriteOptions&,
           Done_<SessionRestore>);
void begin(For<SessionDelete>, Context&, const SessionDelete::Params&, const WriteOptions&,
           Done_<SessionDelete>);

// In handlers_bundle.cc.
void begin(For<SessionExport>, Context&, const SessionExport::Params&, const WriteOptions&,
           Done_<SessionExport>);
void begin(For<SessionImport>, Context&, const SessionImport::Params&, const WriteOptions&,
           Done_<SessionImport>);
void begin(For<SessionRecover>, Context&, const SessionRecover::Params&, const WriteOptions&,
           Done_<SessionRecover>);

// In handlers_artifact.cc.
Change<ArtifactPut> change(For<ArtifactPut>, const View&, const Document&, const ArtifactPut::Params&,
                           const Moment&);
Result<ArtifactGet::Reply> dig(For<ArtifactGet>, const View&, const ArtifactGet::Params&);
Result<ArtifactList::Reply> dig(For<ArtifactList>, const View&, const ArtifactList::Params&);

// In handlers_workflow.cc.
void begin(For<WorkflowCreate>, Context&, const WorkflowCreate::Params&, const WriteOptions&,
           Done_<WorkflowCreate>);
Change<WorkflowCompletePhase> change(For<WorkflowCompletePhase>, const View&, const Document&,
                                     const WorkflowCompletePhase::Params&, const Moment&);
Change<WorkflowRetryPhase> change(For<WorkflowRetryPhase>, const View&, const Document&,
                                  const WorkflowRetryPhase::Params&, const Moment&);
Change<WorkflowRollback> change(For<WorkflowRollback>, const View&, const Document&,
                                const WorkflowRollback::Params&, const Moment&);
Change<WorkflowRecordError> change(For<WorkflowRecordError>, const View&, const Document&,
                                   const WorkflowRecordError::Params&, const Moment&);
Result<WorkflowGetErrors::Reply> look(For<WorkflowGetErrors>, const View&, const WorkflowGetErrors::Params&);

// In handlers_essay.cc; the rest is in handlers_essay.h.
void begin(For<EssayCreate>, Context&, const EssayCreate::Params&, const WriteOptions&, Done_<EssayCreate>);
Result<EssayAssessImpact::Reply> dig(For<EssayAssessImpact>, const View&, const EssayAssessImpact::Params&);

// Most changes are refused once a session has ended. Completing and migrating are for the kind to judge: a
// legacy session may be complete without saying so.
template <class M>
inline constexpr bool allowed_when_ended = false;
template <>
inline constexpr bool allowed_when_ended<SessionRevert> = true;
template <>
inline constexpr bool allowed_when_ended<SessionComplete> = true;
template <>
inline constexpr bool allowed_when_ended<SessionMigrate> = true;
template <>
inline constexpr bool allowed_when_ended<SessionResume> = true;  // of an essay that was given up

// Commands whose outcome depends on the files in the session's directory.
template <class M>
inline constexpr bool looks_at_files = M::name.starts_with("essay.");
template <>
inline constexpr bool looks_at_files<SessionResume> = true;
template <>
inline constexpr bool looks_at_files<SessionRevert> = true;

// Commands that are refused without if_revision: they confirm what was proposed for that revision.
template <class M>
inline constexpr bool needs_revision = requires {
  M::needs_revision;
};

// A change that looks at earlier revisions.
template <class M>
inline constexpr bool reads_history = false;
template <>
inline constexpr bool reads_history<SessionRevert> = true;

// For a handler that answers through `done` from a worker: an exception that leaves `work` is the answer.
template <class Done, class Work>
void answer_guarded(const Done& done, Work work) {
  try {
    work();
  } catch (...) {
    done(caught_error());
  }
}

// The methods of one kind name it, so that they are refused on a session of another.
template <class M>
inline constexpr std::string_view only_kind = M::name.starts_with("workflow.") ? "workflow"
                                              : M::name.starts_with("essay.")  ? "essay"
                                                                               : "";

}  // namespace sessiond

#include "daemon/rpc/handlers_essay.h"
