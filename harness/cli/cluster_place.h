// From a resolved cluster to the place of a worker that can be reached there.
#ifndef GAUNTLET_HARNESS_CLI_CLUSTER_PLACE_H_
#define GAUNTLET_HARNESS_CLI_CLUSTER_PLACE_H_

#include <optional>

#include "engine/cluster/cluster_resolver.h"
#include "engine/real/tcp_socket.h"
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

// A worker listens on all interfaces (a host's name may stand for its loopback
// in its own eyes), unless the chief's address is a loopback one, so that the
// whole cluster is on this host. A worker whose address nobody knows takes a
// free port, and the address that leads to the chief.
//
// Waits for the chief's name to be known until the deadline
// (kDeadlineExceeded).
Result<ReachablePlace> MakeReachable(const ResolvedCluster& cluster,
                                     const Host& host, Clock& clock,
                                     Time deadline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CLUSTER_PLACE_H_
