// The judge: a pure function from records to verdicts.
#ifndef GAUNTLET_HARNESS_ORACLE_JUDGE_H_
#define GAUNTLET_HARNESS_ORACLE_JUDGE_H_

#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// The head of judge.cc defines the verdicts.
Verdict Judge(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_JUDGE_H_
