// Handlers of methods_essay.h that do more than handlers_essay.h says.
#include <mutex>

#include "common/uuid.h"
#include "daemon/rpc/create_session.h"
#include "daemon/rpc/handlers.h"
#include "daemon/session/artifact_files.h"

namespace sessiond {
namespace {

// Two essays of the same second get -2, -3 and so on.
constexpr int names_tried_max = 1'000;

// "essay-pipeline-20260214-143022".
std::string default_id(TimePoint now) {
  std::string digits;
  for (const char c : format_rfc3339(now).substr(0, 19))
    if (c >= '0' && c <= '9') digits += c;
  return "essay-pipeline-" + digits.substr(0, 8) + "-" + digits.substr(8);
}

// An essay that is being created, on a worker.
struct Creation {
  Services& services;
  Viewer viewer;
  EssayCreate::Params params;
  HistoryLine line;
  Done_<EssayCreate> done;

  // Makes it under this name and answers; false when the name is taken and another may be tried.
  bool make(const std::string& id, bool another) {
    const Moment moment{services.clock.now(), line.agent.value_or(""), line.model.value_or("")};
    const Result<std::string> directory = services.registry.directory_for(essay_kind(), params.root, id);
    if (!directory) return done(directory.error()), true;
    Result<Applied<EssayReply>> applied = essay::create({"essay-" + make_uuid(), *directory}, params, moment);
    if (!applied) return done(applied.error()), true;
    Result<std::shared_ptr<Session>> made =
        services.registry.create(essay_kind(), params.root, id, applied->document, line, viewer);
    if (!made && made.error().code == ErrorCode::already_exists) {
      if (another) return false;
      answer_repeated(services, viewer, params.root.value_or("essay") + "/" + id, line, made.error(),
                      std::move(applied->reply), done);
    } else if (!made) {
      done(made.error());
    } else {
      answer_created(services, *made, std::move(applied->reply), done);
    }
    return true;
  }

  // Answers as the first time when a session was made with this key already.
  bool repeated() {
    const auto known = services.registry.created_with(essay_kind(), *line.idempotency_key, viewer);
    if (!known) return false;
    const Moment moment{services.clock.now(), "", ""};
    Result<Applied<EssayReply>> applied = essay::create({"", ""}, params, moment);
    if (!applied) return done(applied.error()), true;
    answer_repeated(services, viewer, *known, line,
                    Error(ErrorCode::already_exists, "a session was created with this idempotency_key"),
                    std::move(applied->reply), done);
    return true;
  }

  void run() {
    if (params.session_id) return static_cast<void>(make(*params.session_id, false));
    // Of two calls with the same key the second one waits, and finds the session of the first.
    static std::mutex keyed;
    std::unique_lock lock(keyed, std::defer_lock);
    if (line.idempotency_key) {
      lock.lock();
      if (repeated()) return;
    }
    const std::string base = default_id(services.clock.now());
    for (int attempt = 1;; ++attempt) {
      const std::string id = attempt == 1 ? base : base + "-" + std::to_string(attempt);
      if (make(id, attempt < names_tried_max)) return;
    }
  }
};

}  // namespace

void begin(For<EssayCreate>, Context& context, const EssayCreate::Params& params, const WriteOptions& options,
           Done_<EssayCreate> done) {
  const Actor actor = actor_of(context, options);
  auto creation =
      std::make_shared<Creation>(Creation{context.services, actor.viewer, params, {}, std::move(done)});
  creation->line.command = EssayCreate::name;
  creation->line.arguments = encode(params);
  creation->line.agent = actor.agent;
  creation->line.model = actor.model;
  creation->line.idempotency_key = options.idempotency_key;
  context.services.pool.post([creation] { answer_guarded(creation->done, [&] { creation->run(); }); });
}

Result<EssayAssessImpact::Reply> dig(For<EssayAssessImpact>, const View& view,
                                     const EssayAssessImpact::Params& params) {
  const SessionPlace& place = view.session->place();
  Env& env = view.session->env();
  SESSIOND_ASSIGN(const Open dir, own(env, env.open_dir(place.root_handle, place.id)));
  const Artifacts there = view_artifacts(env, dir.get(), place.directory);
  const Moment moment{view.services.clock.now(), "", "", &there};
  SESSIOND_ASSIGN(EssayAssessImpact::Reply reply,
                  essay::assess_impact(view.snapshot->document, params, moment));
  reply.session = view.envelope();
  reply.revision = view.snapshot->revision;
  return reply;
}

}  // namespace sessiond
