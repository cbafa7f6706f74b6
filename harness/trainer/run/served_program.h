// Runs the program of a run as a child that a fork server forks.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_SERVED_PROGRAM_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_SERVED_PROGRAM_H_

#include "chaos/trace/tracer.h"
#include "engine/status.h"
#include "harness/trainer/run/trainer_run.h"

namespace gauntlet {

// Asks the fork server in `run.fork_server` to start the program in the
// namespaces of this process, waits for its end, and kills the processes that
// it left running. `output` receives standard output and error. Returns the
// same outcome as Trace (chaos/trace/tracer.h), but traces nothing. REQUIRES:
// this process is the first one in its namespaces.
//
// kUnavailable: the program was not started; the message has the reason.
Result<TraceOutcome> RunServedProgram(const TrainerRun& run, int output);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_SERVED_PROGRAM_H_
