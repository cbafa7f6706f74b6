// The environment that a worker process is started with.
#ifndef GAUNTLET_ENGINE_REAL_PROCESS_WORKER_ENVIRONMENT_H_
#define GAUNTLET_ENGINE_REAL_PROCESS_WORKER_ENVIRONMENT_H_

#include <string>
#include <vector>

namespace gauntlet {

// "NAME=value" entries: those of `inherited`, without the variables by which a
// cluster tells a process its place (of torchrun, Slurm, Open MPI, PMIx and
// Kubernetes: the launcher's own place would contradict the worker's) and
// without those that `added` names; then `added`.
std::vector<std::string> WorkerEnvironment(
    const std::vector<std::string>& inherited,
    const std::vector<std::string>& added);

// Environment of this process.
std::vector<std::string> ProcessEnvironment();

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_PROCESS_WORKER_ENVIRONMENT_H_
