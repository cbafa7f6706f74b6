// Collects the findings of the specification.
#ifndef GAUNTLET_HARNESS_ORACLE_HISTORY_CHECK_H_
#define GAUNTLET_HARNESS_ORACLE_HISTORY_CHECK_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/record/verdict.h"

namespace gauntlet {

// Findings of one invariant.
class Check {
 public:
  explicit Check(std::string_view invariant) { report_.invariant = invariant; }
  // Adds the check to the end of the list, which must outlive the check.
  Check(std::string_view invariant, std::vector<const Check*>& list)
      : Check(invariant) {
    list.push_back(this);
  }
  // Counts one check that was made.
  void Count() { ++report_.instances; }
  // Reports a violation: `name` is its kind, `message` one line of text. All
  // are counted; only the first few are kept as text.
  void Fail(std::string_view name, std::string message);
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
  Check trajectory{"trajectory", all_};
  Check epochs{"epochs", all_};
  Check samples{"samples", all_};
  Check replicas_agree{"replicas-agree", all_};
  Check resume_point{"resume-point", all_};
  Check bounded_loss{"bounded-loss", all_};
  Check store{"store", all_};
  Check no_cold_start{"no-cold-start", all_};
  Check clean_refusal{"clean-refusal", all_};
  Check grace{"grace", all_};
  Check no_spontaneous_exit{"no-spontaneous-exit", all_};
  Check detection{"detection", all_};
  Check restarts{"restarts", all_};
  Check no_hang{"no-hang", all_};
  Check no_orphans{"no-orphans", all_};
  Check checkpoints_deleted{"checkpoints-deleted", all_};
  Check outputs{"outputs", all_};
  Check fault_fired{"fault-fired", all_};
  Check history_consistent{"history-consistent", all_};
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_HISTORY_CHECK_H_
