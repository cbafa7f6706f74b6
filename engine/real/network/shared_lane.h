// A lane: frames from one process to another on the same host, through memory
// that both map. It carries one direction of a connection. The connection's
// stream stays open, and its end ends the lane too.
//
// The reader creates the memory, a memfd, and offers its process id and
// descriptor. The writer opens the memory under these numbers in /proc. The
// kernel permits this only if the writer may also read the reader's memory. The
// kernel frees the memfd when the last process that maps it ends. The name of
// the memfd contains the connection's nonce. So a writer never opens the memory
// of another connection. A writer on another host, or in another PID namespace,
// finds no memory.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_SHARED_LANE_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_SHARED_LANE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "engine/cluster/link/control_messages.h"
#include "engine/real/posix/descriptor.h"
#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/network.h"

namespace gauntlet {

// One thread may write, or read, at a time; Break is safe from any thread.
class SharedLane {
 public:
  // Maximum number of unread bytes: two of the largest frames.
  static constexpr uint32_t kCapacity = uint32_t{8} << 20;

  // Creates the reader's end. `nonce` is the connection's.
  static Result<std::unique_ptr<SharedLane>> Create(const Nonce& nonce);
  // Opens the writer's end. Returns an error if the offer is from another host
  // or user.
  static Result<std::unique_ptr<SharedLane>> Open(const LaneOffer& offer,
                                                  const Nonce& nonce);
  ~SharedLane();
  SharedLane(const SharedLane&) = delete;
  SharedLane& operator=(const SharedLane&) = delete;

  // REQUIRES: created, not opened.
  LaneOffer offer() const;

  // As Channel::Send and Receive. kUnavailable: this end is broken, and all
  // frames received were returned. kDataLoss: the other end wrote an invalid
  // frame. REQUIRES: the frame has at most kMaxFrameBytes.
  Status Write(std::string_view frame, Time deadline);
  Result<Frame> Read(Time deadline);

  // Ends all waits on this end, present and future.
  void Break();

 private:
  struct Memory;

  SharedLane(Descriptor file, void* memory);
  static Result<std::unique_ptr<SharedLane>> Map(Descriptor file);
  // Wait returns true once `ready` does; false at the deadline, or once this
  // end is broken. `other` is the other end's side.
  struct Side;
  bool Wait(Side& other, Time deadline, const std::function<bool()>& ready);
  bool WaitForRoom(uint32_t bytes, Time deadline);
  // Returns the status of a wait that failed: kUnavailable after a break, else
  // kDeadlineExceeded with this message.
  Status WaitStatus(std::string_view deadline_message) const;
  // Publishes this end's progress.
  static void Advance(Side& own, uint32_t bytes);

  const Descriptor file_;  // its number is in the reader's offer
  Memory& memory_;
  std::atomic<bool> broken_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_SHARED_LANE_H_
