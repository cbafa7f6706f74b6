#include "engine/train/options.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {

void FuzzTrainOptions(std::string_view input) {
  const Result<TrainOptions> options = TrainOptionsFromJson(input);
  if (!options.ok()) {
    CHECK(options.status().code() == Code::kInvalidArgument,
          options.status().ToString());
    return CheckErrorLine(options.status().message());
  }
  const std::string written = TrainOptionsToJson(*options);
  const Result<TrainOptions> again = TrainOptionsFromJson(written);
  CHECK(again.ok(), again.status().ToString());
  CheckSameText(written, TrainOptionsToJson(*again), "options");
}

std::vector<std::string> TrainOptionsSeeds() {
  TrainOptions options;
  options.job = PresetJob("tiny").value();
  std::vector<std::string> seeds = {TrainOptionsToJson(options)};
  options.job = PresetJob("dnn").value();
  options.horizon = {.epochs = 3, .max_steps = 9, .stop_at_step = 7};
  options.checkpoint = {.directory = "/tmp/store",
                        .trigger = {.unit = SaveUnit::kSteps, .every = 5},
                        .keep = 2,
                        .at_success = AtSuccess::kDeleteCheckpoints,
                        .allow_cold_start = true};
  options.summary = {.directory = "/tmp/curves", .every = 10};
  options.start = {.weights = "/tmp/weights",
                   .partial = PartialWeights::kAllow};
  options.export_directory = "/tmp/model";
  options.digest_every = 1;
  options.log_samples = true;
  seeds.push_back(TrainOptionsToJson(options));
  return seeds;
}

}  // namespace gauntlet
