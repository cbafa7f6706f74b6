#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_TEST_JSON_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_TEST_JSON_H_

#include <string>

#include "harness/trainer/verdict/crash_test_result.h"

namespace gauntlet {

// Returns JSON that docs/schemas/crash-test.schema.json describes.
std::string CrashTestResultToJson(const CrashTestResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_CRASH_TEST_JSON_H_
