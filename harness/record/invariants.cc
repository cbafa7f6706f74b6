#include "harness/record/invariants.h"

#include <algorithm>
#include <array>

namespace gauntlet {
namespace {

constexpr std::array kInvariants = {
    InvariantInfo{
        "trajectory",
        "every digest and loss of every incarnation is the reference's"},
    InvariantInfo{
        "epochs",
        "every epoch ends, once in an incarnation, with the reference's "
        "metrics"},
    InvariantInfo{"samples",
                  "each row is used exactly once per epoch over the steps that "
                  "count"},
    InvariantInfo{"replicas-agree",
                  "all workers hold equal bits after every step"},
    InvariantInfo{"resume-point",
                  "a restart goes on from the newest acknowledged save, or a "
                  "later one"},
    InvariantInfo{
        "bounded-loss",
        "no restart recomputes more than a save interval, none after an "
        "orderly stop"},
    InvariantInfo{"store",
                  "checkpoints verify, nothing torn or void is loaded, nothing "
                  "is littered"},
    InvariantInfo{"no-cold-start",
                  "training never starts afresh over acknowledged saves"},
    InvariantInfo{"clean-refusal",
                  "what cannot go on refuses with exit code 7 and loses "
                  "nothing"},
    InvariantInfo{
        "grace", "a notice leads to a save and a stop within the grace period"},
    InvariantInfo{"no-spontaneous-exit",
                  "no worker is lost unless a fault is to blame"},
    InvariantInfo{"detection", "a lost worker is noticed within the bound"},
    InvariantInfo{"restarts",
                  "a job is started again as often, and as late, as it may be"},
    InvariantInfo{"no-hang", "the run ends by itself, in time"},
    InvariantInfo{"no-orphans", "no process is left behind"},
    InvariantInfo{"checkpoints-deleted",
                  "a finished run deletes its checkpoints if told to, no other "
                  "does"},
    InvariantInfo{"outputs",
                  "curves have each step once, with the reference's loss; the "
                  "exported model is whole, and of the final state"},
    InvariantInfo{"fault-fired", "each planned fault fired and had its effect"},
    InvariantInfo{
        "history-consistent",
        "the events of all incarnations make one history without gaps"},
};

}  // namespace

std::span<const InvariantInfo> AllInvariants() { return kInvariants; }

bool IsInvariant(std::string_view name) {
  return std::any_of(
      kInvariants.begin(), kInvariants.end(),
      [&](const InvariantInfo& info) { return info.name == name; });
}

}  // namespace gauntlet
