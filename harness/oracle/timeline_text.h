// Timeline of a run for people: faults and their effects, in order.
#ifndef GAUNTLET_HARNESS_ORACLE_TIMELINE_TEXT_H_
#define GAUNTLET_HARNESS_ORACLE_TIMELINE_TEXT_H_

#include <string>
#include <vector>

#include "harness/oracle/history/outline.h"

namespace gauntlet {

// Returns one line per event, such as "worker 1, incarnation 1  step 100
// kill-w1: …". An event that repeats has one line for all its repetitions: "…
// (38 times until 12.400s)". If there are more than 13 lines, a single line
// with the number of left-out events replaces those in the middle.
std::vector<std::string> TimelineText(const Outline& outline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_TIMELINE_TEXT_H_
