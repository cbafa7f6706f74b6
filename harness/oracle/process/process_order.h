// Checks the order of events within each process, and of incarnations.
#ifndef GAUNTLET_HARNESS_ORACLE_PROCESS_PROCESS_ORDER_H_
#define GAUNTLET_HARNESS_ORACLE_PROCESS_PROCESS_ORDER_H_

#include "harness/oracle/history/check.h"
#include "harness/record/record.h"

namespace gauntlet {

// Checks that each process emits a start event as its first event and only
// then, that no event follows its exit event, and that its time stamps do not
// decrease. Also checks that the incarnations of a worker are numbered without
// gaps, except for attempts without this worker.
void CheckProcessOrder(const Record& record, Check& check);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_PROCESS_PROCESS_ORDER_H_
