// The parsers of the commands of the training program, each in a file of its
// own.
#ifndef GAUNTLET_ENGINE_APP_PARSERS_H_
#define GAUNTLET_ENGINE_APP_PARSERS_H_

#include "engine/app/commands.h"
#include "engine/app/train/job_file.h"
#include "engine/cli/flags/flags.h"
#include "engine/status.h"

namespace gauntlet {

// Each function returns its command, or a PrintTextCommand for --help.
Result<AppCommand> ParseTrain(const VerbArguments& verb,
                              const JobFileReader& read_job_file);
Result<AppCommand> ParseLaunch(const VerbArguments& verb);
Result<AppCommand> ParseWorker(const VerbArguments& verb);
Result<AppCommand> ParseCheckpoint(const VerbArguments& verb);
Result<AppCommand> ParseEvaluate(const VerbArguments& verb);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_PARSERS_H_
