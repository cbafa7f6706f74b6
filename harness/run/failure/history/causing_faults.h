// Faults that caused an interruption, as far as the record shows them.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_CAUSING_FAULTS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_CAUSING_FAULTS_H_

#include <cstdint>
#include <set>
#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/record.h"

namespace gauntlet {

// Returns the faults that fired in that time and may interrupt a run.
std::set<const RecordFault*> InterruptingFaults(const Outline& outline,
                                                int64_t from_ns,
                                                int64_t until_ns);

struct Causes {
  std::set<const RecordFault*> faults = {};
  // False: any of the faults may have been the cause, and the record does not
  // show which.
  bool are_certain = true;
};

// Returns those of the InterruptingFaults that caused the first sign of an
// interruption in that time. A fault that explains the sign by itself, as it
// ended the lost process, reset its connection or blocked it for the time of
// the wait, leaves out those that may only delay.
Causes CausesOf(const Outline& outline, int64_t from_ns, int64_t until_ns);

// Returns "worker 0 was killed because of fault k (kill worker 0 at
// ckpt.rename)": the text of the end with the newest cause since then; without
// a fault if there is none. If several faults may be the cause, names each:
// "…, possibly because of fault a (…) or fault b (…)". REQUIRES: FirstEnd
// returned the event.
std::string EndWithFaultText(const Outline& outline, const RecordEvent& end,
                             int64_t since_ns);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_CAUSING_FAULTS_H_
