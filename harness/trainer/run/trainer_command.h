// The command of a training program, with placeholders for parts that differ
// between runs.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_COMMAND_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_COMMAND_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

// Placeholder for the directory that the program writes to.
inline constexpr std::string_view kOutPlace = "{out}";
// Placeholder for a TCP port that is free on this machine.
inline constexpr std::string_view kPortPlace = "{port}";
inline constexpr std::string_view kDefaultPort = "29500";  // torchrun's default

// kInvalidArgument: no program, or no argument contains "{out}".
Status CheckTrainerCommand(const std::vector<std::string>& arguments);

// Replaces all occurrences of `what`, except those that a replacement creates.
void ReplaceAll(std::string& text, std::string_view what,
                std::string_view with);

struct CommandPlaces {
  std::string out;
  std::string port;
};
std::string FillPlaces(std::string text, const CommandPlaces& places);
std::vector<std::string> FillPlaces(const std::vector<std::string>& arguments,
                                    const CommandPlaces& places);

// Returns arguments that run the shell command. They start a shell, unless the
// command is a plain call of Python: then they are the words of the command
// itself, so that a fork server can run it.
std::vector<std::string> ArgumentsOfShellCommand(const std::string& command);

// Returns the command quoted for a POSIX shell.
std::string ShellCommand(const std::vector<std::string>& arguments);

// Returns this process's environment as "NAME=value", with the entries of
// `changes` in place of those with the same names.
std::vector<std::string> EnvironmentWith(
    const std::vector<std::string>& changes);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_COMMAND_H_
