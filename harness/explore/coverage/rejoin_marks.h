// Coverage goals of runs whose workers rejoin or scale down. The table in
// marks.cc describes the goals.
#ifndef GAUNTLET_HARNESS_EXPLORE_COVERAGE_REJOIN_MARKS_H_
#define GAUNTLET_HARNESS_EXPLORE_COVERAGE_REJOIN_MARKS_H_

#include "harness/explore/coverage/marks.h"

namespace gauntlet {

bool TookASurvivorsStepAhead(const MarkScene& scene);
bool ChiefRejoined(const MarkScene& scene);
bool WentOnWithFewer(const MarkScene& scene);
bool DiedWhileRejoining(const MarkScene& scene);
bool RejoinFellBack(const MarkScene& scene);
bool RejoinedTwice(const MarkScene& scene);
bool MadeUpForASave(const MarkScene& scene);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_COVERAGE_REJOIN_MARKS_H_
