// Observes the operations of a training step, to find where two runs diverge. A
// run without a probe only tests for null at each operation.
#ifndef GAUNTLET_ENGINE_MODEL_STEP_PROBE_H_
#define GAUNTLET_ENGINE_MODEL_STEP_PROBE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor.h"
#include "engine/world/event_log.h"

namespace gauntlet {

// An operation whose output a probe receives.
struct OperationOutput {
  std::string name;  // "forward of dense0", "gradient of dense0/kernel"
  int replica = -1;  // number in the job; -1: all replicas together
  std::vector<uint64_t> shape;
};

// Called by one worker, in the order in which it computes.
class StepProbe {
 public:
  virtual ~StepProbe() = default;
  // Called when a step, an evaluation or the end of an epoch begins, with the
  // state after `step` updates. If Begin returns false, Saw and End are not
  // called until the next Begin.
  virtual bool Begin(uint64_t step, Phase phase,
                     const std::vector<TensorView>& state) = 0;
  // Called with the output of each operation. Training continues with the
  // values as the probe leaves them, so a test can plant a wrong operation.
  virtual void Saw(const OperationOutput& output, std::span<float> values) = 0;
  // Called when the step, the evaluation or the end of the epoch is done, with
  // the resulting state.
  virtual void End(const std::vector<TensorView>& state) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_STEP_PROBE_H_
