// Where the specification notes what it found.
#ifndef GAUNTLET_HARNESS_ORACLE_CHECK_H_
#define GAUNTLET_HARNESS_ORACLE_CHECK_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/record/verdict.h"

namespace gauntlet {

// Findings of one invariant.
class Check {
 public:
  explicit Check(std::string_view invariant) { report_.invariant = invariant; }
  // Counts one thing that could be checked.
  void Instance() { ++report_.instances; }
  // Notes that it is wrong: `name` is the kind of breach, `message` a line. The
  // first few are kept in words, the others are counted.
  void Breach(std::string_view name, std::string message);
  const InvariantReport& report() const { return report_; }

 private:
  InvariantReport report_;
};

// One for each of AllInvariants(), in the same order.
struct Checks {
  Check trajectory{"trajectory"};
  Check epochs{"epochs"};
  Check samples{"samples"};
  Check replicas_agree{"replicas-agree"};
  Check resume_point{"resume-point"};
  Check bounded_loss{"bounded-loss"};
  Check store{"store"};
  Check no_cold_start{"no-cold-start"};
  Check clean_refusal{"clean-refusal"};
  Check grace{"grace"};
  Check no_spontaneous_exit{"no-spontaneous-exit"};
  Check detection{"detection"};
  Check restarts{"restarts"};
  Check no_hang{"no-hang"};
  Check no_orphans{"no-orphans"};
  Check checkpoints_deleted{"checkpoints-deleted"};
  Check fault_fired{"fault-fired"};
  Check history_consistent{"history-consistent"};

  std::vector<InvariantReport> Reports() const;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_CHECK_H_
