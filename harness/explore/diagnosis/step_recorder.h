// Full trace of one part of a run: a step, an evaluation or an epoch's end. The
// trace has the state before the part, the output of each operation in it, and
// the state after it.
#ifndef GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_STEP_RECORDER_H_
#define GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_STEP_RECORDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/model/step_probe.h"
#include "engine/tensor.h"

namespace gauntlet {

struct TracedOutput {
  int replica = -1;  // -1: of all replicas together
  Tensor values;     // values.name: name of the operation
};

// Trace by one worker. `before` is empty if nothing was recorded.
struct StepTrace {
  int worker = 0;
  std::vector<Tensor> before;  // the state, in its order
  std::vector<TracedOutput> outputs;
  std::vector<Tensor> after;  // empty: the part did not end
};

// Records one part of a run: the first step, evaluation or epoch's end for
// which `wanted` is true.
class StepRecorder final : public StepProbe {
 public:
  using Wanted = std::function<bool(uint64_t step, Phase phase)>;

  // If there is an `inner` probe, it observes each operation first. The
  // recorder sees the changes that `inner` made.
  StepRecorder(int worker, Wanted wanted, StepProbe* inner = nullptr);

  bool Begin(uint64_t step, Phase phase,
             const std::vector<TensorView>& state) override;
  void Saw(const OperationOutput& output, std::span<float> values) override;
  void End(const std::vector<TensorView>& state) override;

  const StepTrace& trace() const { return trace_; }

 private:
  const Wanted wanted_;
  StepProbe* const inner_;
  bool inner_looks_ = false;
  bool recording_ = false;
  StepTrace trace_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_DIAGNOSIS_STEP_RECORDER_H_
