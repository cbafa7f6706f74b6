// The options of `gauntlet train` that define the job.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_JOB_FLAGS_H_
#define GAUNTLET_ENGINE_APP_TRAIN_JOB_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "engine/cli/flags/flags.h"
#include "engine/job/job.h"
#include "engine/status.h"

namespace gauntlet {

// Largest step number that an option accepts.
inline constexpr uint64_t kMaxSteps = 1'000'000'000'000;

// Settings of the job by flags. A field that is nullopt is taken from the job
// file or the preset.
struct JobFlags {
  std::optional<JobSpec> file;  // content of --job, with its own preset
  std::optional<std::string> preset;
  std::optional<std::string> data;
  std::string validation;  // empty: in the same folder as the training data
  std::optional<int> replicas;
  std::optional<int> batch;
  std::optional<int> accumulate;
  std::optional<uint64_t> seed;
  std::optional<float> learning_rate;
  std::optional<ScheduleSpec> schedule;
  std::optional<uint64_t> warmup;
  std::optional<ClipSpec> clip;
  std::optional<Shuffle> shuffle;
  std::optional<ShardPolicy> shard;
  std::optional<Remainder> remainder;
  std::optional<int> steps_per_epoch;
  std::optional<int> validation_steps;
};

// The first function adds the options that most runs need, the second those of
// the optimizer, the third those on reading the data.
void AddJobFlags(Flags& flags, JobFlags& values);
void AddOptimizerFlags(Flags& flags, JobFlags& values);
void AddDataFlags(Flags& flags, JobFlags& values);

// Returns "; expected one of idx:, cifar10:, npy: before the folder, found
// 'mnist:'" for a --data whose folder does not exist; "" if the path does not
// begin with an unknown prefix.
std::string DataPrefixHint(const DataSpec& data);

// Returns a job that Validate accepts. The number of replicas defaults to
// `workers`. kInvalidArgument: Validate refuses the job, or there are more
// workers than replicas.
Result<JobSpec> JobOf(const JobFlags& values, int workers);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_JOB_FLAGS_H_
