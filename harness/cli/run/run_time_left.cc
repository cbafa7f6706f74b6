#include "harness/cli/run/run_time_left.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/bench/figures/statistics.h"

namespace gauntlet {
namespace {

std::pair<std::string, std::string> KeyOf(const SuiteItem& item) {
  return {item.one.name, std::string(WorldKindName(item.world))};
}

}  // namespace

RunTimeLeft::RunTimeLeft(const std::vector<SuiteItem>& items, int jobs,
                         const RunResult& earlier)
    : jobs_(jobs) {
  std::map<std::string, std::vector<double>> by_world;
  for (const CaseResult& one : earlier.cases) {
    // A case that was not run has no time. An inconclusive one may have ended
    // early or late.
    if (one.seconds <= 0 || one.verdict.kind == VerdictKind::kError) continue;
    earlier_[{one.name, one.world}] = one.seconds;
    by_world[one.world].push_back(one.seconds);
  }
  for (const SuiteItem& item : items) {
    WorldTimes& world = worlds_[KeyOf(item).second];
    const auto known = earlier_.find(KeyOf(item));
    if (known == earlier_.end()) {
      ++world.unknown_left;
      continue;
    }
    known_left_ += known->second;
    if (!world.median)
      world.median = MedianOf(by_world.at(known->first.second));
  }
}

void RunTimeLeft::Begin(const SuiteItem& item, Time now) {
  const Key key = KeyOf(item);
  running_[key] = now;
  const auto known = earlier_.find(key);
  if (known == earlier_.end()) {
    --worlds_[key.second].unknown_left;
  } else {
    known_left_ -= known->second;
  }
}

void RunTimeLeft::End(const CaseResult& one) {
  running_.erase({one.name, one.world});
  WorldTimes& world = worlds_[one.world];
  ++world.ran;
  world.seconds += one.seconds;
}

std::optional<double> RunTimeLeft::Guess(const WorldTimes& world) {
  if (world.median) return world.median;
  if (world.ran == 0) return std::nullopt;
  return world.seconds / static_cast<double>(world.ran);
}

std::optional<double> RunTimeLeft::Seconds(Time now) const {
  double left = std::max(known_left_, 0.0);
  for (const auto& [name, world] : worlds_) {
    if (world.unknown_left == 0) continue;
    const std::optional<double> each = Guess(world);
    if (!each) return std::nullopt;
    left += *each * static_cast<double>(world.unknown_left);
  }
  for (const auto& [key, begin] : running_) {
    const auto known = earlier_.find(key);
    const std::optional<double> whole =
        known != earlier_.end() ? known->second : Guess(worlds_.at(key.second));
    if (!whole) return std::nullopt;
    left += std::max(
        *whole - std::chrono::duration<double>(now - begin).count(), 0.0);
  }
  return left / jobs_;
}

}  // namespace gauntlet
