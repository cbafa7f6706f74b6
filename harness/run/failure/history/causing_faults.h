// Faults that caused an interruption, as far as the record shows them.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_CAUSING_FAULTS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_CAUSING_FAULTS_H_

#include <cstdint>
#include <set>
#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/record.h"

namespace gauntlet {

// Returns the faults that fired after `from_ns`, until `until_ns`, and may
// interrupt a run.
std::set<const RecordFault*> InterruptingFaults(const Outline& outline,
                                                int64_t from_ns,
                                                int64_t until_ns);

struct Causes {
  std::set<const RecordFault*> faults = {};
  // False: any of the faults may have been the cause, and the record does not
  // show which.
  bool are_certain = true;
};

// Returns those of the InterruptingFaults that best explain the first sign of
// an interruption after `from_ns`, until `until_ns`. If some faults explain the
// sign by themselves, returns only these: for example, a fault that ended the
// lost process or reset its connection. Otherwise, if some blocked a worker or
// a link during at least half of the wait, returns only these. Otherwise
// returns all that may have caused the sign.
Causes CausesOf(const Outline& outline, int64_t from_ns, int64_t until_ns);

// Returns "worker 0 was killed because of fault k (kill worker 0 at
// ckpt.rename)": the text of the end, and the newest fault after `since_ns`
// that may have caused it. Returns the text of the end alone if there is no
// such fault. If the record does not show which of several faults was the
// cause, names each: "…, possibly because of fault a (…) or fault b (…)".
// REQUIRES: FirstEnd returned the event.
std::string EndWithFaultText(const Outline& outline, const RecordEvent& end,
                             int64_t since_ns);

// Returns the fault named by EndWithFaultText if it ends its process
// immediately; else null. A launcher reports the end later than the fault.
const FaultOccurrence* ImmediateFaultOf(const Outline& outline,
                                        const RecordEvent& end,
                                        int64_t since_ns);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_CAUSING_FAULTS_H_
