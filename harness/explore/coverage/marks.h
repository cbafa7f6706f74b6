// Coverage goals: rare situations that an exploration must reach now and then
// ("sometimes" assertions). An exploration that misses them has tested less
// than its number of cases suggests.
//
// Each goal is a row of one table in marks.cc: a name, a description, and a
// predicate over the outline of a run.
#ifndef GAUNTLET_HARNESS_EXPLORE_COVERAGE_MARKS_H_
#define GAUNTLET_HARNESS_EXPLORE_COVERAGE_MARKS_H_

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "harness/explore/coverage/coverage.h"
#include "harness/oracle/history/outline.h"

namespace gauntlet {

// An exploration of usual length may miss a rare goal.
enum class MarkRarity : uint8_t { kUsual, kRare };

// Input of a predicate.
struct MarkScene {
  const Outline& outline;
  std::vector<FaultPhase> phases;  // in the order of outline.occurrences
};

// Returns true iff `predicate` is true for the events of an incarnation.
template <typename Predicate>
bool AnyLife(const MarkScene& scene, Predicate predicate) {
  return std::ranges::any_of(scene.outline.record.lives, predicate);
}

struct MarkInfo {
  std::string_view name;         // "died-while-recovering"
  std::string_view description;  // one line
  MarkRarity rarity;
  bool (*holds)(const MarkScene& scene);
};

inline constexpr size_t kMaxMarks = 64;
using MarkSet = std::bitset<kMaxMarks>;  // by the order of AllMarks()

std::span<const MarkInfo> AllMarks();

// Returns the goals that the run reached.
MarkSet MarksOf(const Outline& outline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_COVERAGE_MARKS_H_
