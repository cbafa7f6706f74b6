// One end of a gRPC stream: the part common to client and server. For grpc_*.cc
// only: no other header has gRPC's types.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_GRPC_LINK_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_GRPC_LINK_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "engine/real/network/shared_lane.h"
#include "engine/status.h"
#include "engine/world/network.h"

namespace gauntlet {

class LinkRegistry;

// The state of a stream end: frames received but not yet taken, and frames to
// send.
//
// gRPC allows one read and one write at a time, and no operation after
// DeclareEnd. The mutex is held during each start, so that gRPC sees this order
// too. That cannot deadlock: gRPC calls no callback within the call that starts
// an operation.
//
// Owned by the Channel and, from Adopt to OnGone, by the stream.
class Link {
 public:
  Link(LinkRegistry& registry, std::string other_end);
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // See Channel.
  Status Send(Frame frame, Time deadline);
  Result<Frame> Receive(Time deadline);
  void Close();

  // Cancels the stream, whatever is in progress.
  void Abort();
  // From now on reads all frames, not only the first one.
  void ResumeReading();
  // Server only, once: offers the client a shared-memory lane for its frames,
  // if this host supports it.
  void OfferLane();

  // Returns true if destroying the link joins gRPC's threads, so that none of
  // them may destroy it.
  virtual bool MustNotEndInGrpcThread() const = 0;

  // The connection's nonce; valid once connected.
  const Nonce& nonce() const { return nonce_; }

 protected:
  // Called with the mutex held. After DeclareEnd no write is started; a read is
  // started only from a callback of gRPC, and only if MayReadAfterEnd.
  virtual void StartReading(grpc::ByteBuffer* into) = 0;
  virtual void StartWriting(const grpc::ByteBuffer* from) = 0;
  virtual void DeclareEnd() = 0;
  virtual bool MayReadAfterEnd() const = 0;
  virtual void Cancel() = 0;

  // Called before the stream starts; keeps `self` alive until OnGone. Returns
  // false if the network is shutting down and the stream must not start.
  bool Adopt(std::shared_ptr<Link> self);
  // Called when gRPC reports the event.
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnGone(std::string reason);

  // Starts the first read, and the first write if there is a challenge.
  void Open(std::optional<Frame> challenge);
  // Called before Open: reads only the first frame until ResumeReading.
  void ReadOneFrameOnly() { reads_one_frame_ = true; }

  // Handles a received frame. REQUIRES: the mutex is held.
  virtual void Take(Frame frame);
  // Sends a last frame and closes. REQUIRES: the mutex is held.
  void Reject(Frame answer);
  // Sends a control frame of the network itself. REQUIRES: the mutex is held.
  void SendOwn(Frame frame);
  // From now on Send uses the lane. REQUIRES: the mutex is held.
  void SendByLane(std::unique_ptr<SharedLane> lane);

  std::mutex mutex_;
  std::condition_variable readable_;
  std::condition_variable writable_;
  bool read_lost_ = false;  // no more frames will arrive
  Nonce nonce_{};

 private:
  void KeepReading();
  void KeepWriting();
  void EndIfDrained();
  void WakeAll();
  Status LostStatus() const;
  // Returns Ok if `status`, of an operation on the lane, is Ok. Else returns
  // the reason why the connection is lost or, if it is not lost, `status`.
  Status LaneStatus(Status status);

  LinkRegistry& registry_;
  const std::string other_end_;
  std::shared_ptr<Link> self_;
  std::string reason_;  // why the connection is lost, if gRPC reported a reason
  grpc::ByteBuffer incoming_;
  std::deque<Frame> received_;
  size_t received_bytes_ = 0;
  std::deque<grpc::ByteBuffer> outgoing_;  // the first one is being written
  size_t outgoing_bytes_ = 0;
  // Set once, then used without the mutex. The client sends frames by this
  // lane; the server reads from it after the stream's last frame.
  std::unique_ptr<SharedLane> lane_;
  bool sends_by_lane_ = false;
  bool receives_by_lane_ = false;
  bool reads_one_frame_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool write_lost_ = false;  // no further frame can be sent
  bool closed_ = false;      // Close was called
  bool ended_ = false;       // DeclareEnd was called
  bool gone_ = false;        // gRPC no longer uses the stream
};

// The client of a connection. It is connected once the server's Challenge has
// arrived. A server of another protocol sends none, so the client never takes
// it for a worker.
class ConnectingLink : public Link {
 public:
  using Link::Link;

  enum class State { kWaiting, kConnected, kFailed };
  State AwaitChallenge(std::chrono::steady_clock::time_point deadline);

  // If gRPC's last attempt to connect failed, makes gRPC try again now.
  // Otherwise it would wait for its minimum backoff of 100 ms, which would slow
  // start-up down.
  virtual void Hurry() = 0;

 protected:
  void Take(Frame frame) override;

 private:
  bool connected_ = false;
};

// The links of a network: those whose streams exist, and those that are waiting
// to be freed.
class LinkRegistry {
 public:
  // Returns false if the network is shutting down: the link must not start.
  bool Add(Link* link);
  // Removes the link. If its destructor must not run in a gRPC thread, keeps
  // the link alive until FreeGone.
  void Remove(std::shared_ptr<Link> link);
  // Frees removed links. Never called from a gRPC thread.
  void FreeGone();
  // Closes all links, waits for their streams until `linger` has passed, then
  // cancels the rest.
  void Shutdown(Duration linger);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Link*> links_;
  std::vector<std::shared_ptr<Link>> gone_;
  bool down_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_GRPC_LINK_H_
