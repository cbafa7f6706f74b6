#include "harness/scenario/reader/job_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {

void FuzzJobFile(std::string_view input) {
  for (const JobFileOverrides& overrides :
       {JobFileOverrides{},
        JobFileOverrides{.preset = "tiny", .workers = 3, .replicas = 5}}) {
    const Result<JobFile> file = ParseJobFile(input, "fuzz.yaml", overrides);
    if (!file.ok()) {
      CHECK(file.status().code() == Code::kInvalidArgument,
            file.status().ToString());
      CheckErrorLine(file.status().message());
      continue;
    }
    CHECK(Validate(file->train.job).ok(), Validate(file->train.job).ToString());
    CHECK(!overrides.workers || file->workers == overrides.workers,
          "the file came first");
    const std::string options = TrainOptionsToJson(file->train);
    const auto again = TrainOptionsFromJson(options);
    CHECK(again.ok(), again.status().ToString());
    CheckSameText(options, TrainOptionsToJson(*again), "options");
  }
}

std::vector<std::string> JobFileSeeds() {
  return {"preset: mlp\n", R"(schema: gauntlet/v2
preset: tiny
seed: 5
job:
  layers: [{kind: flatten}, {kind: dense, units: 9}]
  data: {kind: npy, path: d, classes: 9, steps_per_epoch: 7}
  optimizer: {name: sgd, lr: 0.5, schedule: {kind: cosine_decay, steps: 9}}
  replicas: 4
  max_steps: 9
  steps_per_execution: 3
cluster: {workers: 2, min_workers: 1, heartbeat: {every: 1s, lost_after: 3s}}
preemption: {grace: 9s, poll_every: 2s}
checkpoint: {every: {seconds: 5}, keep: 2, on_success: delete}
)"};
}

}  // namespace gauntlet
