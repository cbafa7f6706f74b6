// `gauntlet ckpt ls`, `verify` and `diff`: looks at checkpoints, changes none.
#ifndef GAUNTLET_HARNESS_CLI_CKPT_CKPT_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_CKPT_CKPT_COMMAND_H_

#include <string>
#include <vector>

#include "engine/ckpt/inspect.h"
#include "engine/world/world.h"
#include "harness/cli/flags/commands.h"
#include "harness/cli/terminal/console.h"

namespace gauntlet {

// A line a checkpoint, oldest first: name, "good", "bad" or "not verified",
// lineage, size, age and what is wrong with it.
std::string RenderReports(const std::vector<CheckpointReport>& reports,
                          const TerminalStyle& style);
// A JSON array of the same.
std::string ReportsToJson(const std::vector<CheckpointReport>& reports);

// Each returns the exit code. ls and verify say what a run does that starts
// here now; where it would be refused, they list what there is and return 7 if
// no checkpoint can be loaded, else 2. Both return 2 if there is no such
// directory. verify returns besides 1 if a checkpoint of the current lineage is
// bad, and 7 if none is good. diff: 0 if both are equal, 1 if not, 2 if one is
// not there, 7 if one is damaged.
int RunCheckpointList(const CheckpointListCommand& command, World& world,
                      Console& console);
int RunCheckpointVerify(const CheckpointVerifyCommand& command, World& world,
                        Console& console);
int RunCheckpointDiff(const CheckpointDiffCommand& command, World& world,
                      Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CKPT_CKPT_COMMAND_H_
