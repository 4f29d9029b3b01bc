// Handlers of methods_lifecycle.h: the kind decides.
#include "daemon/rpc/handlers.h"

namespace sessiond {

Change<SessionPause> change(For<SessionPause>, const View& view, const Document& document,
                            const SessionPause::Params& params, const Moment& moment) {
  return view.kind().pause(document, params, moment);
}

Change<SessionResume> change(For<SessionResume>, const View& view, const Document& document,
                             const SessionResume::Params& params, const Moment& moment) {
  SESSIOND_ASSIGN(auto applied, view.kind().resume(document, params, moment));
  ContextFacts context = view.kind().context(applied.document, moment.now);
  applied.reply.context = std::move(context.facts);
  applied.reply.text = std::move(context.text);
  return applied;
}

Change<SessionComplete> change(For<SessionComplete>, const View& view, const Document& document,
                               const SessionComplete::Params& params, const Moment& moment) {
  return view.kind().complete(document, params, moment);
}

Change<SessionAbort> change(For<SessionAbort>, const View& view, const Document& document,
                            const SessionAbort::Params& params, const Moment& moment) {
  return view.kind().abort(document, params, moment);
}

Change<SessionUpdate> change(For<SessionUpdate>, const View& view, const Document& document,
                             const SessionUpdate::Params& params, const Moment& moment) {
  return view.kind().update(document, params, moment);
}

}  // namespace sessiond
