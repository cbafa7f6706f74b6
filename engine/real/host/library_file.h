// Checks that a shared library is as long as its header says. The loader does
// not: it maps what is there, and a library that was cut off ends the program
// at the first missing page.
#ifndef GAUNTLET_ENGINE_REAL_HOST_LIBRARY_FILE_H_
#define GAUNTLET_ENGINE_REAL_HOST_LIBRARY_FILE_H_

#include <string>

#include "engine/status.h"

namespace gauntlet {

// kNotFound: a library that is shorter than its ELF header says (System V ABI,
// chapter 4), or no regular file. OK also if there is no such file, or no ELF
// header: the loader reports that itself.
Status CheckLibraryFile(const std::string& file);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_HOST_LIBRARY_FILE_H_
