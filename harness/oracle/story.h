// What happened, for people: faults and what came of them, in order.
#ifndef GAUNTLET_HARNESS_ORACLE_STORY_H_
#define GAUNTLET_HARNESS_ORACLE_STORY_H_

#include <string>
#include <vector>

#include "harness/oracle/outline.h"

namespace gauntlet {

// One line an event, at most 12 and a count of the others: "worker 1, life 1
// step 100  kill-w1: …".
std::vector<std::string> TellStory(const Outline& outline);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_STORY_H_
