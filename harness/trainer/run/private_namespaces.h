// Runs code in new namespaces of mounts, processes and the network (man 7
// namespaces), so that concurrent runs see different directories at the same
// paths.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_PRIVATE_NAMESPACES_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_PRIVATE_NAMESPACES_H_

#include <functional>
#include <vector>

#include "engine/status.h"
#include "harness/trainer/run/trainer_run.h"

namespace gauntlet {

// Runs the body in a new process, the first one of new namespaces. Returns the
// exit code of the process; 128 + N after signal N. All processes that this
// process started end with it. Needs no privileges if the system permits user
// namespaces; user ids stay the same.
//
// This process enters a namespace too: call the function once, from a process
// with a single thread. Errors, before the body runs: kForbidden, one line:
// namespaces are not permitted, or / is not a mount point; those of fork(2).
Result<int> RunInNamespaces(const std::vector<DirectoryMount>& mounts,
                            NetworkAccess network,
                            const std::function<int()>& body);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_PRIVATE_NAMESPACES_H_
