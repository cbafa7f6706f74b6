// Temporary files in $TMPDIR.
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_TEMPORARY_FILE_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_TEMPORARY_FILE_H_

#include <memory>
#include <string>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"
#include "harness/results/byte_source.h"

namespace gauntlet {

// An empty file to read and write. No name leads to it, so nothing is left of
// it.
Result<Descriptor> OpenUnnamedFile();

// A copy of the bytes, for readers that need the name of a file. The caller
// removes it by its path.
Result<std::shared_ptr<FileBytes>> CopyToFile(ByteSource& bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_TEMPORARY_FILE_H_
