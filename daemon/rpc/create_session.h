// What the create methods of all kinds share: make the document, make the session durable on a worker,
// answer.
#pragma once

#include "common/json.h"
#include "daemon/rpc/handlers.h"

namespace sessiond {

// The parameters as the history keeps them.
template <Described Params>
json::value encode(const Params& params) {
  std::string text;
  Codec<Params>::write(params, text);
  Result<json::value> parsed = parse_json(text);
  return parsed ? std::move(*parsed) : json::value();
}

// What the session was when it was created, if `repeated` is the same command with the same key; blocks.
std::optional<SessionState> state_when_created(const Snapshot& now, const HistoryLine& repeated);

// An id for a session whose creator gave a key instead: the same for a repeated call.
std::string id_from_key(const Context& context, const std::string& key);

// A create that failed because the session exists is answered as the first time if that was the same call:
// `reply` gets the envelope as it was then.
template <class Reply>
void answer_repeated(Services& services, const Viewer& viewer, const std::string& reference,
                     const HistoryLine& repeated, Error error, Reply reply,
                     std::function<void(Result<Reply>)> done) {
  Result<std::shared_ptr<Session>> found = services.registry.find(reference, viewer);
  if (!found || !repeated.idempotency_key) return done(std::move(error));
  const std::shared_ptr<Session> session = *found;
  session->look([session, repeated, error = std::move(error), reply = std::move(reply),
                 done](Result<Session::SnapshotPtr> now) mutable {
    answer_guarded(done, [&] {
      std::optional<SessionState> first;
      if (now) first = state_when_created(**now, repeated);
      if (!first) return done(std::move(error));
      reply.session = make_envelope(session->place(), *first, first->last_stamp);
      done(std::move(reply));
    });
  });
}

// The answer to a create that went well.
template <class Reply>
void answer_created(Services& services, const std::shared_ptr<Session>& session, Reply reply,
                    std::function<void(Result<Reply>)> done) {
  session->look(
      [&services, session, reply = std::move(reply), done](Result<Session::SnapshotPtr> snapshot) mutable {
        answer_guarded(done, [&] {
          if (!snapshot) return done(snapshot.error());
          reply.session = make_envelope(session->place(), **snapshot, services.clock.now());
          done(std::move(reply));
        });
      });
}

// `make` gives the first document and the reply.
template <class M, class Make>
void create_session(Context& context, const WriteOptions& options, const Kind& kind,
                    std::optional<std::string> root, std::string id, json::value arguments, Make make,
                    Done_<M> done) {
  Services& services = context.services;
  const Actor actor = actor_of(context, options);
  HistoryLine line;
  line.command = M::name;
  line.arguments = std::move(arguments);
  line.agent = actor.agent;
  line.model = actor.model;
  line.idempotency_key = options.idempotency_key;
  services.pool.post([&services, &kind, viewer = actor.viewer, root = std::move(root), id = std::move(id),
                      line = std::move(line), make = std::move(make), done = std::move(done)]() mutable {
    answer_guarded(done, [&] {
      const Moment moment{services.clock.now(), line.agent.value_or(""), line.model.value_or("")};
      Result<Applied<typename M::Reply>> applied = make(moment);
      if (!applied) return done(applied.error());
      Result<std::shared_ptr<Session>> made =
          services.registry.create(kind, root, id, applied->document, line, viewer);
      if (!made && made.error().code == ErrorCode::already_exists)
        return answer_repeated(services, viewer, root.value_or(std::string(kind.name)) + "/" + id, line,
                               made.error(), std::move(applied->reply), done);
      if (!made) return done(made.error());
      answer_created(services, *made, std::move(applied->reply), done);
    });
  });
}

}  // namespace sessiond
