// Faults of one millisecond: a run with one more of them must pass as before.
//
// They show whether the judge excuses other errors only because the plan has
// some fault somewhere.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_HARMLESS_FAULT_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_HARMLESS_FAULT_H_

#include <optional>
#include <span>
#include <string_view>

#include "chaos/inject/plan/plan.h"
#include "harness/record/record.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// A column of the table.
struct HarmlessFault {
  std::string_view name;          // "pause 1 ms"
  std::optional<FaultKind> kind;  // nullopt: no fault is added
};

// Returns all of them. The first one adds no fault.
std::span<const HarmlessFault> AllHarmlessFaults();

// Returns the case with the fault added to the first incarnation of a worker,
// at the begin of a step. If possible, it is not the worker in which the first
// fault of `record` fired. The step is five steps before that first fault, or
// before the worker's last step if no fault fired; if there are fewer steps, it
// is the worker's first. `record` is the record of `one`. Returns nullopt if no
// worker had begun a step by then, if a network fault would have no peer, or if
// the plan would be invalid.
std::optional<Case> WithHarmlessFault(const Case& one, HarmlessFault fault,
                                      const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_HARMLESS_FAULT_H_
