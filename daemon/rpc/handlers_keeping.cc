// Handlers of methods_keeping.h.
#include "common/text.h"
#include "common/uuid.h"
#include "daemon/rpc/handlers.h"

namespace sessiond {
namespace {

Error active(const SessionPlace& place, std::string_view status, std::string_view what) {
  return Error(ErrorCode::refused, "session " + quoted(place.id) + " is " + std::string(status) +
                                       " and cannot be " + std::string(what))
      .with("session_id", place.id)
      .with("status", status)
      .next("complete or abort it first");
}

// What archive, restore and delete share: find the session, wait until nothing else runs, move its directory.
template <class M, class Move>
void move_session(Context& context, const std::string& reference, Done_<M> done, Move move) {
  Services& services = context.services;
  Result<std::shared_ptr<Session>> session = services.registry.find(reference, actor_of(context, {}).viewer);
  if (!session) return done(session.error());
  const std::shared_ptr<Session>& found = *session;
  found->exclusively([&services, place = found->place(), done = std::move(done),
                      move = std::move(move)](Result<Session::SnapshotPtr> state) {
    Result<std::string> moved = move(services, place, state);
    if (!moved) {
      done(moved.error());
      return false;
    }
    MovedReply reply;
    reply.session_id = place.id;
    reply.directory = *moved;
    reply.message = "The session is now in " + *moved + ".";
    done(reply);
    return true;
  });
}

bool paused_or_ended(const SessionPlace& place, const Snapshot& state, TimePoint now, std::string& status) {
  status = place.kind->summary(state.document, now).status;
  return place.kind->ended(state.document) || status == "paused" || status == "abandoned";
}

}  // namespace

Change<SessionRevert> change(For<SessionRevert>, const View& view, const Document& document,
                             const SessionRevert::Params& params, const Moment&) {
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
  source->look([&services, source, params, actor, done](Result<Session::SnapshotPtr> snapshot) {
    if (!snapshot) return done(snapshot.error());
    services.pool.post([&services, source, params, actor, done, state = *snapshot] {
      const std::int64_t revision = params.revision.value_or(state->revision);
      Document document = state->document;
      if (revision != state->revision) {
        if (state->history == nullptr)
          return done(Error(ErrorCode::not_found, "there is no revision " + std::to_string(revision)));
        Result<HistoryFile::AtRevision> at = state->history->at_revision(revision, state->history_length);
        if (!at) return done(at.error());
        document = std::move(at->document);
      }
      const Kind& kind = *source->place().kind;
      const std::string id = params.new_session_id.value_or(make_uuid());
      kind.rename(document, id);
      HistoryLine line;
      line.command = SessionFork::name;
      line.arguments = json::object{{"session_id", source->place().id}, {"revision", revision}};
      line.agent = actor.agent;
      line.model = actor.model;
      Result<std::shared_ptr<Session>> made =
          services.registry.create(kind, source->place().root, id, document, line, actor.viewer);
      if (!made) return done(made.error());
      (*made)->look([&services, session = *made, done, revision,
                     from = source->place().id](Result<Session::SnapshotPtr> fresh) {
        if (!fresh) return done(fresh.error());
        MessageReply reply;
        reply.session = make_envelope(session->place(), **fresh, services.clock.now());
        reply.message = "Session " + session->place().id + " starts from revision " +
                        std::to_string(revision) + " of " + from + ".";
        done(reply);
      });
    });
  });
}

void begin(For<SessionArchive>, Context& context, const SessionArchive::Params& params, const WriteOptions&,
           Done_<SessionArchive> done) {
  move_session<SessionArchive>(
      context, params.session_id, std::move(done),
      [](Services& services, const SessionPlace& place,
         const Result<Session::SnapshotPtr>& state) -> Result<std::string> {
        if (place.archived)
          return Error(ErrorCode::refused, "session " + quoted(place.id) + " is archived already");
        std::string status;
        if (state && !paused_or_ended(place, **state, services.clock.now(), status))
          return active(place, status, "archived").next("pause, complete or abort it first");
        return services.registry.archive(place);
      });
}

void begin(For<SessionRestore>, Context& context, const SessionRestore::Params& params, const WriteOptions&,
           Done_<SessionRestore> done) {
  move_session<SessionRestore>(context, params.session_id, std::move(done),
                               [](Services& services, const SessionPlace& place,
                                  const Result<Session::SnapshotPtr>&) -> Result<std::string> {
                                 if (!place.archived)
                                   return Error(ErrorCode::refused,
                                                "session " + quoted(place.id) + " is not archived");
                                 return services.registry.restore(place);
                               });
}

void begin(For<SessionDelete>, Context& context, const SessionDelete::Params& params, const WriteOptions&,
           Done_<SessionDelete> done) {
  if (params.confirm != params.session_id)
    return done(Error(ErrorCode::invalid_params, "params.confirm: expected " + quoted(params.session_id) +
                                                     " again, got " + quoted(params.confirm))
                    .with("field", "params.confirm"));
  move_session<SessionDelete>(
      context, params.session_id, std::move(done),
      [](Services& services, const SessionPlace& place,
         const Result<Session::SnapshotPtr>& state) -> Result<std::string> {
        if (!place.archived && state && !place.kind->ended((*state)->document))
          return active(place, place.kind->summary((*state)->document, services.clock.now()).status,
                        "deleted");
        return services.registry.remove(place);
      });
}

}  // namespace sessiond
