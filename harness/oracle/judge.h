// The oracle: a record in, a verdict out. Pure.
#ifndef GAUNTLET_HARNESS_ORACLE_JUDGE_H_
#define GAUNTLET_HARNESS_ORACLE_JUDGE_H_

#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// What the verdict means is said on top of judge.cc.
Verdict Judge(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_JUDGE_H_
