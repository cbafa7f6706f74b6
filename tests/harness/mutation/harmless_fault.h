// Faults of one millisecond. A run that passes must also pass with one of them.
//
// They show whether the judge excuses an error only because the plan has some
// fault that does not explain it.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_HARMLESS_FAULT_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_HARMLESS_FAULT_H_

#include <optional>
#include <span>
#include <string_view>

#include "chaos/inject/plan/plan.h"
#include "harness/record/record.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// A column of the mutation table.
struct HarmlessFault {
  std::string_view name;          // "pause 1 ms"
  std::optional<FaultKind> kind;  // nullopt: no fault is added
};

// Returns all harmless faults. The first one adds no fault.
std::span<const HarmlessFault> AllHarmlessFaults();

// Returns the case with the fault added at the begin of a step, in the first
// incarnation of a worker. `record` is the record of `one`.
//
// If possible, this is not the worker in which the first fault of `record`
// fired. The added fault comes five steps before the last step that the worker
// trained before that first fault, or before the end if no fault fired. If the
// worker trained too few steps, it comes in the worker's first step.
//
// Returns nullopt if no worker had trained a step by then, if a network fault
// would have no peer, or if the plan would be invalid.
std::optional<Case> WithHarmlessFault(const Case& one, HarmlessFault fault,
                                      const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_HARMLESS_FAULT_H_
