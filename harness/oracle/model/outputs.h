// Checks the outputs of a run: TensorBoard curves and the exported model.
//
// A reader of the event files sees each point of a curve once, with the
// reference's loss at that step: points of recomputed steps are purged. A
// finished run has exported its final state. No exported model is ever
// incomplete.
#ifndef GAUNTLET_HARNESS_ORACLE_MODEL_OUTPUTS_H_
#define GAUNTLET_HARNESS_ORACLE_MODEL_OUTPUTS_H_

#include "harness/oracle/history/check.h"
#include "harness/oracle/history/outline.h"

namespace gauntlet {

void CheckOutputs(const Outline& outline, Check& check);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_MODEL_OUTPUTS_H_
