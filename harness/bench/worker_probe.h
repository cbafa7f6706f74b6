// Reads figures of worker processes from /proc.
#ifndef GAUNTLET_HARNESS_BENCH_WORKER_PROBE_H_
#define GAUNTLET_HARNESS_BENCH_WORKER_PROBE_H_

#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace gauntlet {

struct WorkerPid {
  int worker = 0;
  pid_t pid = 0;
};

// Returns the running worker processes that this launcher has started, ordered
// by the worker's number.
std::vector<WorkerPid> WorkersOf(pid_t launcher);

// Returns the CPU time of the process so far, user and system, in seconds; 0 if
// there is no such process.
double CpuSecondsOf(pid_t pid);

// Returns the greatest resident set of the process so far, in bytes; 0 if there
// is no such process.
uint64_t PeakMemoryOf(pid_t pid);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_WORKER_PROBE_H_
