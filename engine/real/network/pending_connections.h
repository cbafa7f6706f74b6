// Connections of one listener that Accept has not returned yet.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_PENDING_CONNECTIONS_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_PENDING_CONNECTIONS_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/real/network/grpc_link.h"
#include "engine/real/posix/descriptor.h"
#include "engine/world/clock.h"
#include "engine/world/network.h"

namespace gauntlet {

// A connection is silent from accept(2) to its first frame; then it waits for
// Accept. The bounds are those of engine/world/network.h. gRPC owns the
// connection; this class holds a second descriptor of each silent one, to shut
// it down and to detect its end.
//
// Safe from any thread. Unless stated otherwise, the calling thread must not
// hold the lock of a link.
class PendingConnections {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // `filter`: see Network::Listen.
  explicit PendingConnections(ConnectionFilter filter)
      : filter_(std::move(filter)) {}

  // Adds an accepted connection from `peer`. `watch` is a second descriptor of
  // the connection.
  void AddConnection(std::string peer, Descriptor watch);
  // Adds the stream of a connection. Returns false iff it is not the
  // connection's first stream; the caller must refuse it.
  bool AddStream(const std::string& peer, std::shared_ptr<Link> link);
  // Returns the filter's result for a first frame. The link's lock may be held.
  std::optional<Frame> Check(const Nonce& nonce, const Frame& first) const {
    return filter_ ? filter_(nonce, first) : std::nullopt;
  }
  // Queues a connection whose first frame has arrived. Returns false iff the
  // queue is full; the caller must cancel the stream. The link's lock may be
  // held.
  bool MarkFirstFrame(const Link* link);
  // Removes a connection whose stream has ended.
  void RemoveStream(const Link* link);

  // Removes and returns the connection whose first frame arrived earliest;
  // nullptr at the deadline.
  std::shared_ptr<Link> WaitForFirst(Time deadline);
  // Disconnects all connections, and each that is added from now on.
  void Close();

  // Result of DisconnectExpired, for the thread that accepts connections.
  struct AcceptState {
    bool can_accept = true;  // one more connection may be accepted
    SteadyTime next_check = SteadyTime::max();  // time of the next call
    // Descriptors of silent connections. POLLRDHUP: the client has closed.
    std::vector<std::shared_ptr<const Descriptor>> watched;
  };
  // Disconnects connections that were silent for too long, and one more if
  // there are too many.
  AcceptState DisconnectExpired(SteadyTime now);
  // Removes a silent connection that its client has closed.
  void RemoveClosed(const Descriptor* watch);

 private:
  struct Silent {
    std::string peer;
    std::shared_ptr<const Descriptor> watch;
    SteadyTime since;
    std::shared_ptr<Link> link;  // null until the connection opens a stream
  };
  using Silents = std::deque<Silent>;

  Silents::iterator Find(const Link* link);
  // Returns the connection to disconnect if too many are silent. It is the
  // oldest one without a stream; but if connections with a stream take more
  // than half of the places, it is the oldest one with a stream.
  Silents::iterator ChooseOneToDisconnect();
  static void Disconnect(const Silent& one);

  const ConnectionFilter filter_;
  std::mutex mutex_;
  std::condition_variable ready_;
  Silents silent_;                             // oldest first
  std::deque<std::shared_ptr<Link>> waiting_;  // have sent a first frame
  bool closed_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_PENDING_CONNECTIONS_H_
