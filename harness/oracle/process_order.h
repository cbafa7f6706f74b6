// Whether what the processes of a run said makes one history without gaps.
#ifndef GAUNTLET_HARNESS_ORACLE_PROCESS_ORDER_H_
#define GAUNTLET_HARNESS_ORACLE_PROCESS_ORDER_H_

#include "harness/oracle/check.h"
#include "harness/record/record.h"

namespace gauntlet {

// Each process says first, and once, that it begins, nothing after its end, and
// its time goes on. Those of a worker are numbered without a gap but for starts
// of the job that it had no part in.
void CheckProcessOrder(const Record& record, Check& check);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_PROCESS_ORDER_H_
