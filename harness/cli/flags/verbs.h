// The parsers of the commands, each in a file of its own. Those of the training
// program are in engine/app/parsers.h.
#ifndef GAUNTLET_HARNESS_CLI_FLAGS_VERBS_H_
#define GAUNTLET_HARNESS_CLI_FLAGS_VERBS_H_

#include "engine/cli/flags/flags.h"
#include "engine/status.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// Each returns its command, or a PrintTextCommand for --help.
Result<Command> ParseList(const VerbArguments& verb);
Result<Command> ParseDoctor(const VerbArguments& verb);
Result<Command> ParseRun(const VerbArguments& verb);
Result<Command> ParseExplore(const VerbArguments& verb);
Result<Command> ParseReplay(const VerbArguments& verb);
Result<Command> ParseJudge(const VerbArguments& verb);
Result<Command> ParseShow(const VerbArguments& verb);
Result<Command> ParseReport(const VerbArguments& verb);
Result<Command> ParseBench(const VerbArguments& verb);
Result<Command> ParseBenchScale(const VerbArguments& verb);
Result<Command> ParseCrashTest(const VerbArguments& verb);
Result<Command> ParseUpgrade(const VerbArguments& verb);
Result<Command> ParseValidate(const VerbArguments& verb);
Result<Command> ParseHelp(const VerbArguments& verb);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_FLAGS_VERBS_H_
