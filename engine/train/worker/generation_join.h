// Joins a generation: the workers arrive at a rendezvous, the chief decides
// which state all resume from, and each worker takes that state.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_GENERATION_JOIN_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_GENERATION_JOIN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cluster/session/session.h"
#include "engine/digest.h"
#include "engine/status.h"
#include "engine/train/rendezvous/collective_decision.h"
#include "engine/train/rendezvous/held_state.h"
#include "engine/train/worker/worker_parts.h"
#include "engine/world/clock.h"

namespace gauntlet {

// For each generation, call Rendezvous, Resume and AgreeOnStart in this order,
// as long as each succeeds.
class GenerationJoin {
 public:
  // `parts` outlives it.
  explicit GenerationJoin(WorkerParts& parts) : parts_(parts) {}

  // Opens a session. If workers rejoin, all of them must arrive by
  // `rendezvous_deadline`.
  Status Rendezvous(Time rendezvous_deadline);
  // Loads, initializes or receives the state.
  Status Resume();
  // Confirms that all ranks start from the same state of the same job;
  // otherwise all ranks return an error. Also connects the devices if the chief
  // has decided on NCCL.
  Status AgreeOnStart();

  // Offers the worker's current state at the next rendezvous. REQUIRES: the
  // state is complete.
  void HoldState();
  void DropHeldState() { held_.reset(); }

  // Sets the rank that was silent for too long (-1: none). The next Rendezvous
  // reports it to the launcher.
  void SetSilentRank(int rank);

  // Newest generation that this worker belonged to; 0: none.
  uint64_t last_generation() const { return last_generation_; }
  // True if training continues from a state in memory, not from a checkpoint.
  bool resumes_from_memory() const { return resumes_from_memory_; }
  // True if training must begin with a save, as there is no valid checkpoint.
  bool saves_first() const { return saves_first_; }
  // True if the state in memory must not be offered at another rendezvous.
  bool state_is_unusable() const { return state_is_unusable_; }
  std::optional<uint64_t> resumed_from() const { return resumed_from_; }

 private:
  SessionOptions JoinOptions(Time rendezvous_deadline) const;
  // Introductions of all ranks, by rank.
  struct Reports {
    std::vector<std::optional<HeldState>> held;
    std::vector<CollectiveOffer> offers;
  };
  Result<Reports> CollectReports(
      const std::vector<JoinedWorker>& by_rank) const;
  Result<CollectiveDecision> ChooseCollective(
      std::span<const CollectiveOffer> offers) const;
  Result<Decision> Decide(const std::vector<JoinedWorker>& by_rank);
  Result<Claim> MakeClaim(StateInMemory memory);
  TrainState NewState(StartFrom start) const;
  void MakeState(StartFrom start);
  Status Load(const CheckpointRef& parent);
  void Initialize();
  Status ResumeFromMemory(const StartDecision::Memory& memory);
  Status TransferHeldState(const StartDecision::Memory& memory);
  void EmitResumedFromMemory(const std::string& from);
  LogEvent StartEvent(EventKind kind) const;
  void ReportStart(const std::string& how, const std::string& suffix);
  Result<std::vector<std::string>> AllGather(const std::string& payload);
  Status Refuse(Status why);
  Result<StartDecision> DecodeWelcome();
  Status JoinDevices();

  WorkerParts& parts_;
  std::string settings_;  // EncodeCommonSettings
  // Why this worker's store is not the chief's; "": it is the chief's.
  std::string store_mismatch_;
  CollectiveDecision collective_;  // of the newest generation
  std::string collective_line_;    // last reported CollectiveDecision::line
  uint64_t last_generation_ = 0;
  // On the chief: largest incarnation number of all workers that joined one of
  // the chief's generations.
  uint64_t latest_incarnation_ = 0;
  std::optional<HeldState> held_;  // state to offer at the next rendezvous
  // State of the parent checkpoint, read and verified by the newest claim.
  // Moved out when the worker loads it.
  std::optional<TrainState> claimed_state_;
  std::optional<int> silent_rank_;
  bool resumes_from_memory_ = false;
  bool saves_first_ = false;
  bool state_is_unusable_ = false;
  std::optional<uint64_t> resumed_from_;  // step
  Digest start_digest_;  // of the state that training starts from
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_GENERATION_JOIN_H_
