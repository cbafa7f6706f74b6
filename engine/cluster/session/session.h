// One membership of the cluster: its workers, its generation, and the ring
// between them. It forms once; the loss of one worker ends it for all.
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
                                       // where there is one worker
  AddressBook address_book = AddressBook::kKnown;
  std::string listen_on;  // if not on this rank's own address
  // The job's token. Without one, peers are not authenticated and the session
  // listens on loopback addresses only, unless `insecure`.
  std::optional<JobToken> token;
  bool insecure = false;
  // Receives a line about rejected connections. May be empty.
  std::function<void(const std::string& line)> log;
  Duration rendezvous_timeout = std::chrono::seconds(30);
  // Limit for the chief's decision, which may read a whole checkpoint.
  Duration decision_timeout = std::chrono::seconds(300);
  Duration heartbeat_every = std::chrono::milliseconds(200);
  Duration lost_after = std::chrono::seconds(5);
  // Limit for forming the ring, once all have been welcomed; 0:
  // rendezvous_timeout.
  Duration ring_timeout{0};
  // Contents of this worker's hello to the chief.
  uint64_t incarnation = 0;  // of two processes of a rank, the later one wins
  uint64_t generation = 0;   // the last one it belonged to
  // The chief: the greatest incarnation of any worker that it has met before.
  uint64_t latest_incarnation = 0;
  std::string hello_payload;
  // Returns an error, which becomes the client's, for a malformed payload.
  // Empty: accepts all. On the chief only.
  std::function<Status(std::string_view payload)> check_hello_payload;

  int size() const {
    return addresses.empty() ? 1 : static_cast<int>(addresses.size());
  }
};

// A worker that has joined, as its hello describes it.
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

  // Starts this worker's server, meets the others at the chief, lets the chief
  // decide, closes the ring and begins to beat. `decide` runs on rank 0 only;
  // its error becomes every rank's error, code and all. kDeadlineExceeded names
  // the ranks that are missing. kUnavailable and kDeadlineExceeded: no chief
  // answered within the rendezvous timeout, or the chief was lost.
  // kInvalidArgument: whoever is at the chief's address refuses this worker for
  // `lost_after` without a proof of the token; or there is no token, and this
  // worker's address is not a loopback one.
  static Result<std::unique_ptr<Session>> Form(World& world,
                                               const Kernels& kernels,
                                               const SessionOptions& options,
                                               const Decide& decide);

  Ring& ring() { return *ring_; }

  // A second ring of channels beside the first, for arrays of devices. Every
  // rank has to call it, behind an exchange of the ring: so all are there.
  Result<std::unique_ptr<CollectiveLinks>> OpenLinks();
  const Decision& decision() const { return decision_; }

  // Starts rejecting late connections from the heartbeat task. REQUIRES:
  // OpenLinks is not called again. A connection that may replace a lost worker
  // is held until the session ends.
  void StartRejectingLateConnections() { rejects_late_ = true; }

  // The greatest incarnation of all who have come. REQUIRES: on the chief.
  uint64_t latest_incarnation() const;

  // The rank whose heartbeat stopped while its connection stayed, if that broke
  // the ring. -1: none.
  int silent_rank() const { return silent_rank_; }

  // No loss is reported from here on: this rank is about to say its last word.
  void StopReportingLosses() { heartbeat_->StopReportingLosses(); }

  // Ends in good order; every rank has to call it. See Heartbeat::Leave.
  void Leave();

  // Ends it for this rank alone, after an error: breaks all connections, so
  // that the others notice too. No task of it is left. After Leave, nothing.
  void Abandon();

 private:
  Session(World& world, const SessionOptions& options);

  Status Listen();
  Status MeetAsChief(const Decide& decide);
  Status AcceptWorkers();
  void RefuseAll(const Status& reason);
  Status WelcomeWorkers();
  Status MeetChief();
  // An answer to this worker's hello, from the chief's address. Not proven: its
  // sender does not know the job's token.
  struct Answer {
    std::variant<Accepted, Welcome, Refusal> message;
    bool is_proven = false;
  };
  // Sends a hello on a new connection. kDeadlineExceeded: nobody listens there.
  Status CallChief();
  // Errors: there is no answer, or none of this protocol.
  Result<Answer> ReceiveAnswer(Time deadline);
  // REQUIRES: it is proven.
  Status FollowChief(Answer answer);
  Status NotTheChief(const Answer& answer) const;
  Status CloseRing(const Kernels& kernels);
  // The channels of a ring; null where there is one rank.
  struct Neighbours {
    std::unique_ptr<Channel> next;
    std::unique_ptr<Channel> previous;
  };
  Result<Neighbours> MeetNeighbours(ChannelRole role);
  Result<std::unique_ptr<Channel>> AcceptFromPrevious(ChannelRole role);
  // The next connection whose first frame is a valid hello of that role. All
  // others are refused, which is no error of this session.
  struct Caller {
    std::unique_ptr<Channel> channel;
    Hello hello;
  };
  Result<Caller> AcceptCaller(ChannelRole role, Time deadline);
  Status CheckHello(const Hello& hello, ChannelRole role) const;
  Status CheckControlHello(const Hello& hello) const;
  // The next connection. Logs rejected connections meanwhile.
  Result<Incoming> AcceptAny(Time deadline);
  // Returns an error if the client has closed the connection.
  Status Accept(const Caller& caller);
  void Refuse(const Caller& caller, const Status& why);
  // Answers connections accepted since the last heartbeat.
  void AnswerLateConnections();
  void AnswerLateConnection(Incoming incoming);
  // Refuses late connections of ranks whose worker has sent heartbeats since.
  void RefuseTakenRanks();
  // This worker's hello on the channel to rank `server`.
  Hello HelloTo(int server, ChannelRole role, const Channel& channel) const;
  LinkContext ContextOf(const Hello& hello, const Channel& channel) const;
  // The same of a rank that has come to this chief.
  LinkContext ContextOfRank(size_t rank) const;
  Frame RefusalTo(const LinkContext& link, const Status& reason) const;
  void LogRejections();
  Status TakeWelcome(Welcome welcome);
  Duration RingTimeout() const;
  // Says why this rank is about to leave the others.
  void NoteFailedWait(int rank, Reason reason, Duration limit);
  void StartHeartbeat();
  std::string MissingRanks() const;

  World* world_;
  SessionOptions options_;
  Time deadline_;
  Decision decision_;
  const std::shared_ptr<Gate> gate_;  // with the listener's filter
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Channel>> control_;  // by rank; [0] on workers
  std::vector<JoinedWorker> joined_;               // by rank, on the chief
  std::vector<std::string> hello_nonces_;  // likewise; [0] on workers: its own
  std::unique_ptr<Ring> ring_;
  std::atomic<int> silent_rank_ = -1;
  std::atomic<bool> rejects_late_ = false;
  // A connection for a rank that already has a worker. At most one per rank.
  struct LateConnection {
    Caller caller;
    uint64_t beats = 0;        // heartbeats of that worker by then
    bool may_replace = false;  // the rank's present worker may be lost
  };
  std::map<uint32_t, LateConnection> late_;  // used by the heartbeat task
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_SESSION_SESSION_H_
