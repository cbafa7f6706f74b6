// Where a run's state parts from the reference's, down to the operation.
//
// The record's digests say which step it is. Both runs are then made again, as
// both are functions of their plans, with a recorder at that step; the first
// operation whose output differs is the one to look at.
#ifndef GAUNTLET_HARNESS_EXPLORE_DIVERGENCE_H_
#define GAUNTLET_HARNESS_EXPLORE_DIVERGENCE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "engine/data/dataset.h"
#include "harness/explore/step_recorder.h"
#include "harness/record/record.h"
#include "harness/run/run_plan.h"
#include "harness/run/sim_run.h"

namespace gauntlet {

// The first event, in the order of time, with a state or a loss that the
// reference does not have there.
struct Departure {
  RecordKind kind = RecordKind::kStep;  // resumed, initialized, step, …
  int worker = 0;                       // who said so first
  int life = 1;
  uint64_t step = 0;
  RecordPhase phase = RecordPhase::kInEpoch;  // as in the event
};
std::optional<Departure> FirstDeparture(const Record& record);

// One value of the broken run beside the reference's.
struct ValueDifference {
  std::string where;     // "operation gradient of dense0/kernel", "tensor x"
  int replica = -1;      // -1: of none alone
  int worker = 0;        // of the broken run
  std::string element;   // "[3,17]"; "" for a scalar
  std::string found;     // hex; or, with no `expected`, what is wrong at all
  std::string expected;  // hex
  std::optional<uint64_t> ulps;
  uint64_t differing = 0;  // elements of that output
  uint64_t elements = 0;
};

struct Divergence {
  Departure departure;
  // nullopt: the runs that were made again show no difference there.
  std::optional<ValueDifference> first;
  // Where `first` is of a state that was loaded: what comes of it in the
  // operation that follows.
  std::optional<ValueDifference> then;
};

// "first difference: step 11, operation …, replica 3, element [5,2]: 3f9d70a4,
// expected 3f9d70a3 (1 ulp); 512 of 4096 values differ". A state that was
// loaded: "the state loaded at step 10 differs: tensor rng/key …", and behind
// "; then" the first operation that it shows in.
std::string DescribeDivergence(const Divergence& divergence);

// Makes both runs again; the departure is the simulated run's of the plan.
// `planted` looks into the broken run's steps, and may change them. An error if the
// reference run does not come to the step.
Result<Divergence> FindDivergence(const RunPlan& plan, const DataSplit& data,
                                  const Departure& departure,
                                  const ProbeOf& planted = nullptr);

// The first tensor of the state before in which the traces differ; those of the
// broken run are of all workers.
std::optional<ValueDifference> CompareStarts(
    const std::vector<StepTrace>& broken, const StepTrace& reference);
// The first operation, in the order of a step, whose output differs; then the
// state that is left.
std::optional<ValueDifference> CompareOperations(
    const std::vector<StepTrace>& broken, const StepTrace& reference);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIVERGENCE_H_
