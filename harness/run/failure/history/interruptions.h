// Interruptions of a run: attempts that ended without the result, and workers
// that the launcher restarted alone.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_INTERRUPTIONS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_INTERRUPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/oracle/history/outline.h"
#include "harness/record/record.h"

namespace gauntlet {

// The reaction to an interruption.
enum class Reaction : uint8_t {
  kNone,            // the run ended
  kRestartsJob,     // the launcher started another attempt
  kRestartsWorker,  // the launcher restarted only the lost worker
  kStartsLauncher,  // the launcher was started again (preemption.requeue)
};

struct Interruption {
  // Time after which the cause came: that of the reaction to the previous
  // interruption, or that of the launcher's start, whichever is later.
  // INT64_MIN: neither is known.
  int64_t from_ns = INT64_MIN;
  int64_t end_ns = 0;
  int64_t reaction_ns = 0;  // kNone: equal to end_ns
  size_t attempt = 0;       // number among all attempts of the run, from 1
  size_t launch = 0;        // number of its launcher's start, from 1
  Reaction reaction = Reaction::kNone;
  std::optional<int> worker = std::nullopt;  // worker restarted alone, if any
  std::set<const RecordFault*> faults = {};  // causes of the interruption
  // False: any of the faults may have caused it (CausesOf).
  bool are_certain = true;
};

// Returns true iff the launcher was killed. In a run that did not exit by
// itself, the harness may have killed it, so the result is false.
bool WasKilled(const Record& record, const LauncherRun& run);

// Returns the interruptions in the order of time. A launcher that was killed,
// and one that stopped on a notice, interrupt the run, too.
std::vector<Interruption> InterruptionsOf(const Outline& outline);

// Returns the value of preemption.requeue in a run that used it up; nullopt if
// planned launches hide it. REQUIRES: there was a launcher.
std::optional<uint64_t> UsedUpRequeue(const Record& record);

// Returns true iff the scenario selects any incarnation for the fault. A record
// has the incarnation of a fault only in its summary.
bool FiresInAnyIncarnation(const RecordFault& fault);

// Returns true iff the fault repeats without an end: it has no `until`, or it
// fires in one step only, before the step of `until`, so that training does not
// reach that step.
bool RepeatsWithoutEnd(const RecordFault& fault);

// Returns true iff there were two interruptions or more, and the training
// reached no new step between the last two.
bool LacksProgress(const Record& record, const std::vector<Interruption>& all);

// Returns true iff the run ended while its workers rejoined after the last
// interruption: none of them had resumed by then.
bool EndedDuringRejoin(const Record& record,
                       const std::vector<Interruption>& all);

// Returns a fault that repeats without an end, and ended each attempt from the
// first that it ended to the last of the run. At least two such attempts are
// needed. One is enough if the plan lets the fault fire in any incarnation, no
// resume can start after the fault's step, and the fault is not a delay that
// ends. Prefers a fault that ends processes or fails operations to one that
// only delays. Returns null if there is none.
const RecordFault* EndlessFault(const Record& record,
                                const std::vector<Interruption>& all);

// Returns "fault c (hang worker 1 at step.begin, step 8) ended attempt 1:
// worker 0 lost rank 1 (deadline: cluster.step_timeout is 7s); the launcher
// restarted the job". If a worker could not save its state, the text names the
// save and the reason of its failure. Returns "" if the record shows neither a
// fault nor a sign.
std::string InterruptionText(const Outline& outline, const Interruption& one);

// Returns "fault c (crash worker 1 at step.begin, step 8) ended attempts 1 and
// 2" for each fault that caused interruptions, then "attempts 3 to 5 ended:
// worker 1 exited with code 75" for those without a fault. Attempts whose end
// the record does not show are left out.
std::vector<std::string> EndsOfAttempts(const Outline& outline,
                                        std::span<const Interruption> all);

// Returns the texts of EndsOfAttempts for `others`, to follow the
// InterruptionText of `described`. They do not repeat its fault and its sign:
// "fault c also ended attempts 2 to 4", "attempts 5 and 6 ended likewise".
std::vector<std::string> OtherEnds(const Outline& outline,
                                   const Interruption& described,
                                   std::span<const Interruption> others);

// Returns the end that led to `start`, the start of a generation: "worker 1 was
// killed because of fault k (…)", or "launch 1 ended after step 12" if the
// launcher of the generation before ended as planned; "the run restarted" if
// the record shows none. `since_ns`: start of the generation before.
std::string EndBeforeStartText(const Outline& outline, int64_t since_ns,
                               const RecordEvent& start);

// Returns the end of the last launcher: "the launcher was killed (exit code
// 137) and was not started again (preemption.requeue is 0)". REQUIRES: there
// was a launcher.
std::string LauncherEndText(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_INTERRUPTIONS_H_
