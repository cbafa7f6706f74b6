// Runs a program under ptrace and a seccomp filter, unmodified: what it does to
// the files of some directories is recorded, and faults are put into it at
// given operations (man 2 ptrace, man 2 seccomp).
//
// The program keeps its terminal, process group, signals and exit code. What is
// different for it: set-uid programs get no rights (no_new_privs); it cannot be
// traced by others, so debuggers and LeakSanitizer fail in it; io_uring, libaio
// and 32-bit calls fail with ENOSYS; and calls that change watched files run
// one at a time, unless they may wait for another thread or only sync.
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
  // Takes the operations and their bytes; its directories are those above, in
  // this order. nullptr: nothing is recorded.
  OperationLog* log = nullptr;
  bool record_reads = false;  // kOpenToRead too
  std::vector<Injection> injections;
  // The operations of several ranks come in an order that repeats (RankTurns).
  bool ranks_take_turns = false;
  // Processes that outlive the program are killed after it.
  Duration background_grace = std::chrono::seconds(2);
  // All are killed after it; zero: no limit.
  Duration time_limit{};
  KeyboardSignals keyboard = KeyboardSignals::kIgnored;
};

// An injection that was done.
struct InjectedFault {
  size_t injection = 0;     // index among the options'
  FileOperation operation;  // where; as far as it is known before its call
};

struct TraceOutcome {
  // The program's own end.
  int exit_code = 0;
  int signal = 0;                // not 0: it was ended by this signal
  bool is_killed = false;        // all of it, by an injection
  bool is_timed_out = false;     // killed at the time limit
  int background_processes = 0;  // outlived the program, and were killed
  std::vector<InjectedFault> injected;
  // Things noticed, one line each: calls that were refused, what is not
  // covered, processes in the background.
  std::vector<std::string> notes;
  uint64_t stops = 0;  // of threads
};

// Runs the command to its end; then no process that it started is left. The
// thread that calls must have no other child processes, and traces nothing
// else; several threads may trace at once. If this process dies, so do those
// that it traces.
//
// Errors: those of StartedProgram::Start and FailureToStart; of a watched
// directory; of the log, as kResourceExhausted at its limit, upon which all
// traced processes are killed.
Result<TraceOutcome> Trace(const TracedCommand& command,
                           const TraceOptions& options);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_TRACER_H_
