// How one call reaches its handler: decoding, finding the session, running on the right thread, spelling the
// reply.
#pragma once

#include "common/caught.h"
#include "common/log.h"
#include "daemon/rpc/dispatcher.h"
#include "daemon/rpc/handlers.h"
#include "proto/message.h"

namespace sessiond {

// Spells the reply to one call whenever it is ready. Copyable, usable on any thread, answers once and never
// throws: a reply that cannot be spelled becomes an error.
class Replier {
 public:
  Replier(Services& services, const Call& call, Access access, Dispatcher::Send send)
      : services_(&services),
        id_(call.id == nullptr ? json::value() : *call.id),
        notification_(call.notification()),
        access_(access),
        method_(call.method),
        send_(std::move(send)) {}

  void result(std::string_view text) const noexcept {
    guard([&] {
      std::string out;
      if (!notification_) {
        begin_result(out, &id_);
        out += text;
        end_reply(out);
      }
      send_(std::move(out));
    });
  }

  void error(const Error& error) const noexcept {
    try {
      std::string out;
      spell_error(*services_, notification_ ? nullptr : &id_, error, access_, out);
      send_(notification_ ? std::string() : std::move(out));
    } catch (...) {
      log::error("a request stays without an answer");
    }
  }

  // Does `work`; an exception that leaves it is the answer.
  template <class Work>
  void guard(Work work) const noexcept {
    try {
      work();
    } catch (...) {
      error(caught_error());
    }
  }

  template <class M>
  void reply(const Result<typename M::Reply>& result_or_error) const noexcept {
    if (!result_or_error) return error(result_or_error.error());
    guard([&] {
      std::string text;
      Codec<typename M::Reply>::write(*result_or_error, text);
      result(text);
    });
  }

 private:
  Services* services_;
  json::value id_;
  bool notification_;
  Access access_;
  std::string method_;
  Dispatcher::Send send_;
};

namespace invoke_detail {

template <class M>
concept Runs = requires(Context& c, const typename M::Params& p) {
  run(For<M>{}, c, p);
};
template <class M>
concept Looks = requires(const View& v, const typename M::Params& p) {
  look(For<M>{}, v, p);
};
template <class M>
concept Digs = requires(const View& v, const typename M::Params& p) {
  dig(For<M>{}, v, p);
};
template <class M>
concept Changes = requires(const View& v, const Document& d, const typename M::Params& p, const Moment& m) {
  change(For<M>{}, v, d, p, m);
};
template <class M>
concept Begins = requires(Context& c, const typename M::Params& p, const WriteOptions& o, Done_<M> d) {
  begin(For<M>{}, c, p, o, d);
};

Status wrong_kind(std::string_view method, std::string_view wanted, const SessionPlace& place);

template <class M>
Status check_kind(const Session& session) {
  if constexpr (!only_kind<M>.empty())
    if (session.place().kind->name != only_kind<M>) return wrong_kind(M::name, only_kind<M>, session.place());
  return {};
}

template <class M>
Status check_revision(const WriteOptions& options) {
  if (!needs_revision<M> || options.if_revision) return {};
  return Error(ErrorCode::invalid_params,
               "params.if_revision: required, " + std::string(M::name) + " confirms what was proposed for it")
      .with("field", "params.if_revision");
}

template <class M>
bool digs(const typename M::Params& params) {
  if constexpr (Looks<M> && Digs<M>)
    return must_dig(For<M>{}, params);
  else
    return Digs<M>;
}

// Finds the session, loads it if need be, and answers from its newest state.
template <class M>
Status read_session(Context& context, typename M::Params params, Replier replier) {
  SESSIOND_ASSIGN(std::shared_ptr<Session> session,
                  context.services.registry.find(params.session_id, actor_of(context, {}).viewer));
  SESSIOND_TRY(check_kind<M>(*session));
  Services& services = context.services;
  const bool blocking = digs<M>(params);
  auto use = [session, &services, params = std::move(params), replier = std::move(replier),
              blocking](Result<std::shared_ptr<const Snapshot>> snapshot) {
    (void)blocking;  // only some methods look at it
    if (!snapshot) return replier.error(snapshot.error());
    replier.guard([&] {
      const View view{services, session, std::move(*snapshot)};
      if constexpr (Digs<M>) {
        if (blocking)
          return services.pool.post([view, params, replier] {
            replier.guard([&] { replier.reply<M>(dig(For<M>{}, view, params)); });
          });
      }
      if constexpr (Looks<M>) replier.reply<M>(look(For<M>{}, view, params));
    });
  };
  session->look(std::move(use));
  return {};
}

template <class M>
Status change_session(Context& context, typename M::Params params, WriteOptions options,
                      const json::value& arguments, Replier replier) {
  const Actor actor = actor_of(context, options);
  SESSIOND_ASSIGN(std::shared_ptr<Session> session,
                  context.services.registry.find(params.session_id, actor.viewer));
  SESSIOND_TRY(check_kind<M>(*session));
  SESSIOND_TRY(check_revision<M>(options));
  options.agent = actor.agent;
  options.model = actor.model;
  Command command;
  command.name = M::name;
  command.arguments = arguments;
  command.options = std::move(options);
  command.allowed_when_ended = allowed_when_ended<M>;
  command.reads_history = reads_history<M>;
  command.alone = looks_at_files<M>;
  command.apply = [session = std::weak_ptr(session), &services = context.services,
                   params = std::move(params)](const Document& document,
                                               const Moment& moment) -> Result<Outcome> {
    const std::shared_ptr<Session> alive = session.lock();
    const View view{services, alive, alive->snapshot()};
    SESSIOND_ASSIGN(auto applied, change(For<M>{}, view, document, params, moment));
    Outcome outcome;
    outcome.document = std::move(applied.document);
    outcome.files = std::move(applied.files);
    outcome.write_reply = [reply = std::move(applied.reply)](const Envelope& envelope,
                                                             std::string& out) mutable {
      reply.session = envelope;
      Codec<typename M::Reply>::write(reply, out);
    };
    return outcome;
  };
  command.done = [replier = std::move(replier)](Result<std::string> reply) {
    if (reply)
      replier.result(*reply);
    else
      replier.error(reply.error());
  };
  session->submit(std::move(command));
  return {};
}

template <class M>
void write_reply(const typename M::Reply& reply, const Call& call, std::string& out) {
  if (call.notification()) return;
  begin_result(out, call.id);
  Codec<typename M::Reply>::write(reply, out);
  end_reply(out);
}

template <class M>
Result<bool> look_now(Context& context, const typename M::Params& params, const Call& call,
                      std::string& out) {
  if (digs<M>(params)) return false;
  SESSIOND_ASSIGN(std::shared_ptr<Session> session,
                  context.services.registry.find(params.session_id, actor_of(context, {}).viewer));
  SESSIOND_TRY(check_kind<M>(*session));
  std::shared_ptr<const Snapshot> snapshot = session->snapshot();
  if (snapshot == nullptr) return false;
  const View view{context.services, std::move(session), std::move(snapshot)};
  SESSIOND_ASSIGN(const typename M::Reply reply, look(For<M>{}, view, params));
  write_reply<M>(reply, call, out);
  return true;
}

}  // namespace invoke_detail

// Decodes and runs one call. Done::now: the reply, if any, was appended to `out`, or the error is returned;
// Done::later: it goes to what `make_send` gave.
template <class M>
Result<Done> invoke(Context& context, const Call& call, std::string& out,
                    const Dispatcher::MakeSend& make_send) {
  using namespace invoke_detail;
  static_assert(Runs<M> || Looks<M> || Digs<M> || Changes<M> || Begins<M>, "a method has no handler");
  typename M::Params params{};
  WriteOptions options;
  SESSIOND_ASSIGN(const json::value* given, named_parameters(call));
  const Where root{nullptr, "params"};
  const std::array targets{Target{fields_of<typename M::Params>(), &params},
                           Target{fields_of<WriteOptions>(), &options}};
  SESSIOND_TRY(decode_fields({targets.data(), M::access == Access::write ? 2U : 1U}, *given, root));
  if constexpr (Runs<M>) {
    SESSIOND_ASSIGN(const typename M::Reply reply, run(For<M>{}, context, params));
    write_reply<M>(reply, call, out);
    return Done::now;
  } else {
    if constexpr (Looks<M>) {
      // A loaded session is answered without a detour.
      SESSIOND_ASSIGN(const bool answered, look_now<M>(context, params, call, out));
      if (answered) return Done::now;
    }
    Replier replier(context.services, call, M::access, make_send());
    // From here on the reply goes through the replier, an error included: make_send was used up.
    replier.guard([&] {
      Status started;
      if constexpr (Changes<M>)
        started = change_session<M>(context, std::move(params), std::move(options), *given, replier);
      else if constexpr (Begins<M>)
        begin(For<M>{}, context, params, options,
              [replier](Result<typename M::Reply> reply) { replier.template reply<M>(reply); });
      else
        started = read_session<M>(context, std::move(params), replier);
      if (!started) replier.error(started.error());
    });
    return Done::later;
  }
}

}  // namespace sessiond
