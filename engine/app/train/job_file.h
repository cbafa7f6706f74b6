// Settings that `gauntlet train --job FILE` takes from the file. The harness
// parses such files; ParseTrain receives the parser as a JobFileReader.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_JOB_FILE_H_
#define GAUNTLET_ENGINE_APP_TRAIN_JOB_FILE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/status.h"
#include "engine/train/launcher_options.h"
#include "engine/train/options.h"

namespace gauntlet {

// Command-line options that override keys of the file.
struct JobFileOverrides {
  std::optional<std::string> preset;  // overrides `preset`
  std::optional<int> workers;
  std::optional<int> replicas;
};

// Default of --keep-every-hours and of the same setting in a job file. The
// engine's default is 0 (CheckpointOptions).
inline constexpr uint64_t kTrainKeepEveryHours = 10'000;

struct JobFile {
  TrainOptions train;
  LauncherOptions launcher;
  // These three are nullopt if neither the file nor an override sets them.
  std::optional<int> workers;
  std::optional<int> replicas;
  std::optional<uint64_t> epochs;
  std::string preset = "tiny";
  bool has_checkpoint = false;  // the file has a `checkpoint` map
};

// Reads the file with this path. kInvalidArgument, one line: "job.yaml:3:9:
// unknown key 'layer' in 'job'; did you mean layers?".
using JobFileReader = std::function<Result<JobFile>(
    const std::string& path, const JobFileOverrides& overrides)>;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_JOB_FILE_H_
