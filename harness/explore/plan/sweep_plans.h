// The systematic sweep: every point and kind, in the chief and in the last
// worker, at occurrence 1, 2, … until the fault fires no more; then the same
// behind each of a list of beginnings.
//
// Single faults come first, in all set-ups: in the first one everything, in
// each further one the points that no set-up before came to. Then the
// beginnings, one after another, each for every second fault that there is:
//
// - a worker that is slow, so that time goes by: for points that no single
//   fault came to, in the same life;
// - a damaged save, with an older one and without, and a death behind it: the
//   second fault falls into the recovery, which finds the damage;
// - a fault that led to a restart, one for every (point, phase), from nothing
//   and from a checkpoint: likewise.
//
// The first two are means to an end, at points of their own whatever points are
// asked for; each of their kinds has to be among those that are.
//
// A prefix is gone through in rounds. In round n each (point, worker, kind)
// that still fired at occurrence n - 1 has its n-th. What a round is depends on
// the reports of those before it and on nothing else.
//
// Shards divide the sweep by (point, worker, kind). Each shard runs all single
// faults, because the pairs follow from them, and counts its own. Each pair is
// run by one shard. Each shard numbers its cases from 0.
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
  // `spaces` are of the set-ups, in their order, at least one. Pairs only where
  // max_faults > 1, and those behind damage where it is > 2.
  SweepPlans(std::vector<PlanSpace> spaces, uint64_t seed,
             ShardChoice shard = {});

  // Returns the next cases; empty: the sweep is done. Call again once all of
  // them were reported to Learn.
  std::vector<ExploreCase> NextRound();
  // Takes the report of each case of the last round once, in their order.
  void Learn(const CaseReport& report);

  // Progress of the sweep: "single faults in set-up 1 of 6, occurrence 3: 212
  // of 640 series still fire".
  std::string Progress() const;
  // Returns the parts that are not done, and their size; "": the sweep is done.
  std::string Left() const;

 private:
  // One fault whose occurrence goes up.
  struct HitSweep {
    Fault fault;
    bool alive = true;
    bool counts = true;  // it is in the shard
  };
  enum class Follows : uint8_t { kInRecovery, kInSameLife };
  // Faults that come before a second fault.
  struct Prefix {
    size_t setup = 0;
    std::vector<Fault> faults;
    Follows follows = Follows::kInRecovery;
  };
  // A fault's set-up and place, as beginnings tell them apart, and whether the
  // recovery from it had a checkpoint to load.
  using Place = std::tuple<size_t, Point, FaultPhase, bool>;

  const PlanSpace& space() const { return spaces_[setup_]; }
  void MakeSingles();
  void MakePrefixes();
  void BeginSlowly();
  void BeginWithDamage(uint64_t save);
  void MakePairs();
  // Points at which a second fault comes.
  std::vector<Point> PointsBehind(const Prefix& prefix) const;
  size_t SecondsBehind(const Prefix& prefix) const;
  // To the next part that has series; kDone if there is none.
  void StartNextStage();
  std::vector<Fault> FaultsAt(Point point) const;
  // In the chief and in the last worker.
  void AddHitSweep(Fault fault);
  void LearnSingle(const HitSweep& series, const CaseReport& report);
  size_t Alive() const;
  std::string PrefixName(size_t index) const;

  const std::vector<PlanSpace> spaces_;
  const uint64_t seed_;
  const ShardChoice shard_;
  size_t setup_ = 0;
  std::set<Point> reached_;  // by any fault
  enum class Part : uint8_t { kSingles, kPairs, kDone } part_ = Part::kSingles;
  std::vector<HitSweep> hit_sweeps_;
  uint64_t hit_ = 0;
  uint64_t next_number_ = 0;
  uint64_t round_begin_ = 0;       // the number of the round's first case
  std::vector<size_t> round_;      // series of the round's cases
  std::map<Place, Fault> firsts_;  // the first one that led to a restart
  std::vector<Prefix> prefixes_;   // once the single faults are done
  size_t prefix_ = 0;              // kPairs: the one it is at
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_PLAN_SWEEP_PLANS_H_
