// Reads and writes whole files as text, for the harness's own files.
#ifndef GAUNTLET_HARNESS_RUN_FILES_TEXT_FILE_H_
#define GAUNTLET_HARNESS_RUN_FILES_TEXT_FILE_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// Returns the content of the file, at most 256 MiB, which is far more than any
// intact file of a run has; "" if it is not a regular file or cannot be read.
std::string ReadTextFile(const std::filesystem::path& path);

// Creates the file. After an error, no new file is left. kAlreadyExists: the
// file existed before, and is unchanged. kIoError: the message names the path.
Status WriteNewTextFile(const std::filesystem::path& path,
                        std::string_view text);

// Creates the file, or replaces it atomically (by a temporary file and a
// rename) and keeps its mode. Exception: if the file is not a regular one, or
// its folder is not writable, writes into the file itself. kIoError: the
// message names the path. kResourceExhausted: the disk is full.
Status WriteTextFile(const std::filesystem::path& path,
                     const std::string& text);

// Returns the line that a command prints for a file that it wrote, with the
// size rounded up: "trace.json.gz  12 KiB\n".
std::string WrittenFileLine(const std::string& file, std::string_view content);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FILES_TEXT_FILE_H_
