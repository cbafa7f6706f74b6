// Coverage goals of runs whose workers rejoin or scale down. The table in
// goals.cc describes the goals.
#ifndef GAUNTLET_HARNESS_EXPLORE_COVERAGE_REJOIN_GOALS_H_
#define GAUNTLET_HARNESS_EXPLORE_COVERAGE_REJOIN_GOALS_H_

#include "harness/explore/coverage/goals.h"

namespace gauntlet {

bool TookASurvivorsStepAhead(const GoalScene& scene);
bool ChiefRejoined(const GoalScene& scene);
bool WentOnWithFewer(const GoalScene& scene);
bool DiedWhileRejoining(const GoalScene& scene);
bool RejoinFellBack(const GoalScene& scene);
bool RejoinedTwice(const GoalScene& scene);
bool MadeUpForASave(const GoalScene& scene);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_COVERAGE_REJOIN_GOALS_H_
