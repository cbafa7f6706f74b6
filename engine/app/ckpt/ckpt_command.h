// `gauntlet ckpt ls`, `verify` and `diff`: inspect checkpoints without changing
// them.
#ifndef GAUNTLET_ENGINE_APP_CKPT_CKPT_COMMAND_H_
#define GAUNTLET_ENGINE_APP_CKPT_CKPT_COMMAND_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/app/commands.h"
#include "engine/ckpt/inspect.h"
#include "engine/cli/terminal/console.h"
#include "engine/world/world.h"

namespace gauntlet {

// Returns a line for each checkpoint, oldest first. It has the name, "good",
// "bad" or "not verified", and the lineage. Then follow epochs, size, age and
// state digest or, for a bad checkpoint, the reason.
std::string RenderReports(const std::vector<CheckpointReport>& reports,
                          const TerminalStyle& style);
// Returns the reports as a JSON array.
std::string ReportsToJson(const std::vector<CheckpointReport>& reports);

// Each function returns the exit code.
//
// ls and verify also print how a run would begin if it were started in the
// directory now. If the run would be refused, they still list the checkpoints,
// and return 7 if no checkpoint can be loaded, else 2. Both return 2 if the
// directory does not exist. verify also returns 1 if a checkpoint of the
// current lineage is bad, and 7 if no checkpoint is good.
//
// diff returns 0 if both checkpoints are equal, 1 if they differ, 2 if one does
// not exist, 7 if one is damaged.
int RunCheckpointList(const CheckpointListCommand& command, World& world,
                      Console& console);
int RunCheckpointVerify(const CheckpointVerifyCommand& command, World& world,
                        Console& console);
int RunCheckpointDiff(const CheckpointDiffCommand& command, World& world,
                      Console& console);

// Prints the error of `gauntlet ckpt VERB` and returns its exit code.
int FailCheckpointCommand(Console& console, std::string_view verb,
                          const Status& status);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CKPT_CKPT_COMMAND_H_
