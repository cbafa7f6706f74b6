// Model of the cost of failures for a training run that saves at regular
// intervals. Failures are random, at a constant rate.
#ifndef GAUNTLET_HARNESS_BENCH_FIGURES_FAILURE_MODEL_H_
#define GAUNTLET_HARNESS_BENCH_FIGURES_FAILURE_MODEL_H_

namespace gauntlet {

// All times in seconds, above 0 unless it says otherwise.
struct FailureModel {
  double between_failures = 0;  // mean time
  double save_cost = 0;         // time that a save costs training; may be 0
  // From the snapshot until the save is durable, less its stall: what is
  // computed meanwhile is lost too if a failure comes before. 0 or more.
  double durable_after = 0;
  double downtime = 0;  // from a failure until training goes on; 0 or more
};

// Share of the time that goes to steps which are not computed again, in (0, 1),
// if a save begins after each `interval` of steps. Daly's model of exponential
// failures, which also strike during saves and restarts (J. T. Daly, A higher
// order estimate of the optimum checkpoint interval for restart dumps, Future
// Generation Computer Systems 22, 2006, equation 20).
double ExpectedGoodput(const FailureModel& model, double interval);

// Young's interval, sqrt(2 C M): the first-order optimum (J. W. Young, A first
// order approximation to the optimum checkpoint interval, CACM 17, 1974).
double YoungInterval(const FailureModel& model);

// The interval, at least `least`, with the greatest ExpectedGoodput.
double BestInterval(const FailureModel& model, double least);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_FIGURES_FAILURE_MODEL_H_
