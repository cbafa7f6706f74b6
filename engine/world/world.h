// Everything outside the engine, as references: the engine uses nothing else.
#ifndef GAUNTLET_ENGINE_WORLD_WORLD_H_
#define GAUNTLET_ENGINE_WORLD_WORLD_H_

#include "engine/world/clock.h"
#include "engine/world/entropy.h"
#include "engine/world/event_log.h"
#include "engine/world/fault_point.h"
#include "engine/world/host.h"
#include "engine/world/network.h"
#include "engine/world/storage.h"
#include "engine/world/tasks.h"

namespace gauntlet {

struct World {
  Clock& clock;
  Storage& storage;
  Network& network;
  Tasks& tasks;
  Host& host;
  FaultPoints& faults;
  EventLog& events;
  Entropy& entropy;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_WORLD_H_
