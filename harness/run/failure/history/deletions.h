// Checkpoints that a run deleted.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_DELETIONS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_DELETIONS_H_

#include "harness/record/record.h"

namespace gauntlet {

// Returns true iff the event shows that its checkpoint, which no fault damaged,
// was deleted by retention or to make room: the removal ended, or it had begun
// and the checkpoint was missing after the run.
bool ShowsDeletion(const Record& record, const RecordEvent& event);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_DELETIONS_H_
