// Job file of `gauntlet train`: strict YAML with a scenario's keys for job,
// cluster, preemption and checkpoint.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_JOB_FILE_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_JOB_FILE_H_

#include <string>
#include <string_view>

#include "engine/app/train/job_file.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// Parses a job file. Values in `overrides` replace those of the text. For a
// value in neither of them, the default of `gauntlet train` without a job file
// applies. kInvalidArgument, one line: "job.yaml:3:9: unknown key 'layer' in
// 'job'; did you mean layers?".
Result<JobFile> ParseJobFile(std::string_view text, std::string_view file,
                             const JobFileOverrides& overrides);

// Reads and parses the file with this path.
Result<JobFile> ReadJobFile(Storage& storage, const std::string& path,
                            const JobFileOverrides& overrides);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_JOB_FILE_H_
