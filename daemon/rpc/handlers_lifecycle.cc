// Handlers of methods_lifecycle.h: the kind decides.
#include "daemon/rpc/handlers.h"

namespace sessiond {
namespace {

// What validation found, and what can be done about it.
void report_discrepancies(const Kind& kind, Applied<SessionResume::Reply>& applied,
                          const Artifacts& artifacts) {
  std::vector<Discrepancy> found = kind.check(applied.document);
  for (Discrepancy& one : kind.check_files(applied.document, artifacts)) found.push_back(std::move(one));
  json::array list;
  for (const Discrepancy& one : found) {
    const bool error = one.severity == Discrepancy::Severity::error;
    list.push_back(json::object{{"severity", error ? "error" : "warning"},
                                {"rule", one.rule},
                                {"path", one.path},
                                {"message", one.message}});
    applied.reply.text += "Discrepancy: " + one.path + ": " + one.message + "\n";
  }
  applied.reply.context["discrepancies"] = std::move(list);
  if (found.empty()) return;
  applied.reply.context["choices"] = json::array{
      "put the missing files back, then session.validate", "session.revert to an earlier revision",
      "do the stage again with its own methods", "go on as it is (skip_verify)"};
  applied.reply.message += ". " + std::to_string(found.size()) + " discrepancies: see context.choices";
}

}  // namespace

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
  if (!params.skip_verify.value_or(false) && view.kind().check_files != nullptr &&
      moment.artifacts != nullptr)
    report_discrepancies(view.kind(), applied, *moment.artifacts);
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
