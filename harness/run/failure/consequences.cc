#include "harness/run/failure/consequences.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "harness/record/invariants.h"

namespace gauntlet {
namespace {

struct Rule {
  Invariant invariant;
  // Prefix of tensor names: a difference in such a tensor has the consequence.
  // Empty: a difference in any tensor has it.
  std::string_view tensors;
  std::string_view why;
};

constexpr std::array kRules = {
    Rule{Invariant::kTrajectory, "",
         "each later state and loss is computed from what differs"},
    Rule{Invariant::kEpochs, "",
         "an epoch's metrics sum up steps and evaluations, and these "
         "are computed from what differs"},
    Rule{Invariant::kSamples, "rng/",
         "the order of the samples is drawn with this key"},
    Rule{Invariant::kSamples, "position/",
         "the position selects the samples of a step"},
    Rule{Invariant::kSamples, "job/",
         "the order of the samples is drawn from the job"},
    Rule{Invariant::kStore, "",
         "a load that changes the state violates it, and so does each later "
         "save of what differs"},
    Rule{Invariant::kOutputs, "",
         "curves and the exported model are made from what differs"},
    Rule{Invariant::kHistoryConsistent, "position/",
         "events report the position that differs"},
    Rule{Invariant::kReplicasAgree, "",
         "what differs is not the same on all workers"},
};

bool HasTensor(const StateDifference& difference, std::string_view begin) {
  return std::ranges::any_of(difference.tensors,
                             [begin](const DifferingTensor& tensor) {
                               return tensor.name.starts_with(begin);
                             });
}

}  // namespace

std::vector<Consequence> ConsequencesOf(const StateDifference& difference,
                                        const Verdict& verdict) {
  std::vector<Consequence> consequences;
  for (const InvariantReport& report : verdict.invariants) {
    if (report.violations == 0) continue;
    const auto rule = std::ranges::find_if(kRules, [&](const Rule& one) {
      return InvariantName(one.invariant) == report.invariant &&
             HasTensor(difference, one.tensors);
    });
    if (rule == kRules.end()) continue;
    consequences.push_back(
        {.invariant = report.invariant, .why = std::string(rule->why)});
  }
  return consequences;
}

}  // namespace gauntlet
