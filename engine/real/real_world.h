// This machine and this process as a World, without faults.
#ifndef GAUNTLET_ENGINE_REAL_REAL_WORLD_H_
#define GAUNTLET_ENGINE_REAL_REAL_WORLD_H_

#include "engine/real/host/real_host.h"
#include "engine/real/network/grpc_network.h"
#include "engine/real/posix/system_clock.h"
#include "engine/real/posix/system_entropy.h"
#include "engine/real/posix/thread_tasks.h"
#include "engine/real/storage/event_file.h"
#include "engine/real/storage/posix_storage.h"
#include "engine/world/world.h"

namespace gauntlet {

// Owns the parts of a World; the World must not outlive this. Starts no thread
// before the network is used.
struct RealWorld {
  SystemClock clock;
  PosixStorage storage;
  GrpcNetwork network;
  ThreadTasks tasks;
  RealHost host;
  NoFaults faults;
  NullEventLog events;
  SystemEntropy entropy;

  World world() {
    return {clock, storage, network, tasks, host, faults, events, entropy};
  }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_REAL_WORLD_H_
