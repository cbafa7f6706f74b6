// The network between simulated hosts.
//
// Model, after TCP. A connection carries frames in order. Each direction has
// its own latencies and a limited number of bytes in flight; at the limit
// senders wait. The end of a process closes its connections after the frames
// already sent. A power loss drops the frames in flight. The peer detects the
// power loss only at its next send: the rebooted machine does not know the
// connection. Between partitioned hosts, frames and closes wait until the
// partition is healed, so processes detect it only by missed deadlines. A
// retransmitted frame delays the frames behind it. A fault may duplicate
// frames, which TCP does not.
//
// A listener does not accept a connection before its first frame has arrived.
// If a connection has been silent for kMaxSilence, it is disconnected when the
// listener next accepts or receives another connection.
#ifndef GAUNTLET_CHAOS_SIM_SIM_NETWORK_H_
#define GAUNTLET_CHAOS_SIM_SIM_NETWORK_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chaos/inject/frame_fault.h"
#include "chaos/sim/scheduler/latency.h"
#include "chaos/sim/scheduler/random_stream.h"
#include "chaos/sim/scheduler/scheduler.h"
#include "chaos/sim/scheduler/sim_entropy.h"
#include "engine/world/network.h"

namespace gauntlet {

// As one end of a HostLink: every host except the one at the other end.
inline constexpr const char* kEveryHost = "*";

// The direction between two hosts. A host's link to itself has no faults.
struct HostLink {
  std::string from;
  std::string to;
  auto operator<=>(const HostLink&) const = default;
};

// A process that uses the network, and its host.
struct NetworkUser {
  int process = 0;
  std::string host;
  FiberGroup* group = nullptr;
};

// Effect of a process's end on its connections. kOrderly: closed after the
// frames already sent. kAbrupt: the peers receive nothing.
enum class CloseMode : uint8_t { kOrderly, kAbrupt };

// All hosts, listeners and connections of one simulation.
class NetworkFabric final : public Action {
 public:
  NetworkFabric(Scheduler& scheduler, uint64_t seed,
                const NetworkLatency& latency);
  ~NetworkFabric() override;

  Result<std::unique_ptr<Listener>> Listen(const NetworkUser& user,
                                           const std::string& address,
                                           ConnectionFilter filter);
  Result<std::unique_ptr<Channel>> Connect(const NetworkUser& user,
                                           const std::string& address,
                                           Time deadline);

  // Stops frames on the link until Heal has been called as often as Cut.
  void Cut(const HostLink& link);
  void Heal(const HostLink& link);
  bool IsCut(const std::string& from, const std::string& to) const;
  // Delays or duplicates frames sent on the link from now on, until
  // EndFrameFault is called with the returned number.
  uint64_t BeginFrameFault(const HostLink& link, FrameFault fault);
  void EndFrameFault(uint64_t number);
  // Breaks every connection between the two hosts; frames in flight are lost.
  void Reset(const HostLink& link);
  // Calls back once no link between the two hosts is cut; immediately if none
  // is.
  void CallWhenOpen(const HostLink& link, std::function<void()> callback);
  // Returns the number of frames sent so far, by all processes.
  uint64_t frames_sent() const { return frames_sent_; }
  // Closes all listeners and connections of the process.
  void EndProcess(int process, CloseMode close_mode);

 private:
  friend class SimChannel;
  friend class SimListener;
  struct Direction;
  struct Connection;
  struct ListenSocket;

  // Delivers all due frames in direction `argument` % 2 of connection
  // `argument` / 2.
  void Act(uint64_t argument) override;
  Duration Delay(Connection& connection, int direction, uint64_t bytes);
  bool IsDoubled(const Connection& connection, int direction) const;
  void Post(Connection& connection, int direction, Frame&& frame);
  void PostClose(Connection& connection, int direction);
  void Schedule(Connection& connection, int direction);
  void Resume();
  void Deliver(Connection& connection, int direction);
  void CloseEnd(Connection& connection, int end);
  void Break(Connection& connection);
  void CloseListenSocket(ListenSocket& listen_socket);
  void AddSilent(ListenSocket& listen_socket,
                 const std::shared_ptr<Connection>& connection);
  void Drop(ListenSocket& listen_socket, Connection& connection);
  void EndSilence(Connection& connection);
  void DropOverdue(ListenSocket& listen_socket);

  std::shared_ptr<Connection> NewConnection(const NetworkUser& client,
                                            const ListenSocket& listen_socket,
                                            const std::string& address);
  bool IsOpen(const HostLink& link) const;
  static std::string KeyOf(const NetworkUser& user, const std::string& address);

  Scheduler& scheduler_;
  uint64_t seed_;
  NetworkLatency latency_;
  RandomStream handshakes_;
  SimEntropy nonces_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::map<std::string, std::shared_ptr<ListenSocket>> listen_sockets_;
  struct ActiveFrameFault {
    uint64_t number = 0;
    HostLink link;
    FrameFault fault;
  };
  struct Waiting {
    HostLink link;
    std::function<void()> callback;
  };
  std::map<HostLink, int> cuts_;  // number of cuts of each link
  std::list<ActiveFrameFault> frame_faults_;
  uint64_t frame_faults_begun_ = 0;
  uint64_t frames_sent_ = 0;
  std::vector<Waiting> waiting_;  // callbacks that wait for an open link
  WaitList changes_;              // a listener was added, or a link healed
};

class SimNetwork final : public Network {
 public:
  SimNetwork(NetworkFabric& fabric, NetworkUser user)
      : fabric_(fabric), user_(std::move(user)) {}
  using Network::Listen;
  Result<std::unique_ptr<Listener>> Listen(const std::string& address,
                                           ConnectionFilter filter) override {
    return fabric_.Listen(user_, address, std::move(filter));
  }
  Result<std::unique_ptr<Channel>> Connect(const std::string& address,
                                           Time deadline) override {
    return fabric_.Connect(user_, address, deadline);
  }

 private:
  NetworkFabric& fabric_;
  NetworkUser user_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SIM_NETWORK_H_
