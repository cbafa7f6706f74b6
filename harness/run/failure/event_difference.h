// Finds the first event in which a run differs from the record of an earlier
// run.
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
  int worker = 0;      // worker, incarnation and step of the event
  int incarnation = 0;
  uint64_t step = 0;
  std::string recorded;  // "step 11, epoch 1, digest 6a01…"; "" if missing
  std::string now;       // event of the repeated run; "" if missing
};

// Returns nullopt if all events are equal. For simulated runs only, as times
// are compared too.
std::optional<EventDifference> FirstEventDifference(const Record& recorded,
                                                    const Record& now);

// Returns "event 17 (worker 1, incarnation 2, step 11): recorded …, now …".
std::string DescribeDifference(const EventDifference& difference);

// Describes how two simulated runs of one plan differ. Names the first event
// that differs or, if there is none, states that all events are equal.
// REQUIRES: the event digests of the runs differ.
std::string DescribeNondeterminism(const Record& first, const Record& again);

// Describes a difference outside the events: the ends of launchers and run, or
// the files and processes left. One line, such as "exit code of the launcher:
// recorded 0, now 7"; "" if there is no difference.
std::string DescribeEndDifference(const Record& recorded, const Record& now);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_EVENT_DIFFERENCE_H_
