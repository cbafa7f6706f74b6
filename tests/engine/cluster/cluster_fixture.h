// A small cluster in the simulated world, for tests of communication between
// workers.
#ifndef GAUNTLET_TESTS_ENGINE_CLUSTER_CLUSTER_FIXTURE_H_
#define GAUNTLET_TESTS_ENGINE_CLUSTER_CLUSTER_FIXTURE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chaos/sim/simulation.h"
#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/link_proofs.h"
#include "engine/cluster/session/session.h"
#include "engine/math/kernels.h"

namespace gauntlet {

// `size` workers that form a session and then run `body`. A worker that cannot
// form one, or whose body fails, exits with 1; its status is kept.
class ClusterFixture {
 public:
  using Body = std::function<Status(World&, Session&)>;

  ClusterFixture(int size, uint64_t seed, const NetworkLatency& network = {})
      : simulation_(pool_, {.seed = seed, .network = network}),
        statuses_(static_cast<size_t>(size)) {
    for (int rank = 0; rank < size; ++rank) {
      options_.addresses.push_back("w" + std::to_string(rank) + ":1");
    }
    options_.token = Token();
    kernels_ = std::move(Kernels::Create({.isa = Isa::kScalar})).value();
  }

  static JobToken Token() { return *JobToken::Parse(std::string(64, 'a')); }

  // Returns the first frame of a channel to the chief, with the required proof.
  static Frame SignedHello(const Channel& channel, Hello hello) {
    LinkProofs(Token()).Sign(channel.nonce(), 0, hello);
    return EncodeControl(hello);
  }

  SessionOptions& options() { return options_; }
  Simulation& simulation() { return simulation_; }

  // Gives each worker only its own address and the chief's.
  void UseOnlyTheChiefsAddress() {
    options_.address_book = AddressBook::kSentByChief;
  }

  // Makes the chief take that long for its decision (Session::Decide).
  void DecideWithin(Duration duration) { decides_within_ = duration; }

  void StartWorker(int rank, const Body& body,
                   const Session::Decide& decide = DecideOne) {
    simulation_.Start({.name = "w" + std::to_string(rank),
                       .host = "w" + std::to_string(rank),
                       .body = [=, this, mine = OptionsOf(rank)](World& world) {
                         return Main(world, mine, body, decide);
                       }});
  }

  // Runs the body on every rank. Returns the final status of each, by rank.
  const std::vector<Status>& RunAll(const Body& body) {
    for (int rank = 0; rank < options_.size(); ++rank) {
      StartWorker(rank, body);
    }
    return Run();
  }

  const std::vector<Status>& Run() {
    outcome_ = simulation_.Run();
    return statuses_;
  }
  const RunOutcome& outcome() const { return outcome_; }
  // Returns the final status of the rank's worker; Ok before it has started.
  const Status& EndOf(int rank) const {
    return statuses_[static_cast<size_t>(rank)];
  }

  static Result<Decision> DecideOne(const std::vector<JoinedWorker>&) {
    return Decision{.generation = 1, .text = "go"};
  }

 private:
  SessionOptions OptionsOf(int rank) const {
    SessionOptions mine = options_;
    mine.rank = rank;
    if (mine.address_book == AddressBook::kKnown) return mine;
    for (size_t other = 1; other < mine.addresses.size(); ++other) {
      if (other != static_cast<size_t>(rank)) mine.addresses[other].clear();
    }
    return mine;
  }

  int Main(World& world, const SessionOptions& mine, const Body& body,
           const Session::Decide& decide) {
    Status& status = statuses_[static_cast<size_t>(mine.rank)];
    status = Cancelled("ended from outside");
    Result<std::unique_ptr<Session>> session = Session::Form(
        world, *kernels_, mine, [&](const std::vector<JoinedWorker>& by_rank) {
          if (decides_within_ > Duration::zero()) {
            world.clock.SleepUntil(world.clock.Now() + decides_within_);
          }
          return decide(by_rank);
        });
    if (!session.ok()) {
      status = session.status();
      return 1;
    }
    status = body(world, **session);
    // Exits without returning, because tasks of the session still run.
    if (!status.ok()) world.host.Exit(1);
    (*session)->Leave();
    return 0;
  }

  FiberPool pool_;
  Simulation simulation_;
  SessionOptions options_;
  std::unique_ptr<Kernels> kernels_;
  std::vector<Status> statuses_;
  Duration decides_within_{0};
  RunOutcome outcome_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_CLUSTER_CLUSTER_FIXTURE_H_
