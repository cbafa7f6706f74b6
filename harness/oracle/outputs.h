// Outputs: curves for people, and the exported model for other programs.
//
// A reader of the event files sees each point of a curve once, with the value
// that the reference has at that step, whatever was restarted: steps that were
// trained again are purged. A finished run has exported the state that it ended
// with, and no exported model is ever half written.
#ifndef GAUNTLET_HARNESS_ORACLE_OUTPUTS_H_
#define GAUNTLET_HARNESS_ORACLE_OUTPUTS_H_

#include "harness/oracle/check.h"
#include "harness/oracle/outline.h"

namespace gauntlet {

void CheckOutputs(const Outline& outline, Check& check);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_OUTPUTS_H_
