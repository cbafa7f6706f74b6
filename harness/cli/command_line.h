// Parses the arguments into a command, or into one line that states the
// mistake.
#ifndef GAUNTLET_HARNESS_CLI_COMMAND_LINE_H_
#define GAUNTLET_HARNESS_CLI_COMMAND_LINE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cli/terminal/terminal_style.h"
#include "engine/status.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

struct CommandLine {
  ColorChoice color = ColorChoice::kAuto;
  Command command;
  std::vector<std::string> notes;  // on deprecated options
};

// Parses `arguments`, which lack the program's own name. kInvalidArgument: they
// have a mistake; the message begins with the command ("train: …"). `commit`:
// see VersionText.
Result<CommandLine> ParseCommandLine(std::span<const std::string> arguments,
                                     std::string_view commit = "");

// Returns the error line for arguments that cannot be parsed, in the form that
// commands use: "gauntlet train: --epochs: …", or "gauntlet: …" without a
// command.
std::string ErrorLine(const Status& status);

// Returns the names of the commands for people, without the internal ones.
std::vector<std::string> CommandNames();

// Returns the list of commands, with examples, for a call without arguments.
std::string OverviewText();

// Returns "gauntlet 0.1.0 (commit 9a232bc8; numerics contract 1)". Without a
// commit, the text has the build's digest instead, as results of runs do.
std::string VersionText(std::string_view commit);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_COMMAND_LINE_H_
