// Threads of a trace: rows in which slices are nested.
#ifndef GAUNTLET_REPORTS_TRACE_TRACE_THREADS_H_
#define GAUNTLET_REPORTS_TRACE_TRACE_THREADS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/trace/trace_model.h"

namespace gauntlet {

struct TraceThread {
  int64_t process = 0;  // kLauncherProcess, kMachineProcess, or a worker's
  int64_t number = 0;   // unique in the trace
  int worker = 0;
  std::string name;  // "compute"; "compute 2"
};

inline constexpr int64_t kLauncherProcess = 1;
inline constexpr int64_t kMachineProcess = 2;
// Process number of worker 0; those of other workers follow.
inline constexpr int64_t kFirstWorkerProcess = 100;

struct TraceThreads {
  std::vector<TraceThread> threads;  // by process, then by number
  // Indices into `threads`.
  std::vector<size_t> of_slices;
  std::vector<size_t> of_incarnations;  // control thread of each process
};

// Sorts the slices by time, with each slice before those inside it; shortens
// markers to the free time after them; and assigns threads.
//
// A slice that overlaps another one on its track without being inside it gets
// an additional thread. An incarnation also gets one if an older incarnation of
// its worker is still running.
TraceThreads AssignThreads(const TraceModel& model,
                           std::vector<TraceSlice>& slices);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_TRACE_TRACE_THREADS_H_
