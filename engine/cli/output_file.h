// Checks of a file that a command will write at its end.
#ifndef GAUNTLET_ENGINE_CLI_OUTPUT_FILE_H_
#define GAUNTLET_ENGINE_CLI_OUTPUT_FILE_H_

#include <string>

#include "engine/status.h"

namespace gauntlet {

// kInvalidArgument: the name is "-". Elsewhere that is standard output; here it
// would be a file.
Status CheckFileName(const std::string& file);

// kIoError: the file's folder does not exist; the message names it.
Status CheckFolderOf(const std::string& file);

// Returns OK if the file can be written, created or replaced, or if `file` is
// "". kIoError: the message names the obstacle. kInvalidArgument:
// CheckFileName.
Status CheckOutputFile(const std::string& file);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_OUTPUT_FILE_H_
