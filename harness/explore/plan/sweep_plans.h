// The systematic sweep. It tries each kind of fault at each point, in the chief
// and in the last worker, at occurrence 1, 2, … until the fault no longer
// fires. Then it repeats this after each prefix. A prefix is one fault or two
// that come first.
//
// Single faults come first: in the first set-up at all points, in each further
// one at the points that no earlier set-up reached. Then come the prefixes, one
// after another, each followed by every possible second fault:
//
// - a slow worker, so that time passes: the second fault is in the same
//   incarnation, at a point that no single fault reached;
// - a damaged save, with and without an older save, then the death of a worker:
//   the second fault falls into the recovery, which finds the damage;
// - a single fault that led to a restart: the second fault falls into the
//   recovery. There is one such prefix for each (set-up, point, phase) with a
//   checkpoint to load, and one without.
//
// The first two prefixes have fixed points, even if other points were
// requested. They are used only if their fault kinds were requested.
//
// A prefix is swept in rounds. Round n has the n-th occurrence of each (point,
// worker, kind) that still fired at occurrence n - 1. A round depends only on
// the reports of the rounds before it.
//
// Shards divide the sweep by (point, worker, kind). Each shard runs all single
// faults, because the pairs depend on their results, but counts only its own.
// Each pair is run by one shard. Each shard numbers its cases from 0.
#ifndef GAUNTLET_HARNESS_EXPLORE_PLAN_SWEEP_PLANS_H_
#define GAUNTLET_HARNESS_EXPLORE_PLAN_SWEEP_PLANS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/explore/trial/case_report.h"
#include "harness/explore/trial/explore_case.h"
#include "harness/run/shard_choice.h"

namespace gauntlet {

class SweepPlans {
 public:
  // `spaces`: one for each set-up, in their order; at least one. Pairs are run
  // only if max_faults > 1. Pairs after a damaged save are run only if
  // max_faults > 2.
  SweepPlans(std::vector<PlanSpace> spaces, uint64_t seed,
             ShardChoice shard = {});

  // Returns the next cases; empty: the sweep is done. Call again once all of
  // them were passed to AddReport.
  std::vector<ExploreCase> NextRound();
  // Takes the report of each case of the last round once, in their order.
  void AddReport(const CaseReport& report);

  // Returns the progress of the sweep: "single faults in set-up 1 of 6,
  // occurrence 3: 212 of 640 series still fire".
  std::string Progress() const;
  // Returns the remaining parts and their size; "" if the sweep is done.
  std::string Left() const;

 private:
  // A series: a fault that is tried at occurrence 1, 2, … in turn.
  struct HitSweep {
    Fault fault;
    bool alive = true;   // false: the fault no longer fires
    bool counts = true;  // the series is in this shard
  };
  enum class Follows : uint8_t { kInRecovery, kInSameIncarnation };
  // Faults that come before a second fault.
  struct Prefix {
    size_t setup = 0;
    std::vector<Fault> faults;
    Follows follows = Follows::kInRecovery;
  };
  // Set-up, point and phase of a fault, and whether the recovery from the fault
  // had a checkpoint to load. There is one prefix for each Place.
  using Place = std::tuple<size_t, Point, FaultPhase, bool>;

  const PlanSpace& space() const { return spaces_[setup_]; }
  void MakeSingles();
  void MakePrefixes();
  void BeginSlowly();
  void BeginWithDamage(uint64_t save);
  void MakePairs();
  // Returns the points for a second fault after the prefix.
  std::vector<Point> PointsBehind(const Prefix& prefix) const;
  size_t SecondsBehind(const Prefix& prefix) const;
  // Moves on to the next part that has series, or to kDone if there is none.
  void StartNextStage();
  std::vector<Fault> FaultsAt(Point point) const;
  // Adds the fault in the chief and in the last worker.
  void AddHitSweep(Fault fault);
  void LearnSingle(const HitSweep& series, const CaseReport& report);
  size_t Alive() const;
  std::string PrefixName(size_t index) const;

  const std::vector<PlanSpace> spaces_;
  const uint64_t seed_;
  const ShardChoice shard_;
  size_t setup_ = 0;
  std::set<Point> reached_;  // points at which any fault fired
  enum class Part : uint8_t { kSingles, kPairs, kDone } part_ = Part::kSingles;
  std::vector<HitSweep> hit_sweeps_;
  uint64_t hit_ = 0;
  uint64_t next_number_ = 0;
  uint64_t round_begin_ = 0;       // number of the round's first case
  std::vector<size_t> round_;      // index of each case's series
  std::map<Place, Fault> firsts_;  // first fault that led to a restart
  std::vector<Prefix> prefixes_;   // made once the single faults are done
  size_t prefix_ = 0;              // kPairs: index of the current one
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_SWEEP_PLANS_H_
