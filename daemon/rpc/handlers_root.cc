// Handlers of methods_root.h.
#include "common/text.h"
#include "daemon/kinds/kinds.h"
#include "daemon/rpc/handlers.h"

namespace sessiond {
namespace {

RootItem to_item(const RootInfo& info) {
  RootItem item;
  item.name = info.name;
  item.path = info.path;
  item.kind = info.kind;
  item.origin = info.origin;
  item.sessions = static_cast<std::int64_t>(info.sessions);
  item.problems = static_cast<std::int64_t>(info.problems);
  return item;
}

Result<const Kind*> known_kind(const std::string& name) {
  if (const Kind* kind = find_kind(name)) return kind;
  std::vector<std::string_view> names;
  for (const Kind* kind : all_kinds()) names.push_back(kind->name);
  return Error(ErrorCode::invalid_params, "params.kind: expected one of " + join(names, ", ") + ", got " +
                                              quoted(name) + did_you_mean(name, names))
      .with("field", "params.kind");
}

// Directories are for the one who runs the daemon, not for everybody it serves.
Status check_owner(const Context& context) {
  if (!actor_of(context, {}).viewer.only_uid) return {};
  return Error(ErrorCode::access_denied, "only the daemon's own user may change roots");
}

template <class Done, class Work>
void work(Services& services, const Done& done, Work job) {
  services.pool.post([done, job = std::move(job)] { answer_guarded(done, job); });
}

}  // namespace

Result<RootList::Reply> run(For<RootList>, Context& context, const RootList::Params&) {
  RootList::Reply reply;
  for (const RootInfo& info : context.services.registry.roots()) reply.roots.push_back(to_item(info));
  return reply;
}

void begin(For<RootAdd>, Context& context, const RootAdd::Params& params, const WriteOptions&,
           Done_<RootAdd> done) {
  if (Status allowed = check_owner(context); !allowed) return done(allowed.error());
  Services& services = context.services;
  work(services, done, [&services, params, done] {
    const Result<const Kind*> kind = known_kind(params.kind);
    if (!kind) return done(kind.error());
    const Result<RootInfo> added = services.registry.add_root(params.path, **kind, params.name);
    done(added ? Result<RootItem>(to_item(*added)) : Result<RootItem>(added.error()));
  });
}

void begin(For<RootRemove>, Context& context, const RootRemove::Params& params, const WriteOptions&,
           Done_<RootRemove> done) {
  if (Status allowed = check_owner(context); !allowed) return done(allowed.error());
  Services& services = context.services;
  work(services, done, [&services, params, done] {
    if (Status removed = services.registry.remove_root(params.name); !removed) return done(removed.error());
    RootRemove::Reply reply;
    reply.name = params.name;
    reply.message = "The root is forgotten; its files stay where they are.";
    done(reply);
  });
}

void begin(For<RootScan>, Context& context, const RootScan::Params& params, const WriteOptions&,
           Done_<RootScan> done) {
  Services& services = context.services;
  work(services, done, [&services, params, done] {
    const Result<RootInfo> scanned = services.registry.scan(params.name);
    done(scanned ? Result<RootItem>(to_item(*scanned)) : Result<RootItem>(scanned.error()));
  });
}

}  // namespace sessiond
