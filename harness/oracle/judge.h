// The judge: a pure function from records to verdicts.
#ifndef GAUNTLET_HARNESS_ORACLE_JUDGE_H_
#define GAUNTLET_HARNESS_ORACLE_JUDGE_H_

#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Judges the run of the record. The comment at the top of judge.cc lists the
// verdicts and the conditions for each.
Verdict Judge(const Record& record);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_JUDGE_H_
