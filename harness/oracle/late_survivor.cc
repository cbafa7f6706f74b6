#include "harness/oracle/late_survivor.h"

#include <algorithm>

namespace gauntlet {
namespace {

bool OutlivedItsSuccessorsBegin(const Record& record, const LifeEvents& life) {
  return std::ranges::any_of(record.lives, [&](const LifeEvents& other) {
    return other.worker == life.worker && other.life > life.life &&
           !other.events.empty() &&
           other.events.front().t_ns < life.events.back().t_ns;
  });
}

}  // namespace

bool HadLateSurvivorAfter(const Record& record, int64_t t_ns) {
  return std::ranges::any_of(record.lives, [&](const LifeEvents& life) {
    return !life.events.empty() && life.events.back().t_ns > t_ns &&
           OutlivedItsSuccessorsBegin(record, life);
  });
}

}  // namespace gauntlet
