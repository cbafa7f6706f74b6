// Advice on a loss that does not fall, and on an accuracy that does not rise.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_TREND_REMEDY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_TREND_REMEDY_H_

#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// Returns the change after which the loss may fall from the end of the first
// epoch to that of the last. REQUIRES: the run was completed.
std::string LossRemedy(const Record& record);

// Returns the change after which more samples may be correct at the end of the
// last epoch than at that of the first. REQUIRES: the run was completed.
std::string AccuracyRemedy(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_TREND_REMEDY_H_
