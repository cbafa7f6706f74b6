// Temporary files in $TMPDIR.
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_TEMPORARY_FILE_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_TEMPORARY_FILE_H_

#include <memory>
#include <string>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"
#include "harness/results/byte_source.h"

namespace gauntlet {

// Returns an empty file to read and write. It has no name, so nothing remains
// once it is closed.
Result<Descriptor> OpenUnnamedFile();

// Copies the bytes to a file, for readers that need a file name. The caller
// removes the file by its path.
Result<std::shared_ptr<FileBytes>> CopyToFile(ByteSource& bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_TEMPORARY_FILE_H_
