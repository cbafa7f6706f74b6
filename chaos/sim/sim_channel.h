// State of connections and listeners in a NetworkFabric, and the Channel and
// Listener through which a process uses them. Internal to sim_network.h.
#ifndef GAUNTLET_CHAOS_SIM_SIM_CHANNEL_H_
#define GAUNTLET_CHAOS_SIM_SIM_CHANNEL_H_

#include <deque>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "chaos/sim/sim_network.h"

namespace gauntlet {

struct InFlightFrame {
  Time at;
  Frame frame;
  bool close = false;
};

// One direction of a connection: directions[i] goes from ends[i] to
// ends[1 - i].
struct NetworkFabric::Direction {
  RandomStream random;
  std::list<InFlightFrame> in_flight;
  uint64_t unreceived = 0;  // bytes
  WaitList senders;         // waiting for window space
  Time last{};              // arrival time of the newest frame
  bool scheduled = false;   // an Act for this direction is pending
  bool closing = false;     // a close was sent
};

struct NetworkFabric::Connection {
  struct End {
    NetworkUser user;
    std::list<InFlightFrame> inbox;  // arrived frames, in order
    bool closed = false;             // by this end's own process
    bool broken = false;             // closed by the peer, or reset
    WaitList receivers;
  };
  uint64_t id = 0;
  std::string name;
  Nonce nonce{};
  ListenSocket* listen_socket = nullptr;  // until Accept returns it
  Time opened{};
  End ends[2];
  Direction directions[2];
};

struct NetworkFabric::ListenSocket {
  NetworkUser user;
  std::string key;
  std::deque<std::shared_ptr<Connection>> silent;   // oldest first
  std::deque<std::shared_ptr<Connection>> waiting;  // have sent a first frame
  ConnectionFilter filter;
  bool closed = false;
  WaitList acceptors;
};

inline Status ProcessGone() { return Unavailable("the process is gone"); }

// One end of a connection.
class SimChannel final : public Channel {
 public:
  SimChannel(NetworkFabric& fabric,
             std::shared_ptr<NetworkFabric::Connection> connection, int end)
      : fabric_(fabric), connection_(std::move(connection)), end_(end) {}
  ~SimChannel() override { Close(); }

  Status Send(Frame frame, Time deadline) override;
  Result<Frame> Receive(Time deadline) override;
  void Close() override;
  const Nonce& nonce() const override { return connection_->nonce; }

  // REQUIRES: a frame has arrived.
  Frame TakeArrived();

 private:
  Status Lost() const;

  NetworkFabric& fabric_;
  std::shared_ptr<NetworkFabric::Connection> connection_;
  int end_;
};

class SimListener final : public Listener {
 public:
  SimListener(NetworkFabric& fabric,
              std::shared_ptr<NetworkFabric::ListenSocket> listen_socket)
      : fabric_(fabric), listen_socket_(std::move(listen_socket)) {}
  ~SimListener() override;

  Result<Incoming> Accept(Time deadline) override;

 private:
  NetworkFabric& fabric_;
  std::shared_ptr<NetworkFabric::ListenSocket> listen_socket_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SIM_CHANNEL_H_
