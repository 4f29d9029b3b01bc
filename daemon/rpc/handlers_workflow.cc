// Handlers of methods_workflow.h: the kind decides, the session layer keeps.
#include "daemon/kinds/workflow.h"

#include "common/uuid.h"
#include "daemon/rpc/create_session.h"
#include "daemon/rpc/handlers.h"

namespace sessiond {

void begin(For<WorkflowCreate>, Context& context, const WorkflowCreate::Params& params,
           const WriteOptions& options, Done_<WorkflowCreate> done) {
  const std::string id = params.session_id         ? *params.session_id
                         : options.idempotency_key ? id_from_key(context, *options.idempotency_key)
                                                   : make_uuid();
  create_session<WorkflowCreate>(
      context, options, workflow_kind(), params.root, id, encode(params),
      [id, params](const Moment& moment) { return workflow::create(id, params, moment); }, std::move(done));
}

Change<WorkflowCompletePhase> change(For<WorkflowCompletePhase>, const View&, const Document& document,
                                     const WorkflowCompletePhase::Params& params, const Moment& moment) {
  return workflow::complete_phase(document, params, moment);
}

Change<WorkflowRetryPhase> change(For<WorkflowRetryPhase>, const View&, const Document& document,
                                  const WorkflowRetryPhase::Params& params, const Moment& moment) {
  return workflow::retry_phase(document, params, moment);
}

Change<WorkflowRollback> change(For<WorkflowRollback>, const View&, const Document& document,
                                const WorkflowRollback::Params& params, const Moment& moment) {
  return workflow::rollback(document, params, moment);
}

Change<WorkflowRecordError> change(For<WorkflowRecordError>, const View&, const Document& document,
                                   const WorkflowRecordError::Params& params, const Moment& moment) {
  return workflow::record_error(document, params, moment);
}

Result<WorkflowGetErrors::Reply> look(For<WorkflowGetErrors>, const View& view,
                                      const WorkflowGetErrors::Params& params) {
  SESSIOND_ASSIGN(WorkflowGetErrors::Reply reply, workflow::get_errors(view.snapshot->document, params));
  reply.session = view.envelope();
  return reply;
}

}  // namespace sessiond
