#include "engine/job/job.h"
#include "engine/job/layers.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

using layers::Conv2D;
using layers::Dense;
using layers::Dropout;
using layers::Flatten;
using layers::Relu;

JobSpec LinearJob() {
  JobSpec job;
  job.model.layers = {Flatten(), Dense(10)};
  job.optimizer = {
      .kind = OptimizerKind::kSgd, .learning_rate = 0.01f, .momentum = 0.9f};
  return job;
}

JobSpec MlpJob() {
  JobSpec job;
  job.model.layers = {Flatten(), Dense(512), Relu(), Dropout(0.2f), Dense(10)};
  return job;
}

// TensorFlow's DNNClassifier applies its dropout after every hidden layer.
JobSpec DnnJob() {
  JobSpec job;
  job.model.layers = {Flatten(), Dense(256), Relu(),        Dropout(0.2f),
                      Dense(32), Relu(),     Dropout(0.2f), Dense(10)};
  job.batch = 50;
  return job;
}

// The model of TensorFlow's tutorial on multi-worker training with Keras.
JobSpec CnnJob() {
  JobSpec job;
  job.model.layers = {Conv2D(32, 3), Relu(), Flatten(),
                      Dense(128),    Relu(), Dense(10)};
  job.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.001f};
  job.batch = 64;
  return job;
}

JobSpec TinyJob() {
  JobSpec job;
  job.model.layers = {Flatten(), Dense(32), Relu(), Dropout(0.2f), Dense(10)};
  job.data = {.samples = 384, .validation_samples = 128, .side = 7};
  job.optimizer.learning_rate = 0.01f;
  job.batch = 16;
  return job;
}

}  // namespace

std::vector<PresetInfo> AllPresets() {
  return {
      {"linear", "784-10, SGD 0.01 with momentum 0.9, batch 32"},
      {"mlp", "784-512-10, dropout 0.2, Adam 0.001, batch 32"},
      {"dnn", "784-256-32-10, dropout 0.2, Adam 0.001, batch 50"},
      {"cnn", "32 filters of 3x3, 128-10, SGD 0.001, batch 64"},
      {"tiny",
       "49-32-10 on 384 small digits, dropout 0.2, Adam 0.01, batch 16"},
  };
}

Result<JobSpec> PresetJob(std::string_view name) {
  if (name == "linear") return LinearJob();
  if (name == "mlp") return MlpJob();
  if (name == "dnn") return DnnJob();
  if (name == "cnn") return CnnJob();
  if (name == "tiny") return TinyJob();
  std::vector<std::string_view> known;
  for (const PresetInfo& preset : AllPresets()) known.push_back(preset.name);
  return InvalidArgument(fmt::format("job: expected one of {}, found '{}'",
                                     fmt::join(known, ", "), name));
}

}  // namespace gauntlet
