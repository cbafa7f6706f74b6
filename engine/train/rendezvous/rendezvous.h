// Options of a worker's rendezvous, from its place and the cluster options.
#ifndef GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_RENDEZVOUS_H_
#define GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_RENDEZVOUS_H_

#include "engine/cluster/session/session.h"
#include "engine/train/options.h"
#include "engine/train/worker_processes.h"

namespace gauntlet {

inline SessionOptions RendezvousOptions(const WorkerSpec& place,
                                        const ClusterOptions& cluster) {
  return {.rank = place.rank,
          .addresses = place.addresses,
          .address_book = place.address_book,
          .listen_on = place.listen_on,
          .token = place.token,
          .insecure = place.insecure,
          .rendezvous_timeout = cluster.rendezvous_timeout,
          .decision_timeout = cluster.save_timeout,
          .heartbeat_every = cluster.heartbeat_every,
          .lost_after = cluster.lost_after};
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_RENDEZVOUS_H_
