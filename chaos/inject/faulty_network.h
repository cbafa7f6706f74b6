// A network between the engine and the world's: brings the network faults of a
// plan to one process, at its own end of each connection, and is the world's
// network in all else.
//
// What each fault does is said in chaos/inject/plan.h. What is late or cut off
// stays here, up to NetworkEdge::kMaxHeldBytes on each way of a connection:
// then Send waits, as with any network that takes no more, and what comes in
// stays with the network. A process has one of these. Safe from any task.
#ifndef GAUNTLET_CHAOS_INJECT_FAULTY_NETWORK_H_
#define GAUNTLET_CHAOS_INJECT_FAULTY_NETWORK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "chaos/inject/plan.h"
#include "engine/world/clock.h"
#include "engine/world/event_log.h"
#include "engine/world/network.h"
#include "engine/world/tasks.h"

namespace gauntlet {

class NetworkEdge;

class FaultyNetwork final : public Network {
 public:
  // All must outlive this; `seed` is the plan's. Says in `events`, which may be
  // null, which frames are late.
  FaultyNetwork(Network& base, Clock& clock, Tasks& tasks, uint64_t seed,
                EventLog* events = nullptr);
  // Waits for the tasks that hold frames back; what is late is not sent.
  // REQUIRES: its channels and listeners are gone.
  ~FaultyNetwork() override;

  using Network::Listen;
  Result<std::unique_ptr<Listener>> Listen(const std::string& address,
                                           ConnectionFilter filter) override;
  Result<std::unique_ptr<Channel>> Connect(const std::string& address,
                                           Time deadline) override;

  // The fault begins, for all connections of this process, also later ones.
  // REQUIRES: IsOfNetwork(fault.kind), and it names no groups.
  void Trouble(const Fault& fault);

 private:
  const std::unique_ptr<NetworkEdge> edge_;
  Network& base_;
  Clock& clock_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_FAULTY_NETWORK_H_
