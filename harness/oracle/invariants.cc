#include "harness/oracle/invariants.h"

#include <array>

namespace gauntlet {
namespace {

constexpr size_t kFindingsInWords = 5;

constexpr std::array kTable = {
    Invariant{"trajectory", CheckTrajectory},
    Invariant{"epochs", CheckEpochs},
    Invariant{"samples", CheckSamples},
    Invariant{"replicas-agree", CheckReplicasAgree},
    Invariant{"resume-point", CheckResumePoint},
    Invariant{"bounded-loss", CheckBoundedLoss},
    Invariant{"store", CheckStore},
    Invariant{"no-cold-start", CheckNoColdStart},
    Invariant{"clean-refusal", CheckCleanRefusal},
    Invariant{"grace", CheckGrace},
    Invariant{"no-spontaneous-exit", CheckDeathsExplained},
    Invariant{"detection", nullptr},
    Invariant{"no-hang", CheckNoHang},
    Invariant{"no-orphans", CheckNoOrphans},
    Invariant{"checkpoints-deleted", CheckBackupDeleted},
    Invariant{"fault-fired", CheckFaultFired},
    Invariant{"history-consistent", CheckEventsMerge},
};

}  // namespace

std::span<const Invariant> InvariantTable() { return kTable; }

void Check::Breach(std::string_view name, std::string message) {
  ++report_.breaches;
  if (report_.findings.size() >= kFindingsInWords) return;
  report_.findings.push_back({.invariant = report_.invariant,
                              .name = std::string(name),
                              .message = std::move(message)});
}

}  // namespace gauntlet
