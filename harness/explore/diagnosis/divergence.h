// Finds the operation at which a run's state first differs from the reference.
//
// The digests of the record give the step. Both runs are functions of their
// plans, so both are run again, with a recorder at that step. The first
// operation whose output differs is the one to examine.
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

// The first event, in the order of time, with a state or a loss that the
// reference does not have there.
struct Departure {
  RecordKind kind = RecordKind::kStep;  // resumed, initialized, step, …
  int worker = 0;                       // first to report it
  int life = 1;
  uint64_t step = 0;
  RecordPhase phase = RecordPhase::kInEpoch;  // as in the event
};
std::optional<Departure> FirstDeparture(const Record& record);

struct Divergence {
  Departure departure;
  // nullopt: the repeated runs show no difference there.
  std::optional<StateDifference> first;
  // If `first` is about a loaded state: the first difference in the next
  // operation.
  std::optional<StateDifference> then;
};

// "first difference: step 11, operation …, replica 3, element [5,2]: 1.23
// (0x3f9d70a4), expected 1.2299999 (0x3f9d70a3) (1 ulp); 512 of 4096 values
// differ". A state that was loaded: "the state loaded at step 10 differs:
// tensor rng/key …", and behind "; then" the first operation that it shows in.
std::string DescribeDivergence(const Divergence& divergence);

// "operation gradient of dense0/kernel", "tensor rng/key".
std::string WhereText(const StateDifference& difference);

// Makes both runs again; the departure is the simulated run's of the plan.
// `planted` looks into the broken run's steps, and may change them. An error if
// the reference run does not come to the step.
Result<Divergence> FindDivergence(const RunPlan& plan, const DataSplit& data,
                                  const Departure& departure,
                                  const ProbeOf& planted = nullptr);

// Compares states before the step. Returns the difference of the first worker
// whose state is not that of the reference run.
std::optional<StateDifference> CompareStarts(
    const std::vector<StepTrace>& broken, const StepTrace& reference);
// The first operation, in the order of a step, whose output differs; then the
// state that is left.
std::optional<StateDifference> CompareOperations(
    const std::vector<StepTrace>& broken, const StepTrace& reference);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_DIVERGENCE_H_
