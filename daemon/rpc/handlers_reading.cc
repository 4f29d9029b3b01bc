// Handlers of methods_reading.h.
#include "common/json.h"
#include "common/json_edit.h"
#include "common/json_patch.h"
#include "common/relative_time.h"
#include "common/text.h"
#include "daemon/rpc/handlers.h"
#include "daemon/rpc/history_page.h"
#include "daemon/session/artifact_files.h"

namespace sessiond {
namespace {

Result<RawJson> part_of(const Document& document, const std::optional<std::string>& pointer) {
  if (!pointer || pointer->empty()) return RawJson{to_json_text(document)};
  const json::value whole = document;
  SESSIOND_ASSIGN(const json::value* part, pointer_get(whole, *pointer));
  return RawJson{to_json_text(*part)};
}

// The document of an earlier revision; blocks.
Result<Document> document_at(const View& view, std::int64_t revision) {
  const Snapshot& now = *view.snapshot;
  if (revision == now.revision) return now.document;
  if (now.history == nullptr || revision > now.revision)
    return Error(ErrorCode::not_found, "there is no revision " + std::to_string(revision) +
                                           "; the newest is " + std::to_string(now.revision))
        .with("revision", now.revision);
  SESSIOND_ASSIGN(HistoryFile::AtRevision at, now.history->at_revision(revision, now.history_length));
  return std::move(at.document);
}

SessionList::Item to_item(const ListedSession& listed) {
  SessionList::Item item;
  const SessionBrief& brief = listed.brief;
  item.session_id = listed.id;
  item.root = listed.root;
  item.kind = listed.kind;
  item.status = listed.archived ? "archived" : brief.status;
  item.title = brief.title;
  item.position = brief.position;
  if (brief.progress >= 0) item.progress = brief.progress;
  if (!brief.project.empty()) item.project = brief.project;
  if (!brief.problem.empty()) item.problem = brief.problem;
  item.revision = brief.revision;
  item.created_at = format_rfc3339(brief.created_at);
  item.updated_at = format_rfc3339(brief.updated_at);
  item.last_activity = format_rfc3339(brief.last_activity);
  return item;
}

// "essay-pipeline-20260214-143022 -- Stage 3, Section 2 -- Last active: 2 hours ago".
std::string line_of(const ListedSession& listed, TimePoint now) {
  const SessionBrief& brief = listed.brief;
  const std::string active =
      brief.last_activity == TimePoint{} ? "unknown" : relative_time(brief.last_activity, now);
  return listed.id + " -- " + (brief.position.empty() ? brief.status : brief.position) +
         " -- Last active: " + active;
}

std::string describe_change(const json::object& operation) {
  const std::string op(operation.at("op").as_string());
  const std::string path(operation.at("path").as_string());
  const json::value* value = operation.if_contains("value");
  if (op == "remove") return "- " + path;
  return (op == "add" ? "+ " : "~ ") + path + ": " + (value == nullptr ? "" : brief(*value, 100));
}

}  // namespace

bool must_dig(For<SessionGet>, const SessionGet::Params& params) { return params.at_revision.has_value(); }

Result<SessionGet::Reply> look(For<SessionGet>, const View& view, const SessionGet::Params& params) {
  SessionGet::Reply reply;
  if (!params.pointer || params.pointer->empty()) {
    reply.document.text = view.snapshot->text();
  } else {
    SESSIOND_ASSIGN(reply.document, part_of(view.snapshot->document, params.pointer));
  }
  reply.session = view.envelope();
  return reply;
}

Result<SessionGet::Reply> dig(For<SessionGet>, const View& view, const SessionGet::Params& params) {
  SessionGet::Reply reply;
  SESSIOND_ASSIGN(const Document document, document_at(view, *params.at_revision));
  SESSIOND_ASSIGN(reply.document, part_of(document, params.pointer));
  reply.session = view.envelope();
  return reply;
}

Result<SessionList::Reply> run(For<SessionList>, Context& context, const SessionList::Params& params) {
  ListFilter filter;
  filter.kind = params.kind;
  filter.status = params.status;
  filter.root = params.root;
  filter.project = params.project;
  filter.text = params.text;
  filter.sort = params.sort;
  filter.cursor = params.cursor;
  if (params.cursor) SESSIOND_TRY(check_cursor(*params.cursor));
  if (params.limit) filter.limit = static_cast<std::size_t>(*params.limit);
  if (params.updated_since) {
    const auto since = parse_rfc3339(*params.updated_since);
    if (!since)
      return Error(ErrorCode::invalid_params,
                   "params.updated_since: expected a time such as 2026-01-17T14:30:00Z, got " +
                       quoted(*params.updated_since))
          .with("field", "params.updated_since");
    filter.updated_since = since->time;
  }
  const ListPage page = context.services.registry.list(filter, actor_of(context, {}).viewer);
  SessionList::Reply reply;
  reply.text = page.sessions.empty() ? "No sessions found.\n" : "Sessions found:\n";
  for (const ListedSession& listed : page.sessions) {
    reply.sessions.push_back(to_item(listed));
    reply.text +=
        std::to_string(reply.sessions.size()) + ". " + line_of(listed, context.services.clock.now()) + "\n";
  }
  reply.next_cursor = page.next_cursor;
  reply.total = static_cast<std::int64_t>(page.total);
  return reply;
}

Result<SessionContext::Reply> look(For<SessionContext>, const View& view, const SessionContext::Params&) {
  SessionContext::Reply reply;
  ContextFacts context = view.kind().context(view.snapshot->document, view.services.clock.now());
  reply.session = view.envelope();
  reply.context = std::move(context.facts);
  reply.text = std::move(context.text);
  reply.message = reply.session.session_id + " is " + reply.session.status;
  return reply;
}

Result<SessionValidate::Reply> dig(For<SessionValidate>, const View& view, const SessionValidate::Params&) {
  SessionValidate::Reply reply;
  reply.session = view.envelope();
  reply.valid = true;
  std::vector<Discrepancy> found = view.kind().check(view.snapshot->document);
  if (view.kind().check_files != nullptr) {
    const SessionPlace& place = view.session->place();
    Env& env = view.session->env();
    SESSIOND_ASSIGN(const Open dir, own(env, env.open_dir(place.root_handle, place.id)));
    const Artifacts artifacts = view_artifacts(env, dir.get(), place.directory);
    for (Discrepancy& one : view.kind().check_files(view.snapshot->document, artifacts))
      found.push_back(std::move(one));
  }
  for (Discrepancy& problem : found) {
    const bool error = problem.severity == Discrepancy::Severity::error;
    reply.valid = reply.valid && !error;
    reply.discrepancies.push_back({error ? "error" : "warning", std::move(problem.rule),
                                   std::move(problem.path), std::move(problem.message)});
  }
  return reply;
}

Result<SessionHistory::Reply> dig(For<SessionHistory>, const View& view,
                                  const SessionHistory::Params& params) {
  SessionHistory::Reply reply;
  reply.session = view.envelope();
  const Snapshot& now = *view.snapshot;
  if (now.history == nullptr) return reply;
  const bool reverse = params.reverse.value_or(false);
  HistoryPage page(static_cast<std::size_t>(params.limit.value_or(100)), reverse);
  const std::int64_t last = reverse ? std::min(params.from.value_or(now.seq), now.seq) : now.seq;
  // From the start of the file rather than from the first of our lines: others may stand before it.
  std::int64_t first = reverse ? last - params.limit.value_or(100) + 1 : params.from.value_or(0);
  if (reverse && first < 2) first = 0;
  SESSIOND_TRY(now.history->each_line(first, now.history_length,
                                      [&](std::string& line) { return page.add(line, last); }));
  std::vector<std::string> lines = page.take(reply.next);
  if (!reply.next && reverse && first > 0) reply.next = first - 1;
  if (reverse) std::reverse(lines.begin(), lines.end());
  for (std::string& line : lines) reply.entries.push_back(RawJson{std::move(line)});
  return reply;
}

Result<SessionDiff::Reply> dig(For<SessionDiff>, const View& view, const SessionDiff::Params& params) {
  SessionDiff::Reply reply;
  reply.from = params.from;
  reply.to = params.to.value_or(view.snapshot->revision);
  SESSIOND_ASSIGN(const Document before, document_at(view, reply.from));
  SESSIOND_ASSIGN(const Document after, document_at(view, reply.to));
  json::array changes = json_diff(before, after);
  for (const json::value& operation : changes) (reply.text += describe_change(operation.as_object())) += '\n';
  if (changes.empty()) reply.text = "no difference\n";
  reply.changes = std::move(changes);
  reply.session = view.envelope();
  return reply;
}

}  // namespace sessiond
