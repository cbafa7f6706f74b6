// Timeline of a run for people: faults and their effects, in order.
#ifndef GAUNTLET_HARNESS_ORACLE_TIMELINE_TEXT_H_
#define GAUNTLET_HARNESS_ORACLE_TIMELINE_TEXT_H_

#include <string>
#include <vector>

#include "harness/oracle/history/outline.h"

namespace gauntlet {

// Returns one line per event, such as "worker 1, incarnation 1  step 100
// kill-w1: …", or per repeated event: "… (38 times until 12.400s)". If there
// are more than 13 lines, those in the middle become one, with the number of
// their events.
std::vector<std::string> TimelineText(const Outline& outline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_TIMELINE_TEXT_H_
