// The edge between one process's connections and the network: holds back the
// frames that a fault makes late, and doubles frames. Internal to
// FaultyNetwork.
//
// On each connection, a courier task sends late outgoing frames. A reader task
// receives incoming ones, so that each frame's lateness counts from its own
// arrival. Both tasks start with the first fault; without one, frames pass
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

#include "chaos/inject/link_faults.h"
#include "engine/world/event_log.h"
#include "engine/world/network.h"
#include "engine/world/tasks.h"

namespace gauntlet {

// One connection.
struct EdgeLine;

// Safe from any task.
class NetworkEdge {
 public:
  // Limit for one direction of one connection.
  static constexpr size_t kMaxHeldBytes = size_t{64} << 20;

  // Emits an event for each late frame to `events`, which may be null.
  NetworkEdge(Clock& clock, Tasks& tasks, uint64_t seed, EventLog* events);

  std::shared_ptr<EdgeLine> Add(std::unique_ptr<Channel> base);
  // REQUIRES: IsNetworkFault(fault.kind), and the fault names no groups.
  void Begin(const Fault& fault);
  // Waits for all couriers and readers. REQUIRES: every line is closed.
  void End();
  // Sleeps while either direction is cut, as no connection can be made then.
  void SleepWhileCut(Time deadline);

  Status Send(const std::shared_ptr<EdgeLine>& line, Frame frame,
              Time deadline);
  Result<Frame> Receive(const std::shared_ptr<EdgeLine>& line, Time deadline);
  void Close(EdgeLine& line);
  // Handles the first frame of a new line. The frame has just arrived. Returns
  // the time at which it may be handed out. If a fault duplicates the frame,
  // queues the copy as the line's next frame.
  Time TakeFirst(EdgeLine& line, const Frame& first);
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
  void PutCopy(EdgeLine& line, const Frame& frame);
  void QueueIncoming(EdgeLine& line, Result<Frame>&& came);

  Clock& clock_;
  Tasks& tasks_;
  std::atomic<bool> has_faults_ = false;  // a fault has begun, and may be over
  std::mutex mutex_;                      // guards all below, and the lines
  bool ending_ = false;
  LinkFaults faults_;
  std::vector<std::weak_ptr<EdgeLine>> lines_;
  std::vector<std::unique_ptr<Task>> helpers_;  // couriers and readers
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_NETWORK_EDGE_H_
