// Coverage goals: rare situations that an exploration must reach now and then
// ("sometimes" assertions). An exploration that misses them has tested less
// than its number of cases suggests.
//
// Each goal is a row of one table in goals.cc: a name, a description, and a
// predicate over the outline of a run.
#ifndef GAUNTLET_HARNESS_EXPLORE_COVERAGE_GOALS_H_
#define GAUNTLET_HARNESS_EXPLORE_COVERAGE_GOALS_H_

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "harness/explore/coverage/coverage.h"
#include "harness/oracle/history/outline.h"

namespace gauntlet {

// An exploration of usual length must reach the usual goals, and may miss the
// rare ones.
enum class GoalRarity : uint8_t { kUsual, kRare };

// Input of a predicate.
struct GoalScene {
  const Outline& outline;
  std::vector<FaultPhase> phases;  // of each of outline.occurrences
};

// Returns true iff `predicate` is true for the events of at least one
// incarnation.
template <typename Predicate>
bool AnyIncarnation(const GoalScene& scene, Predicate predicate) {
  return std::ranges::any_of(scene.outline.record.incarnations, predicate);
}

struct GoalInfo {
  std::string_view name;         // "died-while-recovering"
  std::string_view description;  // one line
  GoalRarity rarity;
  bool (*holds)(const GoalScene& scene);
};

inline constexpr size_t kMaxGoals = 64;
using GoalSet = std::bitset<kMaxGoals>;  // by the order of AllGoals()

std::span<const GoalInfo> AllGoals();

// Returns the goals that the run reached.
GoalSet GoalsMetBy(const Outline& outline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_COVERAGE_GOALS_H_
