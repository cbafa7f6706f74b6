#include <algorithm>
#include <array>

#include "engine/check.h"
#include "engine/job/job.h"
#include "engine/job/layers.h"
#include "engine/job/preset_run.h"
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

// Has a dropout after every hidden layer, as TensorFlow's DNNClassifier has.
JobSpec DnnJob() {
  JobSpec job;
  job.model.layers = {Flatten(), Dense(256), Relu(),        Dropout(0.2f),
                      Dense(32), Relu(),     Dropout(0.2f), Dense(10)};
  job.batch = 50;
  return job;
}

// The job of TensorFlow's tutorial on multi-worker training with Keras. The
// tutorial's 3 epochs are too short to learn much.
JobSpec CnnShortJob() {
  JobSpec job;
  job.model.layers = {Conv2D(32, 3), Relu(), Flatten(),
                      Dense(128),    Relu(), Dense(10)};
  job.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.001f};
  job.batch = 64;
  return job;
}

JobSpec CnnJob() {
  JobSpec job = CnnShortJob();
  job.optimizer.learning_rate = 0.03f;
  job.optimizer.momentum = 0.9f;
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

struct Preset {
  PresetInfo info;
  PresetRun run;
  JobSpec (*job)();
};

constexpr std::array kPresets = {
    Preset{{"linear", "784-10, SGD 0.01 with momentum 0.9, batch 32"},
           {"linear", 10, 86, 1, "the least that a model should reach"},
           LinearJob},
    Preset{{"mlp", "784-512-10, dropout 0.2, Adam 0.001, batch 32"},
           {"mlp", 10, 96, 3, "a good model in seconds"},
           MlpJob},
    Preset{{"dnn", "784-256-32-10, dropout 0.2, Adam 0.001, batch 50"},
           {"dnn", 10, 94, 1, "TensorFlow's classifier of the documents"},
           DnnJob},
    Preset{{"cnn",
            "32 filters of 3x3, 128-10, SGD 0.03 with momentum 0.9, batch 64"},
           {"cnn", 10, 98, 14, "the best model here"},
           CnnJob},
    Preset{{"cnn-short", "32 filters of 3x3, 128-10, SGD 0.001, batch 64"},
           {"cnn-short", 3, 21, 4,
            "TensorFlow's tutorial, which ends before it has learned"},
           CnnShortJob},
    Preset{{"tiny", "49-32-10, dropout 0.2, Adam 0.01, batch 16"},
           {"tiny", 40, 78, 1, "for tests and scenarios"},
           TinyJob},
};

}  // namespace

std::vector<PresetInfo> AllPresets() {
  std::vector<PresetInfo> infos;
  for (const Preset& preset : kPresets) infos.push_back(preset.info);
  return infos;
}

const PresetRun& PresetRunOf(std::string_view preset) {
  const auto* found = std::ranges::find(
      kPresets, preset, [](const Preset& one) { return one.info.name; });
  CHECK(found != kPresets.end(), "no preset has that name");
  return found->run;
}

Result<JobSpec> PresetJob(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Preset& preset : kPresets) {
    if (preset.info.name == name) return preset.job();
    known.push_back(preset.info.name);
  }
  return InvalidArgument(fmt::format("job: expected one of {}, found '{}'",
                                     fmt::join(known, ", "), name));
}

}  // namespace gauntlet
