#include "engine/model/model.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/check.h"
#include "engine/math/memory.h"
#include "engine/model/activation.h"
#include "engine/model/center.h"
#include "engine/model/conv2d.h"
#include "engine/model/dense.h"
#include "engine/model/dropout.h"
#include "engine/model/layer.h"
#include "engine/model/loss.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Initial values are keyed by a 32-bit index of the element
// (numerics::StreamWord).
constexpr size_t kMaxParameters = (size_t{1} << 32) - 1;
// Evaluation takes this many rows at a time. The number changes no bits: rows
// are independent until their losses are summed, and that sum is taken over all
// rows at once.
constexpr size_t kEvaluationRows = 256;

// A layer, the place of its parameters, and its output in the last pass.
struct Stage {
  std::string name;  // "dense0", "relu2": prefix of its parameters' names
  std::unique_ptr<Layer> layer;
  size_t offset = 0;
  size_t parameter_count = 0;
  size_t state_offset = 0;
  size_t state_size = 0;
  MemoryArray<float> output;  // capacity x outputs
};

// Layers with their parameters in one flat array, and the names of the
// parameters.
struct Stages {
  std::vector<Stage> stages;
  std::vector<ParameterInfo> parameters;
  size_t parameter_count = 0;
  std::vector<ParameterInfo> replica_state;
  size_t state_size = 0;
};

void Append(std::string name, std::unique_ptr<Layer> layer, Memory& memory,
            Stages& all) {
  Stage stage{.name = std::move(name),
              .layer = std::move(layer),
              .offset = all.parameter_count,
              .output = MemoryArray<float>(memory)};
  for (ParameterInfo& info : stage.layer->parameters()) {
    info.offset += stage.offset;
    stage.parameter_count += info.size;
    all.parameters.push_back(std::move(info));
  }
  all.parameter_count += stage.parameter_count;
  stage.state_offset = all.state_size;
  for (ParameterInfo& info : stage.layer->replica_state()) {
    info.offset += stage.state_offset;
    stage.state_size += info.size;
    all.replica_state.push_back(std::move(info));
  }
  all.state_size += stage.state_size;
  all.stages.push_back(std::move(stage));
}

// Turns the layers of a spec into stages, one after the other. `shape_` is the
// shape of the rows between the last stage and the next one.
class StagesBuilder {
 public:
  StagesBuilder(const SampleShape& shape, const Kernels& kernels)
      : shape_(shape), kernels_(kernels) {}

  Status Add(const LayerSpec& layer, uint32_t index);
  Stages Take() { return std::move(all_); }

 private:
  Status AddDense(const LayerSpec& layer, uint32_t index);
  Status AddConv2D(const LayerSpec& layer, uint32_t index);
  Status AddActivation(numerics::Activation activation, std::string name);

  SampleShape shape_;
  const Kernels& kernels_;
  Stages all_;
  int dense_layers_ = 0;
  int conv_layers_ = 0;
  int center_layers_ = 0;
};

Status StagesBuilder::AddDense(const LayerSpec& layer, uint32_t index) {
  const size_t inputs = shape_.floats();
  const auto units = static_cast<uint32_t>(std::max(layer.units, 0));
  if (units == 0 ||
      (inputs + 1) * units > kMaxParameters - all_.parameter_count) {
    return InvalidArgument(fmt::format(
        "model.layers[{}]: expected at least one unit and at most {} "
        "parameters in all, found {} units on {} inputs",
        index, kMaxParameters, layer.units, inputs));
  }
  std::string name = "dense" + std::to_string(dense_layers_++);
  Append(
      name,
      std::make_unique<Dense>(DenseSpec{.name = name,
                                        .layer = index,
                                        .inputs = static_cast<uint32_t>(inputs),
                                        .units = units},
                              kernels_),
      kernels_.memory(), all_);
  shape_ = {.height = 1, .width = 1, .channels = units};
  return OkStatus();
}

Status StagesBuilder::AddConv2D(const LayerSpec& layer, uint32_t index) {
  const auto size = static_cast<uint32_t>(std::max(layer.kernel, 0));
  const auto filters = static_cast<uint32_t>(std::max(layer.filters, 0));
  if (size == 0 || size > shape_.height || size > shape_.width) {
    return InvalidArgument(fmt::format(
        "model.layers[{}]: expected a kernel of 1 to {} pixels a side on "
        "inputs of {} x {}, found {}",
        index, std::min(shape_.height, shape_.width), shape_.height,
        shape_.width, layer.kernel));
  }
  const size_t taps = size_t{size} * size * shape_.channels;
  const size_t places = (shape_.height - size + 1) * (shape_.width - size + 1);
  if (filters == 0 || filters > kMaxParameters / places ||
      (taps + 1) * filters > kMaxParameters - all_.parameter_count) {
    return InvalidArgument(fmt::format(
        "model.layers[{}]: expected at least one filter and at most {} "
        "parameters in all and outputs a sample, found {} filters of {} "
        "weights at {} places",
        index, kMaxParameters, layer.filters, taps, places));
  }
  std::string name = "conv" + std::to_string(conv_layers_++);
  Append(name,
         std::make_unique<Conv2D>(
             Conv2DSpec{.name = name,
                        .layer = index,
                        .height = static_cast<uint32_t>(shape_.height),
                        .width = static_cast<uint32_t>(shape_.width),
                        .channels = static_cast<uint32_t>(shape_.channels),
                        .size = size,
                        .filters = filters},
             kernels_),
         kernels_.memory(), all_);
  shape_ = {.height = shape_.height - size + 1,
            .width = shape_.width - size + 1,
            .channels = filters};
  return OkStatus();
}

Status StagesBuilder::AddActivation(numerics::Activation activation,
                                    std::string name) {
  Append(
      std::move(name),
      std::make_unique<ActivationLayer>(activation, shape_.floats(), kernels_),
      kernels_.memory(), all_);
  return OkStatus();
}

Status StagesBuilder::Add(const LayerSpec& layer, uint32_t index) {
  switch (layer.kind) {
    case LayerKind::kFlatten:
      // Rows are stored flat already, in NHWC order.
      shape_ = {.height = 1, .width = 1, .channels = shape_.floats()};
      break;
    case LayerKind::kDense:
      return AddDense(layer, index);
    case LayerKind::kConv2D:
      return AddConv2D(layer, index);
    case LayerKind::kCenter: {
      std::string name = "center" + std::to_string(center_layers_++);
      Append(name,
             std::make_unique<Center>(
                 CenterSpec{.name = name,
                            .places = shape_.height * shape_.width,
                            .channels = shape_.channels,
                            .momentum = layer.momentum},
                 kernels_),
             kernels_.memory(), all_);
      break;
    }
    case LayerKind::kRelu:
      return AddActivation(numerics::Activation::kRelu,
                           "relu" + std::to_string(index));
    case LayerKind::kGelu:
      return AddActivation(numerics::Activation::kGelu,
                           "gelu" + std::to_string(index));
    case LayerKind::kDropout:
      Append("dropout" + std::to_string(index),
             std::make_unique<Dropout>(DropoutSpec{.layer = index,
                                                   .width = shape_.floats(),
                                                   .rate = layer.rate},
                                       kernels_),
             kernels_.memory(), all_);
      break;
  }
  return OkStatus();
}

// A batch's arrays in the kernels' memory, for kernels that cannot read the
// host's.
struct BatchCopy {
  explicit BatchCopy(Memory& memory)
      : features(memory), labels(memory), state(memory), next_state(memory) {}
  MemoryArray<float> features;
  MemoryArray<uint8_t> labels;
  MemoryArray<float> state;
  MemoryArray<float> next_state;
};

// Returns the batch with features and labels: gathers them if it has `samples`.
ReplicaBatch Gathered(ReplicaBatch batch) {
  if (batch.samples == nullptr) return batch;
  CHECK(batch.features.empty() && batch.labels.empty(),
        "a batch has features and labels, or samples, not both");
  batch.features = batch.samples->features();
  batch.labels = batch.samples->labels();
  return batch;
}

// Passes values in `memory` to the probe, and stores the probe's changes there.
void Show(StepProbe& probe, const OperationOutput& output, Memory& memory,
          std::span<float> values) {
  if (memory.kind() == MemoryKind::kHost) {
    probe.Saw(output, values);
    return;
  }
  std::vector<float> here(values.size());
  memory.Download(here.data(), values.data(), values.size_bytes());
  probe.Saw(output, here);
  memory.Upload(values.data(), here.data(), values.size_bytes());
}

class FeedForward final : public Model {
 public:
  FeedForward(Stages stages, LossKind loss, size_t features,
              const Kernels& kernels)
      : stages_(std::move(stages)),
        loss_(loss),
        features_(features),
        kernels_(kernels),
        memory_(kernels.memory()),
        deltas_{MemoryArray<float>(memory_), MemoryArray<float>(memory_)},
        losses_(memory_),
        copied_batch_(memory_) {
    size_t widest = 0;
    for (const Stage& stage : stages_.stages) {
      widest = std::max(widest, stage.layer->outputs());
    }
    widest_ = widest;
    while (stages_.stages[first_trained_].parameter_count == 0) {
      ++first_trained_;
    }
  }

  std::span<const ParameterInfo> parameters() const override {
    return stages_.parameters;
  }
  size_t parameter_count() const override { return stages_.parameter_count; }
  size_t first_layer_size() const override {
    return stages_.stages[first_trained_].parameter_count;
  }
  std::span<const ParameterInfo> replica_state() const override {
    return stages_.replica_state;
  }

  void Initialize(uint64_t rng_key,
                  std::span<float> parameters) const override {
    CheckParameters(parameters.size());
    for (const Stage& stage : stages_.stages) {
      stage.layer->Initialize(
          rng_key, parameters.subspan(stage.offset, stage.parameter_count));
    }
  }

  ReplicaResult Gradients(std::span<const float> parameters,
                          const ReplicaBatch& batch,
                          std::span<float> gradients) override;
  ReplicaResult Evaluate(std::span<const float> parameters,
                         const ReplicaBatch& batch) override;

 private:
  void CheckParameters(size_t count) const {
    CHECK(count == parameter_count(),
          fmt::format("expected {} parameters, found {}", parameter_count(),
                      count));
  }
  void CheckBatch(const ReplicaBatch& batch) const;
  // Allocates memory for that many rows; never shrinks.
  void Reserve(size_t rows);
  // Returns the last layer's outputs, rows x classes.
  std::span<const float> Forward(const PassContext& pass,
                                 std::span<const float> parameters,
                                 std::span<const float> features);
  // Writes losses times scale to `scaled_losses`, loss gradients to deltas_[0].
  void Score(std::span<const float> outputs, std::span<const uint8_t> labels,
             float scale, std::span<float> scaled_losses);
  // Passes values of the pass's rows to the probe, if there is one.
  void ShowRows(const PassContext& context, std::string_view what,
                std::string_view of, std::span<float> values) const;
  std::span<const uint8_t> CopyLabelsIn(std::span<const uint8_t> labels);
  size_t classes() const { return stages_.stages.back().layer->outputs(); }
  // Passes a stage's gradients to the probe, if there is one.
  void ShowGradients(const PassContext& context, const Stage& stage,
                     std::span<float> gradients) const;
  // The arrays that a backward pass reads besides deltas_[0], and its result.
  struct BackwardArrays {
    std::span<const float> parameters;
    std::span<const float> features;
    std::span<float> gradients;
  };
  // Returns the arguments of a stage's backward pass. `from` is the index of
  // the delta that holds dy.
  BackwardArgs ArgsOf(size_t stage, size_t rows, size_t from,
                      const BackwardArrays& arrays);
  // Computes the gradients of all parameters from deltas_[0], which it
  // overwrites. `final_from` is that of ReplicaBatch.
  void Backward(const PassContext& context, const BackwardArrays& arrays,
                const std::function<void(size_t)>& final_from);

  Stages stages_;
  LossKind loss_;
  size_t features_;
  const Kernels& kernels_;
  size_t widest_ = 0;
  size_t first_trained_ = 0;  // the first stage with parameters
  size_t capacity_ = 0;       // number of rows
  Memory& memory_;
  std::array<MemoryArray<float>, 2> deltas_;  // capacity x widest: dy and dx
  MemoryArray<float> losses_;  // scaled losses of all rows of a call
  BatchCopy copied_batch_;
};

void FeedForward::CheckBatch(const ReplicaBatch& batch) const {
  CHECK(batch.features.size() == batch.labels.size() * features_,
        fmt::format("expected {} samples of {} features, found {} floats",
                    batch.labels.size(), features_, batch.features.size()));
  CHECK(batch.state.size() == stages_.state_size,
        fmt::format("expected {} floats of a replica's state, found {}",
                    stages_.state_size, batch.state.size()));
}

void FeedForward::Reserve(size_t rows) {
  if (rows <= capacity_) return;
  capacity_ = rows;
  for (Stage& stage : stages_.stages) {
    stage.output.Resize(rows * stage.layer->outputs());
  }
  for (MemoryArray<float>& delta : deltas_) delta.Resize(rows * widest_);
}

std::span<const float> FeedForward::Forward(const PassContext& pass,
                                            std::span<const float> parameters,
                                            std::span<const float> features) {
  std::span<const float> x = features;
  PassContext context = pass;
  for (Stage& stage : stages_.stages) {
    if (!stage.layer->Acts(context.pass)) continue;
    const std::span<float> y =
        stage.output.first(context.rows * stage.layer->outputs());
    context.state = pass.state.subspan(stage.state_offset, stage.state_size);
    if (!pass.next_state.empty()) {
      context.next_state =
          pass.next_state.subspan(stage.state_offset, stage.state_size);
    }
    stage.layer->Forward(
        context, parameters.subspan(stage.offset, stage.parameter_count), x, y);
    ShowRows(context, "forward of ", stage.name, y);
    x = y;
  }
  return x;
}

void FeedForward::Score(std::span<const float> outputs,
                        std::span<const uint8_t> labels, float scale,
                        std::span<float> scaled_losses) {
  LossWithGradients(loss_, kernels_,
                    {.outputs = outputs,
                     .labels = labels,
                     .classes = classes(),
                     .scale = scale,
                     .losses = scaled_losses,
                     .gradients = deltas_[0].first(outputs.size())});
  kernels_.Scale(scale, scaled_losses);
}

// Checks the labels before they go to a device, whose kernels do not check
// them.
std::span<const uint8_t> FeedForward::CopyLabelsIn(
    std::span<const uint8_t> labels) {
  if (memory_.kind() == MemoryKind::kDevice) {
    for (const uint8_t label : labels) {
      CHECK(label < classes(), "a label is below the number of classes");
    }
  }
  return CopyIn(memory_, labels, copied_batch_.labels);
}

void FeedForward::ShowGradients(const PassContext& context, const Stage& stage,
                                std::span<float> gradients) const {
  for (const ParameterInfo& info : stages_.parameters) {
    if (info.offset < stage.offset ||
        info.offset >= stage.offset + stage.parameter_count) {
      continue;
    }
    Show(*context.probe,
         {.name = "gradient of " + info.name,
          .replica = context.replica,
          .shape = info.shape},
         memory_, gradients.subspan(info.offset, info.size));
  }
}

void FeedForward::ShowRows(const PassContext& context, std::string_view what,
                           std::string_view of, std::span<float> values) const {
  if (context.probe == nullptr || values.empty()) return;
  Show(*context.probe,
       {.name = fmt::format("{}{}", what, of),
        .replica = context.replica,
        .shape = {context.rows, values.size() / context.rows}},
       memory_, values);
}

BackwardArgs FeedForward::ArgsOf(size_t index, size_t rows, size_t from,
                                 const BackwardArrays& arrays) {
  const Stage& stage = stages_.stages[index];
  BackwardArgs args = {.parameters = arrays.parameters.subspan(
                           stage.offset, stage.parameter_count),
                       .x = arrays.features,
                       .y = stage.output.first(rows * stage.layer->outputs()),
                       .dy = deltas_[from].first(rows * stage.layer->outputs()),
                       .gradients = arrays.gradients.subspan(
                           stage.offset, stage.parameter_count)};
  if (index > 0) {
    const Stage& below = stages_.stages[index - 1];
    args.x = below.output.first(rows * below.layer->outputs());
  }
  if (index > first_trained_) args.dx = deltas_[1 - from].first(args.x.size());
  return args;
}

void FeedForward::Backward(const PassContext& context,
                           const BackwardArrays& arrays,
                           const std::function<void(size_t)>& final_from) {
  size_t from = 0;  // index of the delta that holds dy
  for (size_t i = stages_.stages.size(); i-- > first_trained_;) {
    const Stage& stage = stages_.stages[i];
    const BackwardArgs args = ArgsOf(i, context.rows, from, arrays);
    stage.layer->ParameterGradients(context, args);
    if (context.probe != nullptr) {
      ShowGradients(context, stage, arrays.gradients);
    }
    if (i == first_trained_) return;
    if (final_from && stage.parameter_count > 0) final_from(stage.offset);
    stage.layer->InputGradient(context, args);
    ShowRows(context, "backward of ", stage.name, args.dx);
    from = 1 - from;
  }
}

ReplicaResult FeedForward::Gradients(std::span<const float> parameters,
                                     const ReplicaBatch& given,
                                     std::span<float> gradients) {
  const ReplicaBatch batch = Gathered(given);
  CheckParameters(parameters.size());
  CheckParameters(gradients.size());
  CheckBatch(batch);
  CHECK(batch.next_state.size() == stages_.state_size,
        "room for the state after the step");
  CHECK(!batch.final_from || memory_.kind() == MemoryKind::kHost,
        "a device computes the gradients later");
  const size_t rows = batch.labels.size();
  if (rows == 0) {
    memory_.Clear(gradients.data(), gradients.size_bytes());
    std::ranges::copy(batch.state, batch.next_state.begin());
    return {};
  }
  Reserve(rows);
  losses_.Resize(rows);
  const std::span<float> next_state =
      OutputIn(memory_, batch.next_state, copied_batch_.next_state);
  const PassContext context{
      .pass = Pass::kTraining,
      .rng_key = batch.rng_key,
      .step = batch.step,
      .first_global_row = batch.first_global_row,
      .rows = rows,
      .probe = batch.probe,
      .replica = batch.replica,
      .state = CopyIn(memory_, batch.state, copied_batch_.state),
      .next_state = next_state};
  const std::span<const float> features =
      CopyIn(memory_, batch.features, copied_batch_.features);
  const std::span<const uint8_t> labels = CopyLabelsIn(batch.labels);
  // From here to the gradients nothing is copied between host and device: on a
  // device, this is one sequence of kernels.
  const auto outputs = Forward(context, parameters, features);
  Score(outputs, labels, batch.loss_scale, losses_.span());
  ShowRows(context, "loss", "", losses_.span());
  ShowRows(context, "gradient of the loss", "",
           deltas_[0].first(outputs.size()));
  Backward(
      context,
      {.parameters = parameters, .features = features, .gradients = gradients},
      batch.final_from);
  DownloadInto(memory_, next_state, batch.next_state);
  return {.loss = kernels_.Sum(losses_.span()),
          .correct = kernels_.CountRight(outputs, labels, classes())};
}

ReplicaResult FeedForward::Evaluate(std::span<const float> parameters,
                                    const ReplicaBatch& given) {
  const ReplicaBatch batch = Gathered(given);
  CheckParameters(parameters.size());
  CheckBatch(batch);
  const size_t rows = batch.labels.size();
  Reserve(std::min(rows, kEvaluationRows));
  losses_.Resize(rows);
  const std::span<const float> state =
      CopyIn(memory_, batch.state, copied_batch_.state);
  ReplicaResult result;
  for (size_t first = 0; first < rows; first += kEvaluationRows) {
    const size_t count = std::min(rows - first, kEvaluationRows);
    const ReplicaBatch block{.features = batch.features.subspan(
                                 first * features_, count * features_),
                             .labels = batch.labels.subspan(first, count),
                             .loss_scale = batch.loss_scale};
    const std::span<const uint8_t> labels = CopyLabelsIn(block.labels);
    const auto outputs = Forward(
        {.pass = Pass::kEvaluation, .rows = count, .state = state}, parameters,
        CopyIn(memory_, block.features, copied_batch_.features));
    Score(outputs, labels, block.loss_scale,
          losses_.span().subspan(first, count));
    result.correct += kernels_.CountRight(outputs, labels, classes());
  }
  result.loss = kernels_.Sum(losses_.span());
  return result;
}

}  // namespace

std::vector<TensorView> ViewsOf(std::span<const ParameterInfo> infos,
                                std::span<const float> values) {
  std::vector<TensorView> views;
  for (const ParameterInfo& info : infos) {
    views.push_back(
        {.name = info.name,
         .dtype = DType::kF32,
         .shape = info.shape,
         .bytes = std::as_bytes(values.subspan(info.offset, info.size))});
  }
  return views;
}

std::vector<ParameterInfo> TrainedValues(const Model& model) {
  std::vector<ParameterInfo> values(model.parameters().begin(),
                                    model.parameters().end());
  for (ParameterInfo info : model.replica_state()) {
    info.offset += model.parameter_count();
    values.push_back(std::move(info));
  }
  return values;
}

size_t ValueCount(const Model& model) {
  return model.parameter_count() + model.replica_state_size();
}

std::vector<float> InitialValues(const Model& model, uint64_t rng_key) {
  std::vector<float> values(ValueCount(model));
  model.Initialize(rng_key, std::span(values).first(model.parameter_count()));
  return values;
}

size_t Model::replica_state_size() const {
  const std::span<const ParameterInfo> infos = replica_state();
  return infos.empty() ? 0 : infos.back().offset + infos.back().size;
}

Result<std::unique_ptr<Model>> Model::Build(const ModelSpec& spec,
                                            const SampleShape& sample,
                                            uint32_t classes,
                                            const Kernels& kernels) {
  const size_t features = sample.floats();
  if (features == 0 || features > kMaxParameters) {
    return InvalidArgument(fmt::format(
        "data: expected 1 to {} features a sample, found {} x {} x {}",
        kMaxParameters, sample.height, sample.width, sample.channels));
  }
  StagesBuilder builder(sample, kernels);
  for (uint32_t i = 0; i < spec.layers.size(); ++i) {
    RETURN_IF_ERROR(builder.Add(spec.layers[i], i));
  }
  Stages stages = builder.Take();
  if (stages.parameter_count == 0) {
    return InvalidArgument("model.layers: expected a dense layer, found none");
  }
  const size_t outputs = stages.stages.back().layer->outputs();
  if (outputs != classes) {
    return InvalidArgument(fmt::format(
        "model.layers: expected {} outputs, one for each class of the data, "
        "found {}",
        classes, outputs));
  }
  return std::unique_ptr<Model>(std::make_unique<FeedForward>(
      std::move(stages), spec.loss, features, kernels));
}

}  // namespace gauntlet
