// Checkpoints that a run deleted, or kept because of damage.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_DELETIONS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_DELETIONS_H_

#include "harness/record/record.h"
#include "harness/run/failure/history/begun_saves.h"

namespace gauntlet {

// Returns true iff the event shows that its checkpoint, which no fault damaged,
// was deleted by retention or to make room: the removal ended, or it had begun
// and the checkpoint was missing after the run.
bool ShowsDeletion(const Record& record, const RecordEvent& event);

// Returns the damage that made the oldest checkpoint the only intact one, so
// that CheckpointStore::FreeSpace did not delete it when `save` failed on a
// full disk; else null. REQUIRES: save.failure is not null.
const RecordEvent* DamageThatKeptOldest(const Record& record,
                                        const BegunSave& save);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_DELETIONS_H_
