#include "harness/record/invariants.h"

#include <algorithm>
#include <array>

namespace gauntlet {
namespace {

constexpr std::array kInvariants = {
    InvariantInfo{
        "trajectory",
        "every digest and loss of every incarnation equals the reference's"},
    InvariantInfo{"epochs",
                  "every epoch ends, and with the reference's metrics if it "
                  "ends at the reference's step"},
    InvariantInfo{"samples",
                  "each step uses the reference's samples; each sample is used "
                  "once per epoch"},
    InvariantInfo{"replicas-agree",
                  "all workers hold bitwise identical states after every step"},
    InvariantInfo{"resume-point",
                  "a restart resumes from the newest acknowledged checkpoint, "
                  "or a later one"},
    InvariantInfo{
        "bounded-loss",
        "a save is begun whenever one is due, and a rejoin recomputes no step "
        "that a survivor holds"},
    InvariantInfo{"store",
                  "acknowledged checkpoints stay loadable unless a fault "
                  "damaged them, none torn or fenced is loaded, no partial "
                  "files are left"},
    InvariantInfo{"no-cold-start",
                  "training never starts from step 0 after an acknowledged "
                  "save"},
    InvariantInfo{"clean-refusal",
                  "exit code 7 only if no acknowledged checkpoint is loadable; "
                  "the damaged ones are kept"},
    InvariantInfo{"grace",
                  "a termination notice leads to a save and a stop within the "
                  "grace period"},
    InvariantInfo{"no-spontaneous-exit",
                  "every exit and every lost worker has a recorded cause"},
    InvariantInfo{"detection", "a lost worker is detected within the bound"},
    InvariantInfo{"restarts",
                  "the launcher keeps to its restart budget and pauses"},
    InvariantInfo{"no-hang", "the run ends by itself, in time"},
    InvariantInfo{"no-orphans",
                  "workers end soon after a killed launcher, and no process "
                  "outlives the run"},
    InvariantInfo{"checkpoints-deleted",
                  "a finished run deletes its checkpoints if told to; no other "
                  "run does"},
    InvariantInfo{"outputs",
                  "curves have each step once, with the reference's loss; the "
                  "exported model is whole, and of the final state"},
    InvariantInfo{"fault-fired", "each planned fault fired and had its effect"},
    InvariantInfo{"history-consistent",
                  "the events of all processes form one history without gaps"},
};

}  // namespace

std::span<const InvariantInfo> AllInvariants() { return kInvariants; }

bool IsInvariant(std::string_view name) {
  return std::any_of(
      kInvariants.begin(), kInvariants.end(),
      [&](const InvariantInfo& info) { return info.name == name; });
}

}  // namespace gauntlet
