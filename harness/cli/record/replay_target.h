// Resolves the target of `gauntlet replay`: a file, a folder or a run's name.
#ifndef GAUNTLET_HARNESS_CLI_RECORD_REPLAY_TARGET_H_
#define GAUNTLET_HARNESS_CLI_RECORD_REPLAY_TARGET_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/cli/flags/commands.h"
#include "harness/record/record.h"
#include "harness/run/suite.h"

namespace gauntlet {

struct ReplayTarget {
  SuiteItem item;
  std::optional<Record> recorded;  // nullopt: only the scenario is there
  std::string build;               // of the recording program; "": not known
};

// In the order of names. A file is a scenario (each of its cases) or a
// record.jsonl; a folder is a case's in a run. Any other text is RUN or
// RUN/CASE: `latest`, or enough of a run's name to tell it from the others;
// likewise of a case's. kNotFound lists what is near; kInvalidArgument: the
// files there make no sense. An exploration's run is its findings. Where a
// scenario does not load, `errors` are all its errors, in lines.
Result<std::vector<ReplayTarget>> FindReplayTargets(
    const ReplayCommand& command, std::string& errors);

// The file of a finding that is named by its id ("weak-save-17-3-0.2") or by
// the beginning of its file's name ("finding-002"): of the newest run that has
// one, or of RUN for "RUN/finding-002". "" where the text is no such name, or
// no run has it. kInvalidArgument: the names of several of that run begin so.
Result<std::string> FindFindingFile(const ReplayCommand& command);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RECORD_REPLAY_TARGET_H_
