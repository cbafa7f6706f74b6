#include "harness/record/invariants.h"

#include <algorithm>
#include <array>

#include "engine/enum_order.h"

namespace gauntlet {
namespace {

constexpr std::array kInvariants = {
    InvariantInfo{
        Invariant::kTrajectory, "trajectory",
        "every digest and loss of every incarnation equals the reference's",
        true},
    InvariantInfo{Invariant::kEpochs, "epochs",
                  "every epoch ends, and with the reference's metrics if it "
                  "ends at the reference's step",
                  true},
    InvariantInfo{Invariant::kSamples, "samples",
                  "each step uses the reference's samples; each sample is used "
                  "once per epoch",
                  true},
    InvariantInfo{Invariant::kReplicasAgree, "replicas-agree",
                  "all workers hold bitwise identical states after every step",
                  true},
    InvariantInfo{
        Invariant::kResumePoint, "resume-point",
        "a restart resumes from the newest acknowledged checkpoint or "
        "a later one, but may skip checkpoints that do not verify"},
    InvariantInfo{
        Invariant::kBoundedLoss, "bounded-loss",
        "a save begins whenever one is due, and a rejoin recomputes no step "
        "that a survivor holds"},
    InvariantInfo{Invariant::kStore, "store",
                  "acknowledged checkpoints stay loadable unless a fault "
                  "damaged them; a load returns what was saved; no torn or "
                  "fenced checkpoint is loaded; no partial files are left"},
    InvariantInfo{Invariant::kNoColdStart, "no-cold-start",
                  "training never starts from step 0 after an acknowledged "
                  "save"},
    InvariantInfo{Invariant::kCleanRefusal, "clean-refusal",
                  "exit code 7 only if faults damaged at least one checkpoint, "
                  "and all acknowledged ones that remain; the damaged ones are "
                  "kept"},
    InvariantInfo{Invariant::kGrace, "grace",
                  "after a preemption notice, the run saves and stops within "
                  "the grace period"},
    InvariantInfo{Invariant::kNoSpontaneousExit, "no-spontaneous-exit",
                  "every exit and every lost worker has a recorded cause"},
    InvariantInfo{
        Invariant::kDetection, "detection",
        "a lost worker is detected in time: within expect.detected_in, "
        "or the limits of heartbeats and timeouts"},
    InvariantInfo{Invariant::kRestarts, "restarts",
                  "the launcher keeps to its restart budget, and pauses "
                  "before each restart as configured"},
    InvariantInfo{Invariant::kNoHang, "no-hang",
                  "the run ends by itself, in time"},
    InvariantInfo{Invariant::kNoOrphans, "no-orphans",
                  "workers exit soon after their launcher is killed, and no "
                  "process outlives the run"},
    InvariantInfo{Invariant::kCheckpointsDeleted, "checkpoints-deleted",
                  "a finished run deletes its checkpoints if configured to; no "
                  "other run does"},
    InvariantInfo{Invariant::kOutputs, "outputs",
                  "curves have each step once, with the reference's loss; the "
                  "exported model is complete, and of the final state"},
    InvariantInfo{Invariant::kFaultFired, "fault-fired",
                  "each planned fault fired and had its effect"},
    InvariantInfo{Invariant::kHistoryConsistent, "history-consistent",
                  "the events of all processes form one history without gaps"},
};

static_assert(IsInEnumOrder(kInvariants, &InvariantInfo::invariant));

}  // namespace

std::span<const InvariantInfo> AllInvariants() { return kInvariants; }

std::string_view InvariantName(Invariant invariant) {
  return kInvariants[static_cast<size_t>(invariant)].name;
}

bool IsInvariant(std::string_view name) {
  return std::any_of(
      kInvariants.begin(), kInvariants.end(),
      [&](const InvariantInfo& info) { return info.name == name; });
}

bool IsOfTraining(std::string_view name) {
  return std::any_of(kInvariants.begin(), kInvariants.end(),
                     [&](const InvariantInfo& info) {
                       return info.name == name && info.is_of_training;
                     });
}

}  // namespace gauntlet
