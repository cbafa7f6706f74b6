// Compares the losses of a run with those of its reference run.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_LOSS_DIFFERENCES_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_LOSS_DIFFERENCES_H_

#include "harness/record/record.h"
#include "harness/record/result/difference.h"

namespace gauntlet {

// Compares the losses of all steps, evaluations and epochs that the record's
// reference run has too. Workers that report the same wrong loss count once.
LossDifferences CompareLosses(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_LOSS_DIFFERENCES_H_
