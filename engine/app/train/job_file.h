// Settings of a job file, the argument of `gauntlet train --job`. The caller of
// ParseTrain reads the file.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_JOB_FILE_H_
#define GAUNTLET_ENGINE_APP_TRAIN_JOB_FILE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/status.h"
#include "engine/train/launcher/launcher.h"
#include "engine/train/options.h"

namespace gauntlet {

// Command-line options that override keys of the file.
struct JobFileOverrides {
  std::optional<std::string> preset;  // overrides `preset`
  std::optional<int> workers;
  std::optional<int> replicas;
};

struct JobFile {
  TrainOptions train;
  // The file sets the restart policy, the number and pause of restarts, the
  // smallest number of workers, and the time to start.
  LauncherOptions launcher;
  // From the file or an override; nullopt: neither gives it.
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
