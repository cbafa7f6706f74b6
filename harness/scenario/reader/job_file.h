// A file that says what `gauntlet train` trains, with the keys of a scenario's
// job, cluster, preemption and checkpoint: YAML, read as strictly.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_JOB_FILE_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_JOB_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Options of the command line that replace keys of the file.
struct JobFileOverrides {
  std::optional<std::string> preset;  // of `preset`
  std::optional<int> workers;
  std::optional<int> replicas;
};

struct JobFile {
  TrainOptions train;
  ClusterSetup cluster;
  // Given by the file or by an override; nullopt: by neither.
  std::optional<int> workers;
  std::optional<int> replicas;
  std::optional<uint64_t> epochs;
  std::string preset = "tiny";
  bool says_checkpoint = false;
};

// `defaults` stand where the text says nothing. kInvalidArgument, one line:
// "job.yaml:3:9: unknown key 'layer' in 'job'; did you mean layers?".
Result<JobFile> ParseJobFile(std::string_view text, std::string_view file,
                             const JobFile& defaults,
                             const JobFileOverrides& overrides);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_JOB_FILE_H_
