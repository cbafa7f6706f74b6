// Looks into the operations of a training step, for whoever wants to know where
// two runs part. A run without a probe pays a test for null at each operation.
#ifndef GAUNTLET_ENGINE_MODEL_STEP_PROBE_H_
#define GAUNTLET_ENGINE_MODEL_STEP_PROBE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor.h"
#include "engine/world/event_log.h"

namespace gauntlet {

// What an operation gave.
struct OperationOutput {
  std::string name;  // "forward of dense0", "gradient of dense0/kernel"
  int replica = -1;  // of the job; -1: of all replicas together
  std::vector<uint64_t> shape;
};

// Asked by one worker, in the order in which it computes.
class StepProbe {
 public:
  virtual ~StepProbe() = default;
  // A step, an evaluation or an epoch's end begins, out of this state; `step`
  // is how many updates it has behind it. False: nothing of it is wanted, and
  // neither Saw nor End is called.
  virtual bool Begin(uint64_t step, Phase phase,
                     const std::vector<TensorView>& state) = 0;
  // The values go on from here as the probe leaves them: a test can plant a
  // wrong operation.
  virtual void Saw(const OperationOutput& output, std::span<float> values) = 0;
  // It is over, and left this state.
  virtual void End(const std::vector<TensorView>& state) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_MODEL_STEP_PROBE_H_
