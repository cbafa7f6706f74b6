// A network between the engine and the world's: performs the network faults of
// a plan for one process, at its own end of each connection, and otherwise
// passes every call on.
//
// chaos/inject/plan/plan.h defines each fault. Frames that are late, doubled or
// cut off are held here, up to NetworkEdge::kMaxHeldBytes in each direction of
// a connection. Beyond that, Send waits, as with any network that takes no
// more, and incoming frames stay in the base network. A process has one of
// these. Safe from any task.
#ifndef GAUNTLET_CHAOS_INJECT_FAULTY_NETWORK_H_
#define GAUNTLET_CHAOS_INJECT_FAULTY_NETWORK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "chaos/inject/plan/plan.h"
#include "engine/world/clock.h"
#include "engine/world/event_log.h"
#include "engine/world/network.h"
#include "engine/world/tasks.h"

namespace gauntlet {

class NetworkEdge;

class FaultyNetwork final : public Network {
 public:
  // All references must outlive this; `seed` is the plan's. Emits an event for
  // each late frame to `events`, which may be null.
  FaultyNetwork(Network& base, Clock& clock, Tasks& tasks, uint64_t seed,
                EventLog* events = nullptr);
  // Waits for the tasks that hold frames back; late frames are dropped.
  // REQUIRES: its channels and listeners are gone.
  ~FaultyNetwork() override;

  using Network::Listen;
  Result<std::unique_ptr<Listener>> Listen(const std::string& address,
                                           ConnectionFilter filter) override;
  Result<std::unique_ptr<Channel>> Connect(const std::string& address,
                                           Time deadline) override;

  // Begins the fault, for all connections of this process, also later ones.
  // REQUIRES: IsNetworkFault(fault.kind), and the fault names no groups.
  void BeginFault(const Fault& fault);

 private:
  const std::unique_ptr<NetworkEdge> edge_;
  Network& base_;
  Clock& clock_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_FAULTY_NETWORK_H_
