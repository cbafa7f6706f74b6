// The invariants: what must hold of every run, whatever was done to it.
//
// Each one is a function in a file of its own, invariants/<name>.cc, that goes
// through the evidence, counts the instances that it could check and notes each
// breach. Names and one-line descriptions are in harness/record/invariants.h.
#ifndef GAUNTLET_HARNESS_ORACLE_INVARIANTS_H_
#define GAUNTLET_HARNESS_ORACLE_INVARIANTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "harness/oracle/evidence.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Where an invariant notes what it found.
class Check {
 public:
  explicit Check(std::string_view invariant) { report_.invariant = invariant; }
  // Something was there to be checked.
  void Instance() { ++report_.instances; }
  // It is wrong: `name` is the kind of breach, `message` a line. The first few
  // are kept in words, the others are counted.
  void Breach(std::string_view name, std::string message);
  const InvariantReport& report() const { return report_; }

 private:
  InvariantReport report_;
};

void CheckTrajectory(const Evidence& evidence, Check& check);
void CheckEpochs(const Evidence& evidence, Check& check);
void CheckSamples(const Evidence& evidence, Check& check);
void CheckReplicasAgree(const Evidence& evidence, Check& check);
void CheckResumePoint(const Evidence& evidence, Check& check);
void CheckBoundedLoss(const Evidence& evidence, Check& check);
void CheckStore(const Evidence& evidence, Check& check);
void CheckNoColdStart(const Evidence& evidence, Check& check);
void CheckCleanRefusal(const Evidence& evidence, Check& check);
void CheckGrace(const Evidence& evidence, Check& check);
void CheckDeathsExplained(const Evidence& evidence, Check& check);
void CheckNoHang(const Evidence& evidence, Check& check);
void CheckNoOrphans(const Evidence& evidence, Check& check);
void CheckBackupDeleted(const Evidence& evidence, Check& check);
void CheckFaultFired(const Evidence& evidence, Check& check);
void CheckEventsMerge(const Evidence& evidence, Check& check);

struct Invariant {
  std::string_view name;  // as in AllInvariants(), in the same order
  // What the specification leaves to it; null: nothing.
  void (*check)(const Evidence& evidence, Check& check);
};
std::span<const Invariant> InvariantTable();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_INVARIANTS_H_
