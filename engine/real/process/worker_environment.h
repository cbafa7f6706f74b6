// The environment in which a worker process is started.
#ifndef GAUNTLET_ENGINE_REAL_PROCESS_WORKER_ENVIRONMENT_H_
#define GAUNTLET_ENGINE_REAL_PROCESS_WORKER_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

// Returns "NAME=value" entries: those of `inherited`, then those of `added`.
// Leaves out two kinds of entries of `inherited`:
//   - those that `added` overrides
//   - those that assign a process its place in a cluster (TF_CONFIG, torchrun,
//     Slurm, Open MPI, PMIx, Kubernetes): the launcher's place would contradict
//     the worker's
std::vector<std::string> WorkerEnvironment(
    const std::vector<std::string>& inherited,
    const std::vector<std::string>& added);

// Returns the name in an entry "NAME=value".
std::string_view VariableName(std::string_view entry);

// Returns the environment of this process.
std::vector<std::string> ProcessEnvironment();

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_PROCESS_WORKER_ENVIRONMENT_H_
