// Checks, before a command starts its work, that it can write its output file.
#ifndef GAUNTLET_ENGINE_CLI_OUTPUT_FILE_H_
#define GAUNTLET_ENGINE_CLI_OUTPUT_FILE_H_

#include <string>

#include "engine/status.h"

namespace gauntlet {

// Returns kInvalidArgument for "-": many programs take it as standard output,
// but this one would create a file with that name.
Status CheckFileName(const std::string& file);

// Returns kIoError if the file's folder does not exist. The message names the
// folder.
Status CheckFolderOf(const std::string& file);

// Returns OK if the file can be created or overwritten, or if `file` is "".
// Otherwise returns the error of CheckFileName or CheckFolderOf, or kIoError
// with the reason.
Status CheckOutputFile(const std::string& file);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_OUTPUT_FILE_H_
