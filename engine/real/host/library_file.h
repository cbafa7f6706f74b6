// Checks that a shared library is as long as its header implies. The loader
// does not check this: it maps what the file has. A truncated library then
// crashes the program at the first missing page.
#ifndef GAUNTLET_ENGINE_REAL_HOST_LIBRARY_FILE_H_
#define GAUNTLET_ENGINE_REAL_HOST_LIBRARY_FILE_H_

#include <string>

#include "engine/status.h"

namespace gauntlet {

// Returns kNotFound for a library that is shorter than its ELF header implies
// (System V ABI, chapter 4), or for a file that is not regular. Ok also if the
// file does not exist or has no ELF header: the loader reports those errors.
Status CheckLibraryFile(const std::string& file);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_HOST_LIBRARY_FILE_H_
