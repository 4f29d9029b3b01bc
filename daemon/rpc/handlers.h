// One function per method of proto/methods.h, overloaded on the method's own Params type through a tag. A
// handler gets decoded parameters, returns a Result, and knows neither ids nor connections.
#pragma once

#include "daemon/rpc/caller.h"
#include "daemon/rpc/services.h"
#include "proto/methods.h"

namespace sessiond {

template <class M>
struct For {};

struct Context {
  Services& services;
  Caller& caller;
};

// In handlers_daemon.cc.
Result<DaemonPing::Reply> run(For<DaemonPing>, Context&, const DaemonPing::Params&);
Result<DaemonInfo::Reply> run(For<DaemonInfo>, Context&, const DaemonInfo::Params&);
Result<DaemonStats::Reply> run(For<DaemonStats>, Context&, const DaemonStats::Params&);
Result<ClientHello::Reply> run(For<ClientHello>, Context&, const ClientHello::Params&);
Result<RpcDiscover::Reply> run(For<RpcDiscover>, Context&, const RpcDiscover::Params&);

}  // namespace sessiond
