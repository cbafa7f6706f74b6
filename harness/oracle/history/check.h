// Collects the findings of the specification.
#ifndef GAUNTLET_HARNESS_ORACLE_HISTORY_CHECK_H_
#define GAUNTLET_HARNESS_ORACLE_HISTORY_CHECK_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/record/finding_kind.h"
#include "harness/record/invariants.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Findings of one invariant.
class Check {
 public:
  explicit Check(Invariant invariant) {
    report_.invariant = InvariantName(invariant);
  }
  // Also adds a pointer to this check to the end of `list`. The list must not
  // be read after the check is destroyed.
  Check(Invariant invariant, std::vector<const Check*>& list)
      : Check(invariant) {
    list.push_back(this);
  }
  // Counts one check that was made.
  void Count() { ++report_.instances; }
  // Counts a violation: `name` is its kind, `message` one line of text. Keeps
  // the text of the first few violations only.
  void Fail(std::string_view name, std::string message);
  // Does the same for a kind of finding that other code recognizes
  // (finding_kind.h). REQUIRES: InfoOf(kind).invariant is that of this check.
  void Fail(FindingKind kind, std::string message) {
    Fail(InfoOf(kind).name, std::move(message));
  }
  const InvariantReport& report() const { return report_; }

 private:
  InvariantReport report_;
};

// One check for each of AllInvariants(), in the same order.
class Checks {
 public:
  Checks() = default;
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;

  std::vector<InvariantReport> Reports() const;

 private:
  std::vector<const Check*> all_;

 public:
  Check trajectory{Invariant::kTrajectory, all_};
  Check epochs{Invariant::kEpochs, all_};
  Check samples{Invariant::kSamples, all_};
  Check replicas_agree{Invariant::kReplicasAgree, all_};
  Check resume_point{Invariant::kResumePoint, all_};
  Check bounded_loss{Invariant::kBoundedLoss, all_};
  Check store{Invariant::kStore, all_};
  Check no_cold_start{Invariant::kNoColdStart, all_};
  Check clean_refusal{Invariant::kCleanRefusal, all_};
  Check grace{Invariant::kGrace, all_};
  Check no_spontaneous_exit{Invariant::kNoSpontaneousExit, all_};
  Check detection{Invariant::kDetection, all_};
  Check restarts{Invariant::kRestarts, all_};
  Check no_hang{Invariant::kNoHang, all_};
  Check no_orphans{Invariant::kNoOrphans, all_};
  Check checkpoints_deleted{Invariant::kCheckpointsDeleted, all_};
  Check outputs{Invariant::kOutputs, all_};
  Check fault_fired{Invariant::kFaultFired, all_};
  Check history_consistent{Invariant::kHistoryConsistent, all_};
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HISTORY_CHECK_H_
