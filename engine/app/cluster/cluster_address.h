// Chooses the addresses at which a worker of a resolved cluster listens and is
// reached.
#ifndef GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_ADDRESS_H_
#define GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_ADDRESS_H_

#include <optional>

#include "engine/cluster/resolver/cluster_resolver.h"
#include "engine/real/network/tcp_socket.h"
#include "engine/status.h"
#include "engine/train/worker_processes.h"
#include "engine/world/clock.h"
#include "engine/world/host.h"

namespace gauntlet {

struct ReachableWorker {
  WorkerSpec spec;
  // Port that MakeReachable chose for the worker, reserved until the worker
  // listens; nullopt if it chose none.
  std::optional<ReservedPort> port;
};

// Chooses both addresses. The worker listens only at its own address in the
// cluster's list. If the list has no address for the worker, the worker takes a
// free port of the local address on the route to the chief. In both cases,
// --listen (ResolvedCluster::listen) replaces the host.
//
// kInvalidArgument, with the remedy (--listen): the address belongs to another
// machine, such as a load balancer; or its name resolves to loopback here while
// workers may be on several hosts. If a name does not resolve yet, retries
// until the deadline (kDeadlineExceeded).
Result<ReachableWorker> MakeReachable(const ResolvedCluster& cluster,
                                      const Host& host, Clock& clock,
                                      Time deadline);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_ADDRESS_H_
