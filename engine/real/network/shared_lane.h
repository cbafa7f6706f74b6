// A lane: frames from one process to another of the same host, through memory
// that both map. It carries one way of a connection; the stream that it belongs
// to stays, and its end is the lane's end.
//
// The reader creates the memory: a file without a name on any disk, of which
// the offer says where the writer's kernel shows it, and which is gone with the
// last process that maps it. The kernel lets the writer open it only if the
// writer could also read the reader's memory. The memory bears the connection's
// nonce, so a process of another host, or with other process numbers, finds
// nothing, and one connection's writer never reaches another's memory.
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
  // Bytes that wait for the reader at most. Two of the largest frames.
  static constexpr uint32_t kCapacity = uint32_t{8} << 20;

  // The reader's end. `nonce` is the connection's.
  static Result<std::unique_ptr<SharedLane>> Create(const Nonce& nonce);
  // The writer's end. An error if the offer is of another host or user.
  static Result<std::unique_ptr<SharedLane>> Open(const LaneOffer& offer,
                                                  const Nonce& nonce);
  ~SharedLane();
  SharedLane(const SharedLane&) = delete;
  SharedLane& operator=(const SharedLane&) = delete;

  // REQUIRES: created, not opened.
  LaneOffer offer() const;

  // As of Channel::Send and Receive; kUnavailable: broken here, and all frames
  // that came were handed out. kDataLoss: the other end wrote no frame.
  // REQUIRES: the frame has at most kMaxFrameBytes.
  Status Write(std::string_view frame, Time deadline);
  Result<Frame> Read(Time deadline);

  // Ends what waits on this end, now and later.
  void Break();

 private:
  struct Memory;

  SharedLane(Descriptor file, void* memory);
  static Result<std::unique_ptr<SharedLane>> Map(Descriptor file);
  // Waits until `ready`; false at the deadline, or once broken.
  struct Side;
  bool Wait(Side& other, Time deadline, const std::function<bool()>& ready);
  bool WaitForRoom(uint32_t bytes, Time deadline);
  Status WaitStatus() const;
  // Publishes how far this end has come.
  static void Advance(Side& own, uint32_t bytes);

  const Descriptor file_;  // of the reader
  Memory& memory_;
  std::atomic<bool> broken_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_SHARED_LANE_H_
