// Job file of `gauntlet train`: strict YAML with a scenario's keys for job,
// cluster, preemption and checkpoint.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_JOB_FILE_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_JOB_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

// Command-line options that override keys of the file.
struct JobFileOverrides {
  std::optional<std::string> preset;  // overrides `preset`
  std::optional<int> workers;
  std::optional<int> replicas;
};

struct JobFile {
  TrainOptions train;
  ClusterSetup cluster;
  // From the file or an override; nullopt: neither gives it.
  std::optional<int> workers;
  std::optional<int> replicas;
  std::optional<uint64_t> epochs;
  std::string preset = "tiny";
  bool says_checkpoint = false;
};

// `defaults` apply where the text has no value. kInvalidArgument, one line:
// "job.yaml:3:9: unknown key 'layer' in 'job'; did you mean layers?".
Result<JobFile> ParseJobFile(std::string_view text, std::string_view file,
                             const JobFile& defaults,
                             const JobFileOverrides& overrides);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_JOB_FILE_H_
