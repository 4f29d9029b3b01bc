// Handlers of methods_bundle.h.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/digest.h"
#include "common/json.h"
#include "common/text.h"
#include "common/uuid.h"
#include "daemon/kinds/kinds.h"
#include "daemon/rpc/handlers.h"
#include "daemon/session/artifact_files.h"
#include "daemon/session/bundle.h"
#include "daemon/session/manual_recovery.h"
#include "daemon/session/state_text.h"

namespace sessiond {
namespace {

Error file_failure(const std::string& path, std::string_view what) {
  return Error(ErrorCode::storage_error, path + ": " + std::string(what) + ": " + std::strerror(errno))
      .with("file", path);
}

// Files outside the roots are touched only for those whose files they are.
Status check_path(const Actor& actor, const std::string& path) {
  if (actor.viewer.only_uid)
    return Error(ErrorCode::access_denied,
                 "params.path: only the daemon's own user may name files; leave it out to get or give the "
                 "content itself")
        .with("field", "params.path");
  if (path.starts_with('/')) return {};
  return Error(ErrorCode::invalid_params, "params.path: expected an absolute path, got " + quoted(path))
      .with("field", "params.path");
}

// Never overwrites.
Status write_new_file(const std::string& path, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return file_failure(path, "cannot make the file");
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      Error error = file_failure(path, "cannot write");
      ::close(file);
      ::unlink(path.c_str());
      return error;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  const bool synced = ::fsync(file) == 0;
  ::close(file);
  return synced ? Status() : file_failure(path, "cannot sync");
}

Result<std::string> read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return file_failure(path, "cannot open");
  struct stat info {};
  std::string bytes;
  Status status;
  if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
    status = Error(ErrorCode::storage_error, path + ": not a regular file");
  else if (static_cast<std::size_t>(info.st_size) > bundle_bytes_max)
    status = Error(ErrorCode::limit_exceeded,
                   path + ": larger than " + std::to_string(bundle_bytes_max) + " bytes");
  else
    bytes.resize(static_cast<std::size_t>(info.st_size));
  for (std::size_t at = 0; status && at < bytes.size();) {
    const ssize_t count = ::pread(file, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) status = file_failure(path, "cannot read");
    at += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  ::close(file);
  if (!status) return std::move(status).error();
  return bytes;
}

Result<std::string> history_text(const Snapshot& snapshot) {
  std::string out;
  SESSIOND_ASSIGN(const std::vector<std::string> lines,
                  snapshot.history->lines_from(1, static_cast<std::size_t>(-1), snapshot.history_length));
  for (const std::string& line : lines) {
    (out += line) += '\n';
    if (out.size() > bundle_bytes_max)
      return Error(ErrorCode::limit_exceeded, "the history is too large for a bundle");
  }
  return out;
}

// Everything that belongs to the session; on its strand, so that nothing changes meanwhile.
Result<std::string> collect(Env& env, const SessionPlace& place, const Snapshot& snapshot,
                            const std::string& format) {
  if (format == "state") return render_state(*place.kind, snapshot.document).front().bytes;
  if (snapshot.history == nullptr)
    return Error(ErrorCode::refused, "the session has no history yet; its first change starts one")
        .next("export with format=state");
  Bundle bundle{std::string(place.kind->name), place.id, snapshot.revision, "",
                render_state(*place.kind, snapshot.document)};
  SESSIOND_ASSIGN(bundle.history, history_text(snapshot));
  SESSIOND_ASSIGN(const Open dir, own(env, env.open_dir(place.root_handle, place.id)));
  SESSIOND_ASSIGN(const std::vector<Artifact> artifacts, list_artifacts(env, dir.get()));
  std::size_t total = bundle.history.size();
  for (const Artifact& artifact : artifacts) {
    SESSIOND_ASSIGN(std::string bytes, read_all(env, dir.get(), artifact.name, bundle_bytes_max - total));
    total += bytes.size();
    bundle.files.push_back({artifact.name, std::move(bytes)});
  }
  return pack_bundle(bundle);
}

Result<SessionExport::Reply> export_session(Services& services, const Session& session,
                                            const Snapshot& snapshot, const SessionExport::Params& params) {
  SessionExport::Reply reply;
  reply.format = params.format.value_or("bundle");
  SESSIOND_ASSIGN(const std::string bytes, collect(session.env(), session.place(), snapshot, reply.format));
  reply.bytes = static_cast<std::int64_t>(bytes.size());
  reply.sha256 = sha256_hex(bytes);
  if (params.path) {
    SESSIOND_TRY(write_new_file(*params.path, bytes));
    reply.path = params.path;
  } else {
    reply.base64 = to_base64(bytes);
  }
  reply.session = make_envelope(session.place(), snapshot, services.clock.now());
  return reply;
}

Result<std::string> import_bytes(const SessionImport::Params& params) {
  if (params.path.has_value() == params.base64.has_value())
    return Error(ErrorCode::invalid_params, "params: give either path or base64")
        .with("field", "params.path");
  if (params.path) return read_file(*params.path);
  if (std::optional<std::string> bytes = from_base64(*params.base64)) return std::move(*bytes);
  return Error(ErrorCode::invalid_params, "params.base64: not base64").with("field", "params.base64");
}

Result<const Kind*> kind_named(const std::string& name) {
  if (const Kind* kind = find_kind(name)) return kind;
  return Error(ErrorCode::unsupported, "sessions of kind " + quoted(name) + " are not known here");
}

// A plain state file: a new session whose first revision is the file's content.
Result<std::shared_ptr<Session>> import_state(Services& services, const Actor& actor,
                                              const SessionImport::Params& params, std::string_view bytes,
                                              std::vector<std::string>& warnings) {
  if (!params.kind)
    return Error(ErrorCode::invalid_params, "params.kind: required for a plain state file")
        .with("field", "params.kind");
  SESSIOND_ASSIGN(const Kind* kind, kind_named(*params.kind));
  if (kind->files.size() != 1)
    return Error(ErrorCode::unsupported,
                 "sessions of kind " + *params.kind + " have several files; import a bundle");
  std::map<std::string, json::value> files;
  SESSIOND_ASSIGN(files[std::string(kind->files[0].name)], parse_state(kind->files[0], bytes));
  std::vector<Discrepancy> off;
  SESSIOND_ASSIGN(Document document, kind->import(files, off));
  for (const Discrepancy& problem : off) warnings.push_back(problem.path + ": " + problem.message);
  const std::string id = params.session_id.value_or(kind->own_id(document).value_or(make_uuid()));
  if (params.session_id) kind->rename(document, id);
  HistoryLine line;
  line.command = SessionImport::name;
  line.arguments = json::object{{"session_id", id}, {"kind", kind->name}};
  line.agent = actor.agent;
  line.model = actor.model;
  return services.registry.create(*kind, params.root, id, document, std::move(line), actor.viewer);
}

Result<std::shared_ptr<Session>> import_bundle(Services& services, const Actor& actor,
                                               const SessionImport::Params& params, std::string_view bytes) {
  SESSIOND_ASSIGN(const Bundle bundle, unpack_bundle(bytes));
  SESSIOND_ASSIGN(const Kind* kind, kind_named(bundle.kind));
  return services.registry.create_from(*kind, params.root, params.session_id.value_or(bundle.session_id),
                                       bundle, actor.viewer);
}

void finish_import(Services& services, const std::shared_ptr<Session>& session,
                   std::vector<std::string> warnings, const Done_<SessionImport>& done) {
  session->look(
      [&services, session, done, warnings = std::move(warnings)](Result<Session::SnapshotPtr> snapshot) {
        if (!snapshot) return done(snapshot.error());
        MessageReply reply;
        reply.session = make_envelope(session->place(), **snapshot, services.clock.now());
        reply.session.warnings.insert(reply.session.warnings.end(), warnings.begin(), warnings.end());
        reply.message = "Session " + session->place().id + " was imported at revision " +
                        std::to_string((*snapshot)->revision) + ".";
        done(reply);
      });
}

// Records where the session came from, whose it is now and under which name.
void record_import(Services& services, const std::shared_ptr<Session>& session, const Actor& actor,
                   Done_<SessionImport> done) {
  Command command;
  command.name = SessionImport::name;
  command.arguments = json::object{{"session_id", session->place().id}};
  command.options.agent = actor.agent;
  command.options.model = actor.model;
  command.meta = {{"owner_uid", actor.viewer.uid}};
  command.allowed_when_ended = true;
  command.apply = [id = session->place().id, kind = session->place().kind](const Document& document,
                                                                           const Moment&) -> Result<Outcome> {
    Outcome outcome;
    outcome.document = document;
    if (kind->own_id(document)) kind->rename(outcome.document, id);
    outcome.write_reply = [](const Envelope&, std::string&) {};
    return outcome;
  };
  command.done = [&services, session, done](const Result<std::string>& recorded) {
    if (!recorded) return done(recorded.error());
    finish_import(services, session, {}, done);
  };
  session->submit(std::move(command));
}

}  // namespace

void begin(For<SessionExport>, Context& context, const SessionExport::Params& params, const WriteOptions&,
           Done_<SessionExport> done) {
  Services& services = context.services;
  const Actor actor = actor_of(context, {});
  if (params.path)
    if (Status allowed = check_path(actor, *params.path); !allowed) return done(allowed.error());
  Result<std::shared_ptr<Session>> session = services.registry.find(params.session_id, actor.viewer);
  if (!session) return done(session.error());
  const std::shared_ptr<Session>& found = *session;
  found->exclusively(
      [&services, weak = std::weak_ptr(found), params, done](Result<Session::SnapshotPtr> snapshot) {
        const std::shared_ptr<Session> alive = weak.lock();
        done(snapshot ? export_session(services, *alive, **snapshot, params)
                      : Result<SessionExport::Reply>(snapshot.error()));
        return false;
      },
      [done](const Error& error) { done(error); });
}

void begin(For<SessionImport>, Context& context, const SessionImport::Params& params,
           const WriteOptions& options, Done_<SessionImport> done) {
  Services& services = context.services;
  const Actor actor = actor_of(context, options);
  if (params.path)
    if (Status allowed = check_path(actor, *params.path); !allowed) return done(allowed.error());
  services.pool.post([&services, actor, params, done] {
    const Result<std::string> bytes = import_bytes(params);
    if (!bytes) return done(bytes.error());
    if (looks_like_bundle(*bytes)) {
      Result<std::shared_ptr<Session>> made = import_bundle(services, actor, params, *bytes);
      return made ? record_import(services, *made, actor, done) : done(made.error());
    }
    std::vector<std::string> warnings;
    Result<std::shared_ptr<Session>> made = import_state(services, actor, params, *bytes, warnings);
    return made ? finish_import(services, *made, std::move(warnings), done) : done(made.error());
  });
}

void begin(For<SessionRecover>, Context& context, const SessionRecover::Params& params,
           const WriteOptions& options, Done_<SessionRecover> done) {
  Services& services = context.services;
  Result<std::shared_ptr<Session>> session =
      services.registry.find(params.session_id, actor_of(context, options).viewer);
  if (!session) return done(session.error());
  const std::shared_ptr<Session> found = *session;
  found->exclusively(
      [&services, weak = std::weak_ptr(found), params, done](const Result<Session::SnapshotPtr>& last) {
        const std::shared_ptr<Session> alive = weak.lock();
        const SessionPlace& place = alive->place();
        Result<std::unique_ptr<SessionStore>> store =
            SessionStore::open(alive->env(), place.root_handle, place.id);
        Result<RecoveryReport> report =
            store ? recover_session(**store, *place.kind,
                                    {params.from, params.directions, last.ok(), place.directory},
                                    services.clock.now())
                  : Result<RecoveryReport>(store.error());
        if (!report) {
          done(report.error());
          return false;
        }
        alive->look([&services, weak, done, report = *report](Result<Session::SnapshotPtr> snapshot) {
          if (!snapshot) return done(snapshot.error());
          SessionRecover::Reply reply;
          reply.session = make_envelope(weak.lock()->place(), **snapshot, services.clock.now());
          reply.recovery = report.to_json();
          reply.message = report.message;
          done(reply);
        });
        return false;
      },
      [done](const Error& error) { done(error); });
}

}  // namespace sessiond
