// A program that a fork server runs for a trial.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_SERVED_PROGRAM_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_SERVED_PROGRAM_H_

#include "chaos/trace/tracer.h"
#include "engine/status.h"
#include "harness/trainer/run/trial.h"

namespace gauntlet {

// As Trace (chaos/trace/tracer.h) for a trial with a fork server: runs the
// program in the namespaces of this process, which is the first in them, to its
// end; then no process that it started is left.
//
// kUnavailable: the program was not started, and why.
Result<TraceOutcome> RunServedProgram(const TrainerTrial& trial, int output);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_SERVED_PROGRAM_H_
