// From a resolved cluster to the place of a worker that can be reached there.
#ifndef GAUNTLET_HARNESS_CLI_CLUSTER_CLUSTER_PLACE_H_
#define GAUNTLET_HARNESS_CLI_CLUSTER_CLUSTER_PLACE_H_

#include <optional>

#include "engine/cluster/resolver/cluster_resolver.h"
#include "engine/real/network/tcp_socket.h"
#include "engine/status.h"
#include "engine/train/worker_processes.h"
#include "engine/world/clock.h"
#include "engine/world/host.h"

namespace gauntlet {

struct ReachablePlace {
  WorkerSpec spec;
  // The port of a worker that chose its own, set aside until it listens.
  std::optional<ReservedPort> port;
};

// A worker listens where the others were told to find it, and nowhere else. A
// worker whose address nobody knows takes a free port of the address that leads
// to the chief. --listen (ResolvedCluster::listen) comes before both.
//
// kInvalidArgument, with the remedy (--listen): the address is another
// machine's, as that of a load balancer is; or its name stands for loopback
// here and the workers may be on several hosts. Waits for names to be known
// until the deadline (kDeadlineExceeded).
Result<ReachablePlace> MakeReachable(const ResolvedCluster& cluster,
                                     const Host& host, Clock& clock,
                                     Time deadline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CLUSTER_CLUSTER_PLACE_H_
