#include "harness/trainer/verdict/crash_test_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

TEST(CrashTestJsonTest, IsCompleteOnlyIfAllCrashesWereTried) {
  struct Case {
    TrialsEnd end;
    bool complete;
    bool interrupted;
  };
  for (const auto& [end, complete, interrupted] :
       {Case{TrialsEnd::kAllTried, true, false},
        Case{TrialsEnd::kLimit, false, false},
        Case{TrialsEnd::kInterrupted, false, true},
        Case{TrialsEnd::kError, false, false}}) {
    CrashTestResult result;
    result.trials_end = end;
    const auto json = nlohmann::json::parse(CrashTestResultToJson(result));
    EXPECT_EQ(json.at("complete"), complete) << static_cast<int>(end);
    EXPECT_EQ(json.at("interrupted"), interrupted) << static_cast<int>(end);
  }
}

}  // namespace
}  // namespace gauntlet
