// Finds the operation at which a run's state first differs from the reference.
//
// The digests in the record show at which step the states differ. The run and
// the reference run depend on their plans alone, so both can be repeated, with
// a recorder at that step. The first operation whose output differs is the one
// to examine.
#ifndef GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_DIVERGENCE_H_
#define GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_DIVERGENCE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "engine/data/dataset.h"
#include "harness/explore/diagnosis/step_recorder.h"
#include "harness/record/record.h"
#include "harness/record/result/difference.h"
#include "harness/run/executor/run_plan.h"
#include "harness/run/executor/sim_run.h"

namespace gauntlet {

// The first event, in the order of time, whose state or loss differs from that
// of the reference run at the same step and phase.
struct Departure {
  RecordKind kind = RecordKind::kStep;  // resumed, initialized, step, …
  int worker = 0;                       // first to report it
  int incarnation = 1;
  uint64_t step = 0;
  RecordPhase phase = RecordPhase::kInEpoch;  // as in the event
};
std::optional<Departure> FirstDeparture(const Record& record);

struct Divergence {
  Departure departure;
  // First difference at the departure. If the operation there is equal in both
  // repeated runs: the difference of the states before the next operation.
  // nullopt: these are equal too, or there is no next operation.
  std::optional<StateDifference> first;
  // If `first` is about a state before an operation, such as a loaded state:
  // the first difference in that operation.
  std::optional<StateDifference> then;
};

// Returns "first difference: step 11, operation …, replica 3, element [5,2]:
// 1.23 (0x3f9d70a4), expected 1.2299999 (0x3f9d70a3) (1 ulp); 512 of 4096
// values differ". If a loaded state differs: "the state loaded at step 10
// differs: tensor rng/key …", then "; then" and the first operation in which
// the difference shows. If the operations of a step are equal, but not the
// state after them: "first difference: the state after step 8, tensor …".
std::string DescribeDivergence(const Divergence& divergence);

// Returns "operation gradient of dense0/kernel" or "tensor rng/key".
std::string WhereText(const StateDifference& difference);

// Repeats both runs. `departure`: the first departure of the simulated run of
// the plan. `planted` observes the steps of the broken run and may change them.
// Returns an error if the reference run does not reach the step.
Result<Divergence> FindDivergence(const RunPlan& plan, const DataSplit& data,
                                  const Departure& departure,
                                  const ProbeOf& planted = nullptr);

// Compares states before the step. Returns the difference of the first worker
// whose state is not that of the reference run.
std::optional<StateDifference> CompareStarts(
    const std::vector<StepTrace>& broken, const StepTrace& reference);
// Compares the outputs of operations, in the order in which a step executes
// them, and returns the first difference. If all outputs are equal, returns the
// first difference of the states after the step. nullopt: all is equal.
std::optional<StateDifference> CompareOperations(
    const std::vector<StepTrace>& broken, const StepTrace& reference);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_DIVERGENCE_H_
