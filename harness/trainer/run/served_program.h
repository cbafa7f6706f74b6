// Runs the program of a run by a fork server.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_SERVED_PROGRAM_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_SERVED_PROGRAM_H_

#include "chaos/trace/tracer.h"
#include "engine/status.h"
#include "harness/trainer/run/trainer_run.h"

namespace gauntlet {

// As Trace (chaos/trace/tracer.h), for a run with a fork server: runs the
// program to its end in the namespaces of this process, then ends all processes
// that it started. REQUIRES: this process is the first one in its namespaces.
//
// kUnavailable: the program was not started; the message has the reason.
Result<TraceOutcome> RunServedProgram(const TrainerRun& run, int output);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_SERVED_PROGRAM_H_
