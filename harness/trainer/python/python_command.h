// The command line of a program for the Python interpreter, in its parts.
#ifndef GAUNTLET_HARNESS_TRAINER_PYTHON_PYTHON_COMMAND_H_
#define GAUNTLET_HARNESS_TRAINER_PYTHON_PYTHON_COMMAND_H_

#include <string>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

struct PythonCommand {
  std::string interpreter;             // as the command names it
  std::vector<std::string> flags;      // of the interpreter, with their values
  std::string kind;                    // "script", "module" (-m) or "code" (-c)
  std::string target;                  // the file, the module's name, the code
  std::vector<std::string> arguments;  // of the program
};

// kFailedPrecondition: it is none, or one that reads its program from standard
// input, goes on by hand (-i), or has a flag that is not known here.
Result<PythonCommand> ParsePythonCommand(
    const std::vector<std::string>& arguments);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_PYTHON_PYTHON_COMMAND_H_
