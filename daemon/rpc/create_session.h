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

// `make` gives the first document and the reply.
template <class M, class Make>
void create_session(Context& context, const WriteOptions& options, const Kind& kind,
                    std::optional<std::string> root, std::string id, json::value arguments, Make make,
                    Done_<M> done) {
  Services& services = context.services;
  const Actor actor = actor_of(context, options);
  services.pool.post([&services, &kind, actor, root = std::move(root), id = std::move(id),
                      arguments = std::move(arguments), make = std::move(make),
                      done = std::move(done)]() mutable {
    const Moment moment{services.clock.now(), actor.agent.value_or(""), actor.model.value_or("")};
    Result<Applied<typename M::Reply>> applied = make(moment);
    if (!applied) return done(applied.error());
    HistoryLine line;
    line.command = M::name;
    line.arguments = std::move(arguments);
    line.agent = actor.agent;
    line.model = actor.model;
    Result<std::shared_ptr<Session>> made =
        services.registry.create(kind, root, id, applied->document, std::move(line), actor.viewer);
    if (!made) return done(made.error());
    const std::shared_ptr<Session> session = *made;
    session->look([&services, session, reply = std::move(applied->reply),
                   done = std::move(done)](Result<Session::SnapshotPtr> snapshot) mutable {
      if (!snapshot) return done(snapshot.error());
      reply.session = make_envelope(session->place(), **snapshot, services.clock.now());
      done(std::move(reply));
    });
  });
}

}  // namespace sessiond
