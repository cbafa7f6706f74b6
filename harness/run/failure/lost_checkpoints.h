// Acknowledged checkpoints that a run lost, as the cause of a failure.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_LOST_CHECKPOINTS_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_LOST_CHECKPOINTS_H_

#include <string>

#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

struct LossExplanation {
  // "the power cut at step 51 damaged step-000000040-g1, …"; "" if no
  // checkpoint was lost.
  std::string cause;
  // Explains how the other violations of `store` follow from the loss; "" if
  // they do not follow from it, or if there is nothing to add.
  std::string why_store;
  // Explains how the violations of `clean-refusal` follow from the loss; "" if
  // there are none, or if they do not follow from it.
  std::string why_refusal;
};

// Explains the loss of acknowledged checkpoints that the run rejected, left in
// an invalid state or no longer has, although no fault damaged them.
LossExplanation ExplainLoss(const Record& record, const Verdict& verdict);

// Returns "no checkpoint can be loaded: model-00002-of-00003.safetensors of
// step-000000004-g1 was damaged by fault rot; …" if a worker refused to start
// for that reason; else "". Names the checkpoints that were deleted before, and
// the power loss if the disk had acknowledged fsyncs that it did not perform.
std::string ExplainRefusal(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_LOST_CHECKPOINTS_H_
