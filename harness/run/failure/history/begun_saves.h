// Saves that had begun by a given event of a run: their endings up to that
// event, and the reasons of failures.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_BEGUN_SAVES_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_BEGUN_SAVES_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "harness/record/record.h"

namespace gauntlet {

enum class SaveEnding : uint8_t { kPending, kAcknowledged, kFailed };

// The last try to save a step: a failed save may begin again.
struct BegunSave {
  uint64_t step = 0;
  // Time at which the save began. If the save reported no begin, the time of
  // its failure.
  int64_t begin_ns = 0;
  SaveEnding ending = SaveEnding::kPending;
  const RecordEvent* failure = nullptr;  // event of the record; kFailed only
};

// Returns the saves that had begun by the event `until`, in the order of their
// steps. Events at the same time, as in a simulated run, are ordered by their
// positions in the record.
std::vector<BegunSave> SavesBegunBy(const Record& record,
                                    const RecordEvent& until);

// Returns "the save of step 8" or "the saves of steps 8 and 12".
// REQUIRES: steps is not empty.
std::string SavesText(const std::set<uint64_t>& steps);

// Returns "the save of step 8 began and was not acknowledged", with all steps;
// "" if there are none.
std::string NotAcknowledgedText(const std::set<uint64_t>& steps);

// Returns "the save of step 8 failed"; "the saves of steps 8 and 12 failed".
// REQUIRES: steps is not empty.
std::string FailedText(const std::set<uint64_t>& steps);

// Returns "the save of step 8 failed; the save of step 12 began and was not
// acknowledged" for the steps after `step` whose saves had failed or were
// pending at the event `until`; "" if there are none.
std::string UnfinishedSavesText(const Record& record, uint64_t step,
                                const RecordEvent& until);

// Returns the faults in saves that fired from `from_ns` to `until_ns`, both
// included, and for which `is_wanted` returns true, in the order of their ids.
std::vector<const RecordFault*> FaultsInSaves(
    const Record& record, int64_t from_ns, int64_t until_ns,
    const std::function<bool(const RecordFault&)>& is_wanted);

// Returns the faults that injected errors into the save.
// REQUIRES: save.ending is kFailed.
std::vector<const RecordFault*> FailingFaults(const Record& record,
                                              const BegunSave& save);

// Returns the failed saves of the run; none if one of them failed without a
// fault.
std::vector<BegunSave> SavesFailedByFaults(const Record& record);

// Returns the reason of the failure: "fault full (ENOSPC in MANIFEST.json)" or,
// if no fault caused it, the error that the save reported.
// REQUIRES: save.ending is kFailed.
std::string FailureReason(const Record& record, const BegunSave& save);

// Describes the saves that began at `from_ns` or later and failed, grouped by
// the faults that made them fail: "the saves of steps 5 and 10 failed: fault
// eio (EIO in …)". Gives the reason of the last failure in each group. Returns
// "" if none failed.
std::string FailedSavesText(const Record& record, int64_t from_ns);

// Returns the step of the save at whose point the fault fired. The event itself
// has the step of the training, which may be later if saves are asynchronous.
uint64_t StepOfSaveAt(const Record& record, const RecordEvent& fired);

// Returns true iff the save was made because training had ended
// (checkpoint.on_success).
bool IsFinalSave(const Record& record, const RecordEvent& save);

// Returns true iff the run acknowledged a final save (IsFinalSave).
bool HasFinalSave(const Record& record);

// Returns "the save of step 18 failed: fault full (ENOSPC in …); a later try
// saved step 18" for each step whose save failed and was acknowledged
// later; "" if there is none.
std::string RetriedSavesText(const Record& record);

// Returns the steps whose save failed in one incarnation of a worker, and was
// acknowledged in a later one. Had the workers not restarted, these saves would
// be missing.
std::set<uint64_t> StepsSavedAfterRestart(const Record& record);

// Returns "the save of step 24 failed: REASON" if the process that ended had a
// state that it could not save; else "".
std::string UnsavedText(const Record& record, const RecordEvent& end);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_BEGUN_SAVES_H_
