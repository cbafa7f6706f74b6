// Finds the first event in which a run differs from the record of an earlier
// one.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_EVENT_DIFFERENCE_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_EVENT_DIFFERENCE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "harness/record/record.h"

namespace gauntlet {

// First event that differs, in the order of time over all workers.
struct EventDifference {
  uint64_t index = 0;  // in that order, from 0
  int worker = 0;      // worker and place of the event
  int life = 0;
  uint64_t step = 0;
  std::string recorded;  // "step 11, epoch 1, digest 6a01…"; "" for none
  std::string now;       // likewise
};

// Only for simulated runs: times are compared too. nullopt: all events are
// equal.
std::optional<EventDifference> FirstEventDifference(const Record& recorded,
                                                    const Record& now);

// "event 17 (worker 1, life 2, step 11): recorded …, now …".
std::string DescribeDifference(const EventDifference& difference);

// Describes how two simulated runs of one plan differ if their event digests
// do: the first event that differs, or that no event does.
std::string DescribeNondeterminism(const Record& first, const Record& again);

// Describes a difference outside the events: the ends of launchers and run, and
// the files and processes left. One line, "exit code of the launcher: recorded
// 0, now 7"; "": no difference.
std::string DescribeEndDifference(const Record& recorded, const Record& now);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_EVENT_DIFFERENCE_H_
