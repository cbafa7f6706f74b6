// The command of a training program, with places for what differs between runs.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_COMMAND_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_COMMAND_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

// The directory that the program writes to.
inline constexpr std::string_view kOutPlace = "{out}";
// A TCP port that is free on this machine.
inline constexpr std::string_view kPortPlace = "{port}";
inline constexpr std::string_view kUsualPort = "29500";  // torchrun's default

// kInvalidArgument: no program, or no "{out}" in any argument.
Status CheckTrainerCommand(const std::vector<std::string>& arguments);

// `with` is not searched again.
void ReplaceAll(std::string& text, std::string_view what,
                std::string_view with);

struct CommandPlaces {
  std::string out;
  std::string port;
};
std::string FillPlaces(std::string text, const CommandPlaces& places);
std::vector<std::string> FillPlaces(const std::vector<std::string>& arguments,
                                    const CommandPlaces& places);

// The arguments of a shell command: those of the shell; or, if it is a plain
// call of Python, its own, so that a fork server can run it.
std::vector<std::string> ArgumentsOfShellCommand(const std::string& command);

// As a POSIX shell reads it.
std::string ShellCommand(const std::vector<std::string>& arguments);

// "NAME=value" of this process, with `changes` in place of its own entries of
// those names.
std::vector<std::string> EnvironmentWith(
    const std::vector<std::string>& changes);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_COMMAND_H_
