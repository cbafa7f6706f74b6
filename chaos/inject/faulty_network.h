// A network between the engine and the world's: brings the network faults of a
// plan to one process, at its own end of each connection, and is the world's
// network in all else.
//
// What each fault does is said in chaos/inject/plan.h. While a way is cut,
// frames stay here: outgoing ones up to kMaxHeldBytes, then Send waits, as with
// any network that takes no more; incoming ones with the network. A process has
// one of these. Safe from any task.
#ifndef GAUNTLET_CHAOS_INJECT_FAULTY_NETWORK_H_
#define GAUNTLET_CHAOS_INJECT_FAULTY_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "chaos/inject/plan.h"
#include "engine/world/clock.h"
#include "engine/world/network.h"
#include "engine/world/tasks.h"

namespace gauntlet {

class FaultyNetwork final : public Network {
 public:
  // On the way out of one connection.
  static constexpr size_t kMaxHeldBytes = size_t{64} << 20;

  // All must outlive this; `seed` is the plan's.
  FaultyNetwork(Network& base, Clock& clock, Tasks& tasks, uint64_t seed);
  // Waits for the tasks that bring late frames; what is late is not sent.
  // REQUIRES: its channels and listeners are gone.
  ~FaultyNetwork() override;

  Result<std::unique_ptr<Listener>> Listen(const std::string& address) override;
  Result<std::unique_ptr<Channel>> Connect(const std::string& address,
                                           Time deadline) override;

  // The fault begins, for all connections of this process, also later ones.
  // REQUIRES: IsOfNetwork(fault.kind), and it names no groups.
  void Trouble(const Fault& fault);

 private:
  class Edge;
  struct Line;
  class FaultyChannel;
  class FaultyListener;

  std::shared_ptr<Edge> edge_;
  Network& base_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_FAULTY_NETWORK_H_
