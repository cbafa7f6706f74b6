// The invariants that the judge checks on records: one table.
//
// Scenarios name them and reports print them. The checks are in
// harness/oracle/.
#ifndef GAUNTLET_HARNESS_RECORD_INVARIANTS_H_
#define GAUNTLET_HARNESS_RECORD_INVARIANTS_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace gauntlet {

// In the order of reports.
enum class Invariant : uint8_t {
  kTrajectory,
  kEpochs,
  kSamples,
  kReplicasAgree,
  kResumePoint,
  kBoundedLoss,
  kStore,
  kNoColdStart,
  kCleanRefusal,
  kGrace,
  kNoSpontaneousExit,
  kDetection,
  kRestarts,
  kNoHang,
  kNoOrphans,
  kCheckpointsDeleted,
  kOutputs,
  kFaultFired,
  kHistoryConsistent,
};

struct InvariantInfo {
  Invariant invariant;
  std::string_view name;         // "resume-point"
  std::string_view description;  // one line
  // True if the invariant is about the trained state, not about recovery.
  bool is_of_training = false;
};

// Returns all invariants, in the order of the enum.
std::span<const InvariantInfo> AllInvariants();
std::string_view InvariantName(Invariant invariant);
// Returns true iff an invariant has that name.
bool IsInvariant(std::string_view name);
// Returns true iff the invariant of that name has is_of_training.
bool IsOfTraining(std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_INVARIANTS_H_
