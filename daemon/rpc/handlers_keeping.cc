// Handlers of methods_keeping.h.
#include "common/log.h"
#include "common/text.h"
#include "common/uuid.h"
#include "daemon/rpc/create_session.h"
#include "daemon/rpc/handlers.h"
#include "daemon/session/artifact_files.h"
#include "daemon/session/artifact_history.h"

namespace sessiond {
namespace {

Error active(const SessionPlace& place, std::string_view status, std::string_view what) {
  return Error(ErrorCode::refused, "session " + quoted(place.id) + " is " + std::string(status) +
                                       " and cannot be " + std::string(what))
      .with("session_id", place.id)
      .with("status", status)
      .next("complete or abort it first");
}

Result<MovedReply> reply_of(const std::string& id, const Registry::Moved& moved) {
  if (!moved.durable)
    return Error(ErrorCode::outcome_unknown,
                 "the session is in " + moved.directory +
                     " but may not survive a power cut there: " + moved.durable.error().message)
        .with("session_id", id);
  MovedReply reply;
  reply.session_id = id;
  reply.directory = moved.directory;
  reply.message = "The session is now in " + moved.directory + ".";
  return reply;
}

// The line comes first, so that a repeated call finds it. A session whose history cannot be written may be
// moved all the same; only its key is not remembered then.
void record(SessionStore* store, const Result<Session::SnapshotPtr>& state, const Move& move, TimePoint now) {
  if (store == nullptr || !state || (*state)->seq == 0 || !(*state)->read_only.empty()) return;
  if (Status recorded = record_move(*store, **state, move, now); !recorded)
    log::warn("session " + move.id + ": " + move.command +
              " is not in the history: " + recorded.error().message);
}

// A call that is being carried out, on the strand, with nothing else running.
struct MoveCall {
  Services& services;
  const SessionPlace& place;
  const Move& move;
  const Result<Session::SnapshotPtr>& state;
  SessionStore* store;
  std::optional<std::int64_t> if_revision;
};

// How one of the three is done.
struct MoveRules {
  std::optional<bool> to_archive;         // where it leads; nowhere: away
  Status (*check)(const MoveCall& call);  // whether it may
  Result<Registry::Moved> (Registry::*carry_out)(const SessionPlace& place);
};

// `moves` tells whether the directory is another one after success.
Result<Registry::Moved> carry_out(const MoveCall& call, const MoveRules& rules, bool& moves) {
  EarlierMove earlier = EarlierMove::none;
  if (call.state) {
    SESSIOND_ASSIGN(earlier, find_earlier_move(**call.state, call.move));
  }
  moves = false;
  const bool happened = earlier == EarlierMove::followed ||
                        (earlier == EarlierMove::last && call.place.archived == rules.to_archive);
  if (rules.to_archive && happened) return call.services.registry.finish_move(call.place, *rules.to_archive);
  if (call.if_revision && call.state && (*call.state)->revision != *call.if_revision)
    return revision_conflict((*call.state)->revision, *call.if_revision);
  SESSIOND_TRY(rules.check(call));
  if (earlier == EarlierMove::none) record(call.store, call.state, call.move, call.services.clock.now());
  moves = true;
  return (call.services.registry.*rules.carry_out)(call.place);
}

// What archive, restore and delete share: find the session, wait until nothing else runs, move its directory.
template <class M>
void move_session(Services& services, const Viewer& viewer, const std::string& reference,
                  const WriteOptions& options, Move move, Done_<M> done, MoveRules rules) {
  Result<std::shared_ptr<Session>> session = services.registry.find(reference, viewer);
  if (!session) return done(session.error());
  const std::shared_ptr<Session>& found = *session;
  move.id = found->place().id;
  auto work = [&services, weak = std::weak_ptr(found), wanted = options.if_revision, done,
               move = std::move(move), rules](const Result<Session::SnapshotPtr>& state) {
    const std::shared_ptr<Session> alive = weak.lock();
    const MoveCall call{services, alive->place(), move, state, alive->resting_store(), wanted};
    bool moves = false;
    const Result<Registry::Moved> moved = carry_out(call, rules, moves);
    done(moved ? reply_of(move.id, *moved) : Result<MovedReply>(moved.error()));
    return moved.ok() && moves;
  };
  found->exclusively(std::move(work), [done](const Error& error) { done(error); });
}

Move move_of(std::string_view command, const Actor& actor, const WriteOptions& options) {
  return {std::string(command), "", options.idempotency_key, actor.agent, actor.model};
}

bool paused_or_ended(const SessionPlace& place, const Snapshot& state, TimePoint now, std::string& status) {
  status = place.kind->summary(state.document, now).status;
  return place.kind->ended(state.document) || status == "paused" || status == "abandoned";
}

Status check_archive(const MoveCall& call) {
  const SessionPlace& place = call.place;
  if (place.archived)
    return Error(ErrorCode::refused, "session " + quoted(place.id) + " is archived already");
  // One that is damaged may be put away; of one that cannot be read just now nobody knows.
  if (!call.state && call.state.error().code != ErrorCode::damaged) return call.state.error();
  std::string status;
  if (call.state && !paused_or_ended(place, **call.state, call.services.clock.now(), status))
    return active(place, status, "archived").next("pause, complete or abort it first");
  return {};
}

Status check_restore(const MoveCall& call) {
  if (call.place.archived) return {};
  return Error(ErrorCode::refused, "session " + quoted(call.place.id) + " is not archived");
}

Status check_delete(const MoveCall& call) {
  const SessionPlace& place = call.place;
  if (place.archived) return {};
  if (!call.state) return call.state.error();
  const Document& document = (*call.state)->document;
  if (place.kind->ended(document)) return {};
  return active(place, place.kind->summary(document, call.services.clock.now()).status, "deleted");
}

// The artifacts of a session as they were at `revision`, kept versions included.
Result<std::vector<StateBytes>> artifacts_to_copy(const View& view, std::int64_t revision) {
  const SessionPlace& place = view.session->place();
  Env& env = view.session->env();
  SESSIOND_ASSIGN(const Open dir, own(env, env.open_dir(place.root_handle, place.id)));
  const Artifacts there = view_artifacts(env, dir.get(), place.directory);
  SESSIOND_ASSIGN(const ArtifactsThen then, artifacts_at(*view.snapshot, revision, there));
  std::vector<StateBytes> out;
  std::size_t total = 0;
  for (const auto& [name, info] : there.files) {
    const auto changed = then.files.find(name);
    if (changed != then.files.end() && !changed->second) continue;
    out.push_back({name, changed == then.files.end() ? there.text(name) : *changed->second});
    total += out.back().bytes.size();
  }
  for (const auto& [name, content] : then.files)
    if (content && !there.has(name)) out.push_back({name, *content});
  if (total > bundle_bytes_max)
    return Error(ErrorCode::limit_exceeded,
                 "the artifacts are larger than " + std::to_string(bundle_bytes_max) + " bytes together");
  return out;
}

// The document of that revision under its new name.
Result<Document> document_to_copy(const View& view, std::int64_t revision, const std::string& id) {
  const Snapshot& now = *view.snapshot;
  Document document = now.document;
  if (revision != now.revision) {
    if (now.history == nullptr)
      return Error(ErrorCode::not_found, "there is no revision " + std::to_string(revision));
    SESSIOND_ASSIGN(HistoryFile::AtRevision at, now.history->at_revision(revision, now.history_length));
    document = std::move(at.document);
  }
  view.kind().rename(document, id);
  return document;
}

// On the source's strand, so that its files belong to its document.
void fork_now(const View& view, const SessionFork::Params& params, const std::string& id, HistoryLine line,
              const Viewer& viewer, const Done_<SessionFork>& done) {
  Services& services = view.services;
  const SessionPlace& from = view.session->place();
  const std::int64_t revision = params.revision.value_or(view.snapshot->revision);
  const Result<Document> document = document_to_copy(view, revision, id);
  if (!document) return done(document.error());
  const Result<std::vector<StateBytes>> artifacts = artifacts_to_copy(view, revision);
  if (!artifacts) return done(artifacts.error());
  line.arguments = json::object{{"session_id", from.id}, {"revision", revision}};
  MessageReply reply;
  // What was not asked for by number is not told by number: a repeated call comes when there are more.
  const std::string asked = params.revision ? "revision " + std::to_string(revision) + " of " : "";
  reply.message = "Session " + id + " starts from " + asked + from.id + ".";
  Result<std::shared_ptr<Session>> made =
      services.registry.create(*from.kind, from.root, id, *document, line, viewer, *artifacts);
  if (!made && made.error().code == ErrorCode::already_exists)
    return answer_repeated(services, viewer, from.root + "/" + id, line, made.error(), std::move(reply),
                           done);
  if (!made) return done(made.error());
  answer_created(services, *made, std::move(reply), done);
}

// Brings the files back that a document of this kind speaks of, and says so.
Status revert_files(const View& view, const SessionRevert::Params& params, const Moment& moment,
                    Applied<MessageReply>& applied) {
  if (view.kind().check_files == nullptr || moment.artifacts == nullptr) return {};
  SESSIOND_ASSIGN(const ArtifactsThen then, artifacts_at(*view.snapshot, params.revision, *moment.artifacts));
  applied.files = bring_back(then, *moment.artifacts, view.kind().logs);
  if (!applied.files.empty()) applied.reply.message += " Its files are back as well.";
  if (!then.lost.empty())
    applied.reply.message += " These could not be brought back: " + join(then.lost, ", ") + ".";
  return {};
}

}  // namespace

Change<SessionRevert> change(For<SessionRevert>, const View& view, const Document& document,
                             const SessionRevert::Params& params, const Moment& moment) {
  const Snapshot& now = *view.snapshot;
  if (now.history == nullptr || params.revision >= now.revision)
    return Error(ErrorCode::not_found, "params.revision: expected an earlier revision than " +
                                           std::to_string(now.revision) + ", got " +
                                           std::to_string(params.revision))
        .with("field", "params.revision");
  SESSIOND_ASSIGN(HistoryFile::AtRevision at, now.history->at_revision(params.revision, now.history_length));
  Applied<MessageReply> applied;
  applied.document = std::move(at.document);
  applied.reply.message = "Revision " + std::to_string(params.revision) + " is back as a new revision.";
  if (applied.document == document)
    applied.reply.message = "Nothing differs from revision " + std::to_string(params.revision) + ".";
  SESSIOND_TRY(revert_files(view, params, moment, applied));
  return applied;
}

Change<SessionMigrate> change(For<SessionMigrate>, const View& view, const Document& document,
                              const SessionMigrate::Params&, const Moment& moment) {
  return view.kind().migrate(document, moment);
}

void begin(For<SessionFork>, Context& context, const SessionFork::Params& params, const WriteOptions& options,
           Done_<SessionFork> done) {
  Services& services = context.services;
  const Actor actor = actor_of(context, options);
  Result<std::shared_ptr<Session>> session = services.registry.find(params.session_id, actor.viewer);
  if (!session) return done(session.error());
  const std::shared_ptr<Session> source = *session;
  const std::string id = params.new_session_id     ? *params.new_session_id
                         : options.idempotency_key ? id_from_key(context, *options.idempotency_key)
                                                   : make_uuid();
  HistoryLine line;
  line.command = SessionFork::name;
  line.agent = actor.agent;
  line.model = actor.model;
  line.idempotency_key = options.idempotency_key;
  source->exclusively(
      [&services, weak = std::weak_ptr(source), params, id, line, viewer = actor.viewer,
       done](Result<Session::SnapshotPtr> snapshot) {
        answer_guarded(done, [&] {
          if (!snapshot) return done(snapshot.error());
          fork_now(View{services, weak.lock(), *snapshot}, params, id, line, viewer, done);
        });
        return false;
      },
      [done](const Error& error) { done(error); });
}

void begin(For<SessionArchive>, Context& context, const SessionArchive::Params& params,
           const WriteOptions& options, Done_<SessionArchive> done) {
  const Actor actor = actor_of(context, options);
  move_session<SessionArchive>(context.services, actor.viewer, params.session_id, options,
                               move_of(SessionArchive::name, actor, options), std::move(done),
                               {true, check_archive, &Registry::archive});
}

void begin(For<SessionRestore>, Context& context, const SessionRestore::Params& params,
           const WriteOptions& options, Done_<SessionRestore> done) {
  const Actor actor = actor_of(context, options);
  move_session<SessionRestore>(context.services, actor.viewer, params.session_id, options,
                               move_of(SessionRestore::name, actor, options), std::move(done),
                               {false, check_restore, &Registry::restore});
}

void begin(For<SessionDelete>, Context& context, const SessionDelete::Params& params,
           const WriteOptions& options, Done_<SessionDelete> done) {
  if (params.confirm != params.session_id)
    return done(Error(ErrorCode::invalid_params, "params.confirm: expected " + quoted(params.session_id) +
                                                     " again, got " + quoted(params.confirm))
                    .with("field", "params.confirm"));
  const Actor actor = actor_of(context, options);
  const Move move = move_of(SessionDelete::name, actor, options);
  const MoveRules rules{std::nullopt, check_delete, &Registry::remove};
  Services& services = context.services;
  if (!move.key)
    return move_session<SessionDelete>(services, actor.viewer, params.session_id, options, move,
                                       std::move(done), rules);
  // The trash first: by now another session may have the id.
  services.pool.post([&services, viewer = actor.viewer, id = params.session_id, options, move, done, rules] {
    answer_guarded(done, [&] {
      const auto moved = services.registry.find_deleted(id, move, viewer);
      if (moved) return done(reply_of(id.substr(id.find('/') + 1), *moved));
      move_session<SessionDelete>(services, viewer, id, options, move, done, rules);
    });
  });
}

}  // namespace sessiond
