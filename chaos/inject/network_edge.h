// Where one process's connections meet the network: holds back what a trouble
// makes late. The inside of FaultyNetwork.
//
// On each connection a courier brings what is late on the way out, and a reader
// takes what comes in, so that each frame is late by its own lateness from the
// moment it came. Both begin with the first trouble; without one, frames pass
// straight through.
#ifndef GAUNTLET_CHAOS_INJECT_NETWORK_EDGE_H_
#define GAUNTLET_CHAOS_INJECT_NETWORK_EDGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "chaos/inject/link_troubles.h"
#include "engine/world/event_log.h"
#include "engine/world/network.h"
#include "engine/world/tasks.h"

namespace gauntlet {

// One connection.
struct EdgeLine;

// Safe from any task.
class NetworkEdge {
 public:
  // On one way of one connection.
  static constexpr size_t kMaxHeldBytes = size_t{64} << 20;

  // Says in `events`, which may be null, which frames are late.
  NetworkEdge(Clock& clock, Tasks& tasks, uint64_t seed, EventLog* events);

  std::shared_ptr<EdgeLine> Add(std::unique_ptr<Channel> base);
  // REQUIRES: IsOfNetwork(fault.kind), and it names no groups.
  void Begin(const Fault& fault);
  // Waits for all couriers and readers. REQUIRES: every line is closed.
  void End();
  // No connection comes about while either way is cut.
  void SleepWhileCut(Time deadline);

  Status Send(const std::shared_ptr<EdgeLine>& line, Frame frame,
              Time deadline);
  Result<Frame> Receive(const std::shared_ptr<EdgeLine>& line, Time deadline);
  void Close(EdgeLine& line);
  // When the first frame of a new line, which has just come, may be handed out.
  Time DueOfFirst(EdgeLine& line);
  const Nonce& NonceOf(const EdgeLine& line) const;

 private:
  enum class Taking : uint8_t { kPasses, kTaken, kNeedsCourier, kNoRoom };
  enum class Waiting : uint8_t { kHere, kInTheBase, kNeedsReader };

  void Reset();
  bool TakeReadersPlace(EdgeLine& line);
  Result<Taking> Take(EdgeLine& line, Frame& frame);
  void StartCourier(const std::shared_ptr<EdgeLine>& line);
  bool BringNext(EdgeLine& line);
  void StartReader(const std::shared_ptr<EdgeLine>& line);
  bool ReadNext(EdgeLine& line);
  std::optional<Result<Frame>> HandOut(EdgeLine& line, Waiting& waiting,
                                       Time& until);
  bool PutAside(EdgeLine& line, Result<Frame>& came);
  void Keep(EdgeLine& line, Result<Frame>&& came);

  Clock& clock_;
  Tasks& tasks_;
  std::atomic<bool> troubled_ = false;  // now or at some time before
  std::mutex mutex_;                    // of all below, and of the lines
  bool ending_ = false;
  LinkTroubles troubles_;
  std::vector<std::weak_ptr<EdgeLine>> lines_;
  std::vector<std::unique_ptr<Task>> helpers_;  // couriers and readers
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_NETWORK_EDGE_H_
