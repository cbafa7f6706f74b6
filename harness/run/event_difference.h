// Where a run parts from the record of an earlier one.
#ifndef GAUNTLET_HARNESS_RUN_EVENT_DIFFERENCE_H_
#define GAUNTLET_HARNESS_RUN_EVENT_DIFFERENCE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// The first event, in the order of time over all lives, that is not the same.
struct EventDifference {
  uint64_t index = 0;  // in that order, from 0
  int worker = 0;      // who said it, and where
  int life = 0;
  uint64_t step = 0;
  std::string recorded;  // "step 11, epoch 1, digest 6a01…"; "" for none
  std::string now;       // likewise
};

// Of simulated runs, whose times are part of what is compared. nullopt: equal.
std::optional<EventDifference> FirstEventDifference(const Record& recorded,
                                                    const Record& now);

// "event 17 (worker 1, life 2, step 11): recorded …, now …".
std::string DescribeDifference(const EventDifference& difference);

// How two simulated runs of one plan differ, whose event digests do: the first
// event that does, or that it is none of the events.
std::string DescribeNondeterminism(const Record& first, const Record& again);

// What the events do not tell: how launchers and run ended, and what was left.
// One line, "exit code of the launcher: recorded 0, now 7"; "" for no
// difference.
std::string DescribeEndDifference(const Record& recorded, const Record& now);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EVENT_DIFFERENCE_H_
