#include "harness/explore/diagnosis/step_recorder.h"

#include <utility>

namespace gauntlet {
namespace {

std::vector<Tensor> CopyOf(const std::vector<TensorView>& state) {
  std::vector<Tensor> tensors;
  for (const TensorView& view : state) {
    tensors.push_back({.name = view.name,
                       .dtype = view.dtype,
                       .shape = view.shape,
                       .bytes = {view.bytes.begin(), view.bytes.end()}});
  }
  return tensors;
}

}  // namespace

StepRecorder::StepRecorder(int worker, Wanted wanted, StepProbe* inner)
    : wanted_(std::move(wanted)), inner_(inner) {
  trace_.worker = worker;
}

bool StepRecorder::Begin(uint64_t step, Phase phase,
                         const std::vector<TensorView>& state) {
  inner_looks_ = inner_ != nullptr && inner_->Begin(step, phase, state);
  recording_ = trace_.before.empty() && wanted_(step, phase);
  if (recording_) trace_.before = CopyOf(state);
  return recording_ || inner_looks_;
}

void StepRecorder::Saw(const OperationOutput& output, std::span<float> values) {
  if (inner_looks_) inner_->Saw(output, values);
  if (!recording_) return;
  const auto bytes = std::as_bytes(values);
  trace_.outputs.push_back({.replica = output.replica,
                            .values = {.name = output.name,
                                       .dtype = DType::kF32,
                                       .shape = output.shape,
                                       .bytes = {bytes.begin(), bytes.end()}}});
}

void StepRecorder::End(const std::vector<TensorView>& state) {
  if (inner_looks_) inner_->End(state);
  if (recording_) trace_.after = CopyOf(state);
  recording_ = false;
}

}  // namespace gauntlet
