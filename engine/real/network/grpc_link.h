// One end of a gRPC stream, as both kinds of end share it. For grpc_*.cc only:
// the one header that knows gRPC's types.
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

// The state of a stream end: what came and was not taken, what is to go.
//
// gRPC allows one read and one write at a time, and nothing to be started after
// the end was declared; the mutex is held over each start so that this order
// is seen by gRPC as well. That cannot deadlock: gRPC runs no reaction within
// the call that starts an operation.
//
// Owned by the Channel and, from Adopt to OnGone, by the stream.
class Link {
 public:
  Link(LinkRegistry& registry, std::string other_end);
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // As Channel's.
  Status Send(Frame frame, Time deadline);
  Result<Frame> Receive(Time deadline);
  void Close();

  // Cuts the stream off, whatever is under way.
  void Abort();
  // Reads more than the first frame from now on.
  void ResumeReading();
  // Offers the client a lane for its frames, if this host has the means. On the
  // server, once.
  void OfferLane();

  // True if destroying the link joins gRPC's threads.
  virtual bool MustNotEndInGrpcThread() const = 0;

  // The connection's nonce; valid once connected.
  const Nonce& nonce() const { return nonce_; }

 protected:
  // Called with the mutex held. After DeclareEnd nothing more is written, and
  // reads are started only from reactions and if MayReadAfterEnd.
  virtual void StartReading(grpc::ByteBuffer* into) = 0;
  virtual void StartWriting(const grpc::ByteBuffer* from) = 0;
  virtual void DeclareEnd() = 0;
  virtual bool MayReadAfterEnd() const = 0;
  virtual void Cancel() = 0;

  // Called before the stream starts: `self` lives until OnGone. Returns false
  // if the network is shutting down and the stream must not start.
  bool Adopt(std::shared_ptr<Link> self);
  // Called when gRPC reports the event.
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnGone(std::string reason);

  // Starts the first read, and the first write where there is one.
  void Open(std::optional<Frame> challenge);
  // From the start: see ResumeReading.
  void ReadOneFrameOnly() { reads_one_frame_ = true; }

  // Handles a received frame. REQUIRES: the mutex is held.
  virtual void Take(Frame frame);
  // Sends a last frame and closes. REQUIRES: the mutex is held.
  void Reject(Frame answer);
  // Sends a frame of the network's own. REQUIRES: the mutex is held.
  void SendOwn(Frame frame);
  // All frames of Send go by the lane from now on. REQUIRES: the mutex is held.
  void SendByLane(std::unique_ptr<SharedLane> lane);

  std::mutex mutex_;
  std::condition_variable readable_;
  std::condition_variable writable_;
  bool read_lost_ = false;  // no frame will come any more
  Nonce nonce_{};

 private:
  void KeepReading();
  void KeepWriting();
  void EndIfDrained();
  void WakeAll();
  Status LostStatus() const;
  // The lane's status, or why the connection is lost.
  Status LaneStatus(Status status);

  LinkRegistry& registry_;
  const std::string other_end_;
  std::shared_ptr<Link> self_;
  std::string reason_;  // why it is lost, where gRPC said so
  grpc::ByteBuffer incoming_;
  std::deque<Frame> received_;
  size_t received_bytes_ = 0;
  std::deque<grpc::ByteBuffer> outgoing_;  // the first one is being written
  size_t outgoing_bytes_ = 0;
  // Set once, then used without the mutex: by the client to send, by the server
  // to receive what comes behind the stream's frames.
  std::unique_ptr<SharedLane> lane_;
  bool sends_by_lane_ = false;
  bool receives_by_lane_ = false;
  bool reads_one_frame_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool write_lost_ = false;  // no frame can be sent any more
  bool closed_ = false;      // by this end
  bool ended_ = false;       // DeclareEnd was called
  bool gone_ = false;        // gRPC has let go
};

// The client of a connection. It is connected once the server's Challenge has
// come; that also detects a port of another protocol.
class ConnectingLink : public Link {
 public:
  using Link::Link;

  enum class State { kWaiting, kConnected, kFailed };
  State AwaitChallenge(std::chrono::steady_clock::time_point deadline);

  // Makes gRPC try again now if its last attempt failed, instead of after the
  // 100 ms that it waits at least: start-up is to be faster.
  virtual void Hurry() = 0;

 protected:
  void Take(Frame frame) override;

 private:
  bool connected_ = false;
};

// The links of a network whose streams are not gone, and those that wait for
// their end.
class LinkRegistry {
 public:
  // False if the network is going down: the link must not start.
  bool Add(Link* link);
  // Keeps a link that holds its transport until FreeGone.
  void Remove(std::shared_ptr<Link> link);
  // Frees links whose streams are gone. Never from a gRPC thread.
  void FreeGone();
  // Closes all links, waits for them until `linger`, cuts off the rest.
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
