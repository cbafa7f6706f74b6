// Explains a worker that was killed at the end of the grace period of a
// preemption notice.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_LIMITS_KILLED_IN_GRACE_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_LIMITS_KILLED_IN_GRACE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "harness/oracle/history/outline.h"

namespace gauntlet {

// The notice, and the state of its worker at the kill.
struct KilledInGrace {
  const RecordFault* notice = nullptr;
  int worker = 0;
  std::optional<int64_t> read_after_ns;  // from the notice; nullopt: not read
  uint64_t step = 0;                     // step in which the worker was killed
  bool has_agreed = false;               // the worker had agreed to stop
  int64_t longest_step_ns = 0;  // of the worker; 0: fewer than two steps
  // Fault that hindered a worker (`delayed`) longest between the notice and the
  // kill; null if none did. INT64_MAX: without end.
  const RecordFault* delay = nullptr;
  int64_t delay_ns = 0;
  int delayed = 0;
  int64_t longest_save_ns = 0;  // of the run; 0: no save was acknowledged
};

// Returns nullopt if no worker was killed at the end of a grace period.
std::optional<KilledInGrace> FindKilledInGrace(const Outline& outline);

// Returns "preemption.poll_every (1s)"; the key alone if the record does not
// have its value.
std::string PollEveryText(const RunSetup& setup);

// Returns the time from the notice to the exit of the workers, in whole seconds
// or tenths: that of two executions and a save. One execution is in progress at
// the notice; in the other one, the workers agree to stop. 0: unknown.
int64_t NeededGrace(const RunSetup& setup, const KilledInGrace& killed);

// Returns "the time of two steps and a save, rounded up": the events that
// NeededGrace counts. If faults delay the save, returns "… a save with its
// delays, rounded up".
std::string NeededGraceText(const RunSetup& setup, bool has_delays = false);

// Returns "fault p grants worker 1 10s from the notice to the kill, but the
// trainer was told 30s (preemption.grace); worker 1 read the notice after 2.0 s
// and was killed in step 13; it did not save in the remaining 8.0 s, as a
// worker continues training while preemption.grace (30s) leaves enough time for
// a step and a save".
std::string KilledInGraceText(const Outline& outline,
                              const KilledInGrace& killed);

// Returns the change of the scenario after which the worker stops in time:
// "lower preemption.grace (30s) to the grace of fault p (10s)".
std::string KilledInGraceRemedy(const RunSetup& setup,
                                const KilledInGrace& killed);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_LIMITS_KILLED_IN_GRACE_H_
