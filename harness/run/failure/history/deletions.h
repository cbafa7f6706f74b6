// Checkpoints that a run deleted, or could not delete.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_DELETIONS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_DELETIONS_H_

#include "harness/record/record.h"
#include "harness/run/failure/history/begun_saves.h"

namespace gauntlet {

// Returns true iff the event shows that its checkpoint, which no fault damaged,
// was deleted by retention or to make room: the removal ended, or it had begun
// and the checkpoint was missing after the run.
bool ShowsDeletion(const Record& record, const RecordEvent& event);

// Returns the damage because of which nothing was deleted to make room for a
// save that failed, on a full disk, before `save.failure`: the newest
// checkpoint was damaged by then, and the oldest one was the only intact one.
// Returns null if the save failed for another reason, or if nothing kept the
// run from deleting the oldest one. REQUIRES: save.ending is kFailed.
const RecordEvent* DamageThatKeptOldest(const Record& record,
                                        const BegunSave& save);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_DELETIONS_H_
