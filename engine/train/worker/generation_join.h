// How a worker becomes part of a generation: it meets the others, the chief
// decides what all go on from, and each takes that state.
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

// For each generation Rendezvous, Resume, AgreeOnStart, in that order, as long
// as they succeed.
class GenerationJoin {
 public:
  // `parts` outlives it.
  explicit GenerationJoin(WorkerParts& parts) : parts_(parts) {}

  // Opens a session. Who rejoins has to have met the others until `meet_by`.
  Status Rendezvous(Time meet_by);
  // Fills in the state.
  Status Resume();
  // All ranks start from one state of one job, or not at all. If it was
  // decided, they also have a connection between their devices.
  Status AgreeOnStart();

  // Offers the worker's present state, which is whole, at the next meeting.
  void HoldState();
  void HoldNothing() { held_.reset(); }

  // Rank that was silent for too long, -1 for none: reported at the next
  // meeting.
  void NoteSilence(int rank);

  // Newest generation that this worker belonged to; 0: none.
  uint64_t last_generation() const { return last_generation_; }
  // True if training continues from memory, not from the store.
  bool carries_on() const { return carries_on_; }
  // True if a save must come first: there is no valid checkpoint.
  bool saves_first() const { return saves_first_; }
  // True if nothing in memory can be used at another meeting.
  bool state_is_unusable() const { return state_is_unusable_; }
  std::optional<uint64_t> resumed_from() const { return resumed_from_; }

 private:
  SessionOptions MeetingOptions(Time meet_by) const;
  // Messages of the ranks about themselves, by rank.
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
  void MakeState(StartFrom start);
  Status Load(const CheckpointRef& parent);
  void Initialize();
  Status CarryOn(const StartDecision::Memory& memory);
  Status TakeFrom(const StartDecision::Memory& memory, bool keeps);
  void SayCarriedOn(const std::string& from);
  LogEvent StartEvent(EventKind kind) const;
  void SayStart(const std::string& how, const std::string& whence);
  Result<std::vector<std::string>> AllGather(const std::string& said);
  Status Refuse(Status why);
  Result<StartDecision> TakeWelcome();
  Status JoinDevices();

  WorkerParts& parts_;
  std::string told_;               // EncodeCommonSettings
  std::string elsewhere_;          // the store is not the chief's: says so
  CollectiveDecision collective_;  // of the newest generation
  std::string collective_line_;    // as it was said last
  uint64_t last_generation_ = 0;
  uint64_t latest_incarnation_ = 0;  // largest that the chief has met
  std::optional<HeldState> held_;    // a state that a generation agreed on
  std::optional<int> silent_rank_;
  bool carries_on_ = false;
  bool saves_first_ = false;
  bool state_is_unusable_ = false;
  std::optional<uint64_t> resumed_from_;  // step
  Digest started_as_;  // the state that training goes on from
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_GENERATION_JOIN_H_
