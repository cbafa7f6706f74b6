// Runs an unmodified program under ptrace and a seccomp filter: records what it
// does to the files of some directories, and injects faults at given operations
// (man 2 ptrace, man 2 seccomp).
//
// The program keeps its terminal, process group, signals and exit code.
// Differences for the program: set-uid programs get no rights (no_new_privs);
// no other process can trace it, so debuggers and LeakSanitizer fail in it;
// io_uring, libaio, 32-bit calls and clones with CLONE_UNTRACED fail with
// ENOSYS; and calls that change watched files run one at a time, unless they
// may wait for another thread or only sync.
#ifndef GAUNTLET_CHAOS_TRACE_TRACER_H_
#define GAUNTLET_CHAOS_TRACE_TRACER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chaos/trace/injection.h"
#include "chaos/trace/log/file_operation.h"
#include "chaos/trace/log/operation_log.h"
#include "chaos/trace/process/program_start.h"
#include "engine/status.h"
#include "engine/world/clock.h"

namespace gauntlet {

struct TraceOptions {
  // Absolute paths of existing directories, on file systems of this machine.
  std::vector<std::string> directories;
  // Receives the operations and their bytes; its directories must be those
  // above, in this order. nullptr: nothing is recorded.
  OperationLog* log = nullptr;
  bool record_reads = false;  // also records kOpenToRead
  std::vector<Injection> injections;
  // Makes the order of operations of several ranks repeatable (RankTurns).
  bool ranks_take_turns = false;
  // Time after the program's end until processes that outlive it are killed.
  Duration background_grace = std::chrono::seconds(2);
  // Time until all processes are killed; zero: no limit.
  Duration time_limit{};
  KeyboardSignals keyboard = KeyboardSignals::kIgnored;
};

// An injection that took place.
struct InjectedFault {
  size_t injection = 0;     // index in TraceOptions::injections
  FileOperation operation;  // at which it took place
};

struct TraceOutcome {
  // End of the program's own process.
  int exit_code = 0;
  int signal = 0;                // not 0: the signal that ended it
  bool is_killed = false;        // an injection killed all processes
  bool is_timed_out = false;     // killed at the time limit
  int background_processes = 0;  // outlived the program and were killed
  std::vector<InjectedFault> injected;
  // Remarks, one line each: rejected calls, activity that is not covered,
  // processes in the background.
  std::vector<std::string> notes;
  uint64_t stops = 0;  // number of stops of threads
};

// Runs the command to its end; then no process that it started is left. The
// calling thread must have no other child processes and trace nothing else;
// several threads may trace at the same time. If this process dies, so do the
// traced processes.
//
// Errors: those of StartedProgram::Start and FailureToStart; of a watched
// directory; of the log, such as kResourceExhausted at its limit, which kills
// all traced processes.
Result<TraceOutcome> Trace(const TracedCommand& command,
                           const TraceOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_TRACER_H_
