// One membership of the cluster: its workers, its generation, and the ring
// between them. It forms once; the loss of one worker ends it for all workers.
#ifndef GAUNTLET_ENGINE_CLUSTER_SESSION_SESSION_H_
#define GAUNTLET_ENGINE_CLUSTER_SESSION_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/job_token.h"
#include "engine/cluster/ring/emulated_collective.h"
#include "engine/cluster/ring/ring.h"
#include "engine/cluster/session/address_book.h"
#include "engine/cluster/session/gate.h"
#include "engine/cluster/session/heartbeat.h"
#include "engine/math/kernels.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

struct SessionOptions {
  int rank = 0;
  std::vector<std::string> addresses;  // "host:port" by rank; may be empty
                                       // for a single worker
  AddressBook address_book = AddressBook::kKnown;
  std::string listen_on;  // address; "": this rank's own address
  // The job's token. Without a token, peers are not authenticated, and the
  // session listens on loopback addresses only; `insecure` permits others.
  std::optional<JobToken> token;
  bool insecure = false;
  // Called with a line about rejected connections. May be empty.
  std::function<void(const std::string& line)> log;
  Duration rendezvous_timeout = std::chrono::seconds(30);
  // Time limit for the chief's decision, during which it may read a whole
  // checkpoint.
  Duration decision_timeout = std::chrono::seconds(300);
  Duration heartbeat_every = std::chrono::milliseconds(200);
  Duration lost_after = std::chrono::seconds(5);
  // Time limit for forming the ring, counted from the welcome; 0:
  // rendezvous_timeout.
  Duration ring_timeout{0};
  // `incarnation`, `generation` and `hello_payload` are fields of this worker's
  // hello to the chief.
  uint64_t incarnation = 0;  // of two processes of a rank, the greater wins
  uint64_t generation = 0;   // the worker's last one; 0: none
  // On the chief: the greatest incarnation of any worker of earlier sessions.
  uint64_t latest_incarnation = 0;
  std::string hello_payload;
  // On the chief: checks the payload of a hello. If it returns an error, the
  // error is sent to the client. Empty: all payloads are accepted.
  std::function<Status(std::string_view payload)> check_hello_payload;

  int size() const {
    return addresses.empty() ? 1 : static_cast<int>(addresses.size());
  }
};

// A worker that has joined, described by its hello.
struct JoinedWorker {
  std::string host;
  uint64_t incarnation = 0;
  uint64_t generation = 0;
  std::string hello_payload;
};

// The chief's decision, sent to all workers once they have joined.
struct Decision {
  uint64_t generation = 0;
  std::string text;
};

class Session {
 public:
  using Decide =
      std::function<Result<Decision>(const std::vector<JoinedWorker>& by_rank)>;

  // Starts this worker's server, connects to the chief, waits for the chief's
  // decision, forms the ring and starts the heartbeat. `decide` runs on rank 0
  // only; if it returns an error, Form returns this error on every rank. On
  // rank 0, kDeadlineExceeded names the missing ranks. On other ranks,
  // kUnavailable and kDeadlineExceeded: no chief answered within the rendezvous
  // timeout, or the chief was lost. kInvalidArgument: for `lost_after`, a peer
  // at the chief's address answered without a proof of the token; or there is
  // no token, and this worker's address is not a loopback one.
  static Result<std::unique_ptr<Session>> Form(World& world,
                                               const Kernels& kernels,
                                               const SessionOptions& options,
                                               const Decide& decide);

  Ring& ring() { return *ring_; }

  // Opens a second ring of channels, for arrays on devices. Every rank must
  // call it right after an exchange of the ring, so that all ranks are present.
  Result<std::unique_ptr<CollectiveLinks>> OpenLinks();
  const Decision& decision() const { return decision_; }

  // From now on the heartbeat task rejects late connections. If a connection
  // may come from the replacement of a lost worker, the task keeps it open
  // until the session ends. REQUIRES: OpenLinks is not called again.
  void StartRejectingLateConnections() { rejects_late_ = true; }

  // Returns the greatest incarnation of all workers that have joined. REQUIRES:
  // called on the chief.
  uint64_t latest_incarnation() const;

  // Returns the rank whose heartbeat stopped while its connection stayed open,
  // if this is the reason why the ring broke; else -1.
  int silent_rank() const { return silent_rank_; }

  // After this call no loss is reported. Called before this rank emits its last
  // event.
  void StopReportingLosses() { heartbeat_->StopReportingLosses(); }

  // Ends the session normally; every rank must call it. See Heartbeat::Leave.
  void Leave();

  // Ends the session for this rank alone, after an error. Breaks all
  // connections, so that the other ranks detect the end. Then waits for the end
  // of the session's tasks. Has no effect after Leave.
  void Abort();

 private:
  Session(World& world, const SessionOptions& options);

  Status Listen();
  Status FormAsChief(const Decide& decide);
  Status AcceptWorkers();
  void RefuseAll(const Status& reason);
  Status WelcomeWorkers();
  Status JoinChief();
  // An answer to this worker's hello, from the chief's address. If `is_proven`
  // is false, the sender has not proved that it knows the job's token.
  struct Answer {
    std::variant<Accepted, Welcome, Refusal> message;
    bool is_proven = false;
  };
  // Sends a hello on a new connection. kDeadlineExceeded: no process listens
  // there.
  Status ConnectToChief();
  // Returns an error if no answer arrives, or if the answer is not a message of
  // this protocol.
  Result<Answer> ReceiveAnswer(Time deadline);
  // REQUIRES: answer.is_proven.
  Status AwaitWelcome(Answer answer);
  Status NoChiefError(const Answer& answer) const;
  Status ConnectRing(const Kernels& kernels);
  // The channels of a ring; null if there is one rank.
  struct Neighbours {
    std::unique_ptr<Channel> next;
    std::unique_ptr<Channel> previous;
  };
  Result<Neighbours> ConnectNeighbours(ChannelRole role);
  Result<std::unique_ptr<Channel>> AcceptFromPrevious(ChannelRole role);
  // A connection whose first frame is a hello.
  struct Client {
    std::unique_ptr<Channel> channel;
    Hello hello;
  };
  Client ClientOf(Incoming incoming, Hello hello) const;
  // Returns the next connection whose first frame is a hello. The caller checks
  // that hello.
  Result<Client> AcceptClient(Time deadline);
  // Returns true iff the hello proves that the joined worker of its rank has
  // ended, or has left its generation. Always false on ranks other than the
  // chief.
  bool SupersedesJoinedWorker(const Hello& hello) const;
  Status CheckHello(const Hello& hello, ChannelRole role) const;
  Status CheckControlHello(const Hello& hello) const;
  // Returns the next connection. Logs rejected connections meanwhile.
  Result<Incoming> AcceptAny(Time deadline);
  // Returns an error if the client has closed the connection.
  Status Accept(const Client& client);
  void Refuse(const Client& client, const Status& why);
  // Called after each heartbeat. Accepts and answers a limited number of late
  // connections.
  void AnswerLateConnections();
  void AnswerLateConnection(Incoming incoming);
  // Refuses each late connection whose rank has a running worker: one that has
  // sent heartbeats after the connection arrived.
  void RefuseTakenRanks();
  // Returns this worker's hello on the channel to rank `server`.
  Hello HelloTo(int server, ChannelRole role, const Channel& channel) const;
  LinkContext ContextOf(const Hello& hello, const Channel& channel) const;
  // Returns the context of a rank that has joined this chief.
  LinkContext ContextOfRank(size_t rank) const;
  Frame RefusalTo(const LinkContext& link, const Status& reason) const;
  void LogRejections();
  Status ApplyWelcome(Welcome welcome);
  Duration RingTimeout() const;
  // Emits kWorkerLost, with the reason why this rank is about to leave the
  // cluster.
  void EmitWorkerLost(int rank, Reason reason, Duration limit);
  void StartHeartbeat();
  std::string MissingRanks() const;

  World* world_;
  SessionOptions options_;
  Time deadline_;
  Decision decision_;
  const std::shared_ptr<Gate> gate_;  // shared with the listener's filter
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Channel>> control_;  // by rank; other workers:
                                                   // only [0]
  std::vector<JoinedWorker> joined_;               // by rank, on the chief
  std::vector<std::string> hello_nonces_;  // by rank, on the chief; [0] on
                                           // other workers: the worker's own
  std::unique_ptr<Ring> ring_;
  std::atomic<int> silent_rank_ = -1;
  std::atomic<bool> rejects_late_ = false;
  // A connection for a rank that already has a worker. At most one per rank.
  struct LateConnection {
    Client client;
    uint64_t beats = 0;        // heartbeats of that worker received before this
                               // connection arrived
    bool may_replace = false;  // the rank's present worker may be lost
  };
  std::map<uint32_t, LateConnection> late_;  // by rank; used only by the
                                             // heartbeat task
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_SESSION_SESSION_H_
