// Files that a program creates in TMPDIR for itself, and removes.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_TEMPORARY_FILES_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_TEMPORARY_FILES_H_

#include <cstdint>
#include <set>

#include "chaos/trace/log/operation_log.h"
#include "engine/status.h"

namespace gauntlet {

// Returns the numbers, from 1, of the operations on temporary files. A file is
// temporary if it is in TMPDIR, gone at the end of the log, and never below
// {out}. A directory in TMPDIR is temporary if it contains no file at the end.
// kDataLoss: the log contradicts itself.
Result<std::set<uint64_t>> OperationsOnTemporaryFiles(const OperationLog& log);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_TEMPORARY_FILES_H_
