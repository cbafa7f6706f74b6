// Model of the cost of failures for a training run that saves at regular
// intervals. Failures are random, at a constant rate.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_FAILURE_MODEL_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_FAILURE_MODEL_H_

namespace gauntlet {

// All times are in seconds, and above 0 unless the field allows 0.
struct FailureModel {
  double between_failures = 0;  // mean time between failures
  double save_cost = 0;         // time that a save costs training; may be 0
  // Time from a snapshot until its save is durable, less the time for which
  // training waits. A failure during this time also loses the steps of this
  // time. 0 or more.
  double durable_after = 0;
  double downtime = 0;  // from a failure until training resumes; 0 or more
};

// Returns the expected goodput: the share of the time, in (0, 1), in which
// steps are computed for the first time. A save begins after each `interval` of
// steps. Uses Daly's model: the times between failures have an exponential
// distribution, and failures also occur during saves and restarts (J. T. Daly,
// A higher order estimate of the optimum checkpoint interval for restart dumps,
// Future Generation Computer Systems 22, 2006, equation 20).
double ExpectedGoodput(const FailureModel& model, double interval);

// Returns Young's interval, sqrt(2 C M): the first-order optimum (J. W. Young,
// A first order approximation to the optimum checkpoint interval, CACM 17,
// 1974).
double YoungInterval(const FailureModel& model);

// Returns the interval, not below `least`, with the greatest ExpectedGoodput.
double BestInterval(const FailureModel& model, double least);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_FAILURE_MODEL_H_
