// Handlers of methods_essay.h: the kind decides, the session layer keeps.
#include "common/uuid.h"
#include "daemon/kinds/essay.h"
#include "daemon/rpc/create_session.h"
#include "daemon/rpc/handlers.h"

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

}  // namespace

void begin(For<EssayCreate>, Context& context, const EssayCreate::Params& params, const WriteOptions& options,
           Done_<EssayCreate> done) {
  Services& services = context.services;
  const Actor actor = actor_of(context, options);
  services.pool.post([&services, actor, params, done = std::move(done)] {
    const Moment moment{services.clock.now(), actor.agent.value_or(""), actor.model.value_or("")};
    const std::string base = params.session_id.value_or(default_id(moment.now));
    for (int attempt = 1;; ++attempt) {
      const std::string id = attempt == 1 ? base : base + "-" + std::to_string(attempt);
      Result<std::string> directory = services.registry.directory_for(essay_kind(), params.root, id);
      if (!directory) return done(directory.error());
      auto applied = essay::create({"essay-" + make_uuid(), *directory}, params, moment);
      if (!applied) return done(applied.error());
      HistoryLine line;
      line.command = EssayCreate::name;
      line.arguments = encode(params);
      line.agent = actor.agent;
      line.model = actor.model;
      Result<std::shared_ptr<Session>> made =
          services.registry.create(essay_kind(), params.root, id, applied->document, line, actor.viewer);
      if (!made && made.error().code == ErrorCode::already_exists && !params.session_id &&
          attempt < names_tried_max)
        continue;
      if (!made) return done(made.error());
      (*made)->look([&services, session = *made, reply = std::move(applied->reply),
                     done](Result<Session::SnapshotPtr> snapshot) mutable {
        if (!snapshot) return done(snapshot.error());
        reply.session = make_envelope(session->place(), **snapshot, services.clock.now());
        done(std::move(reply));
      });
      return;
    }
  });
}

Change<EssayCompleteThesis> change(For<EssayCompleteThesis>, const View&, const Document& document,
                                   const EssayCompleteThesis::Params& params, const Moment& moment) {
  return essay::complete_thesis(document, params, moment);
}

Change<EssayCompleteOutline> change(For<EssayCompleteOutline>, const View&, const Document& document,
                                    const EssayCompleteOutline::Params& params, const Moment& moment) {
  return essay::complete_outline(document, params, moment);
}

Change<EssayStartSection> change(For<EssayStartSection>, const View&, const Document& document,
                                 const EssayStartSection::Params& params, const Moment& moment) {
  return essay::start_section(document, params, moment);
}

Change<EssayCompleteSection> change(For<EssayCompleteSection>, const View&, const Document& document,
                                    const EssayCompleteSection::Params& params, const Moment& moment) {
  return essay::complete_section(document, params, moment);
}

Change<EssayApproveBirdsEye> change(For<EssayApproveBirdsEye>, const View&, const Document& document,
                                    const EssayApproveBirdsEye::Params& params, const Moment& moment) {
  return essay::approve_birds_eye(document, params, moment);
}

Change<EssayPlanSection> change(For<EssayPlanSection>, const View&, const Document& document,
                                const EssayPlanSection::Params& params, const Moment& moment) {
  return essay::plan_section(document, params, moment);
}

Change<EssayCompleteParagraph> change(For<EssayCompleteParagraph>, const View&, const Document& document,
                                      const EssayCompleteParagraph::Params& params, const Moment& moment) {
  return essay::complete_paragraph(document, params, moment);
}

Change<EssayCompleteDraft> change(For<EssayCompleteDraft>, const View&, const Document& document,
                                  const EssayCompleteDraft::Params& params, const Moment& moment) {
  return essay::complete_draft(document, params, moment);
}

Change<EssayFinish> change(For<EssayFinish>, const View&, const Document& document,
                           const EssayFinish::Params& params, const Moment& moment) {
  return essay::finish(document, params, moment);
}

Change<EssayDeferVerification> change(For<EssayDeferVerification>, const View&, const Document& document,
                                      const EssayDeferVerification::Params& params, const Moment& moment) {
  return essay::defer_verification(document, params, moment);
}

Change<EssayResolveVerification> change(For<EssayResolveVerification>, const View&, const Document& document,
                                        const EssayResolveVerification::Params& params,
                                        const Moment& moment) {
  return essay::resolve_verification(document, params, moment);
}

Change<EssayOverrideClaim> change(For<EssayOverrideClaim>, const View&, const Document& document,
                                  const EssayOverrideClaim::Params& params, const Moment& moment) {
  return essay::override_claim(document, params, moment);
}

Change<EssayCalibrateVoice> change(For<EssayCalibrateVoice>, const View&, const Document& document,
                                   const EssayCalibrateVoice::Params& params, const Moment& moment) {
  return essay::calibrate_voice(document, params, moment);
}

Change<EssaySetPushback> change(For<EssaySetPushback>, const View&, const Document& document,
                                const EssaySetPushback::Params& params, const Moment& moment) {
  return essay::set_pushback(document, params, moment);
}

}  // namespace sessiond
