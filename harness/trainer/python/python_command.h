// Splits the command line of a Python program into its parts.
#ifndef GAUNTLET_HARNESS_TRAINER_PYTHON_PYTHON_COMMAND_H_
#define GAUNTLET_HARNESS_TRAINER_PYTHON_PYTHON_COMMAND_H_

#include <string>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

struct PythonCommand {
  std::string interpreter;         // as in the command
  std::vector<std::string> flags;  // of the interpreter, including their values
  std::string kind;                // "script", "module" (-m) or "code" (-c)
  std::string target;              // a file, a module's name or code
  std::vector<std::string> arguments;  // of the program
};

// kFailedPrecondition: not a Python command, or one that reads its program from
// standard input, becomes interactive (-i), or has an unknown flag.
Result<PythonCommand> ParsePythonCommand(
    const std::vector<std::string>& arguments);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_PYTHON_PYTHON_COMMAND_H_
