// Coverage of an exploration: faults by kind, point and phase, invariants that
// had something to check, and coverage goals.
#ifndef GAUNTLET_HARNESS_EXPLORE_COVERAGE_COVERAGE_H_
#define GAUNTLET_HARNESS_EXPLORE_COVERAGE_COVERAGE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "engine/world/fault_point.h"
#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Activity of the worker in which a fault fired.
enum class FaultPhase : uint8_t {
  kJoining,     // in its first incarnation, before it has a state
  kRecovering,  // in a later one or a rejoin, before it has a state
  kInEpoch,
  kEvaluation,  // an evaluation is due
  kCallbacks,   // an epoch's callbacks are due
  kSaving,      // some worker of the job is between a save's begin and its end
  kFinishing,   // training is over
};
std::string_view FaultPhaseName(FaultPhase phase);
inline constexpr size_t kFaultPhases = 7;

FaultPhase PhaseOf(const Outline& outline, const FaultOccurrence& occurrence);

// A fault that fired, as coverage counts it.
struct FiredFault {
  FaultKind kind = FaultKind::kCrash;
  Point point = Point::kStepBegin;
  FaultPhase phase = FaultPhase::kInEpoch;
  int incarnation = 1;  // incarnation in which it fired

  auto operator<=>(const FiredFault&) const = default;
};

// Returns the faults that fired, in the order of time. A fault that fired
// several times is listed once.
std::vector<FiredFault> FiredFaultsOf(const Outline& outline);

// Returns how many checks each invariant made, in the order of AllInvariants().
std::vector<uint64_t> InstancesOf(const Verdict& verdict);

class Coverage {
 public:
  Coverage();

  // Adds case `number`. Cases come in ascending order.
  void Add(uint64_t number, const std::vector<FiredFault>& fired,
           const std::vector<uint64_t>& instances);
  // Adds the faults of a case's plan, whether they fire or not.
  void AddPlan(const FaultPlan& plan);

  using Key = std::tuple<Point, FaultKind, FaultPhase>;
  const std::map<Key, uint64_t>& fired() const { return fired_; }
  // Pairs of points: in one run, a fault fired at the first point and the next
  // fault at the second.
  const std::set<std::pair<Point, Point>>& pairs() const { return pairs_; }
  const std::vector<uint64_t>& instances() const { return instances_; }
  // Number of the last case that reached a new (point, kind, phase).
  uint64_t last_new() const { return last_new_; }

  // Number of planned faults, by the point and kind that the plan names.
  const std::map<std::pair<Point, FaultKind>, uint64_t>& planned() const {
    return planned_;
  }
  const std::set<Point>& PointsHit() const { return points_; }
  std::set<FaultKind> KindsFired() const;

 private:
  std::map<Key, uint64_t> fired_;
  std::map<std::pair<Point, FaultKind>, uint64_t> planned_;
  std::set<Point> points_;  // points at which a fault fired
  std::set<std::pair<Point, Point>> pairs_;
  std::vector<uint64_t> instances_;  // by the order of AllInvariants()
  uint64_t last_new_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_COVERAGE_COVERAGE_H_
