// Whole files as text, for what the harness itself reads and writes.
#ifndef GAUNTLET_HARNESS_RUN_FILES_TEXT_FILE_H_
#define GAUNTLET_HARNESS_RUN_FILES_TEXT_FILE_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace gauntlet {

// Returns the content of the file, at most 256 MiB, which is far more than any
// sound file of a run has. "": there is no regular file that can be read.
std::string ReadTextFile(const std::filesystem::path& path);

// Creates the file, or leaves nothing. kAlreadyExists: the file exists and
// stays as it is; kIoError names the path.
Status WriteNewTextFile(const std::filesystem::path& path,
                        std::string_view text);

// Creates the file or replaces it atomically (temporary file and rename); its
// mode stays. Writes in place if it is no regular file, or its folder is not
// writable. kIoError names the path; kResourceExhausted: the disk is full.
Status WriteTextFile(const std::filesystem::path& path,
                     const std::string& text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FILES_TEXT_FILE_H_
