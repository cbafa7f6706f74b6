// Namespaces of mounts, processes and the network (man 7 namespaces), so that
// trials run side by side in what each takes for the same directories.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_PRIVATE_NAMESPACES_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_PRIVATE_NAMESPACES_H_

#include <functional>
#include <vector>

#include "engine/status.h"
#include "harness/trainer/run/trial.h"

namespace gauntlet {

// Runs the body in a new process, the first of new namespaces, and returns its
// exit code; a signal is 128 + its number. With it end all processes that it
// started. Needs no rights where the system permits user namespaces; users keep
// their numbers.
//
// This process moves to a namespace too: call it once, from a process of one
// thread. Errors, before the body runs: kForbidden, one line, where namespaces
// are not permitted; those of fork(2).
Result<int> RunInNamespaces(const std::vector<DirectoryMount>& mounts,
                            NetworkAccess network,
                            const std::function<int()>& body);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_PRIVATE_NAMESPACES_H_
