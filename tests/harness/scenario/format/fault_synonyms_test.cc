#include "harness/scenario/format/fault_synonyms.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/inject/plan/plan.h"
#include "harness/scenario/scenario.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

std::string ScenarioWith(const std::string& fault) {
  return fmt::format(
      "schema: gauntlet/v2\nname: s\njob: {{epochs: 3}}\n"
      "cluster: {{workers: 3, device: emulated}}\n"
      "checkpoint: {{every: {{steps: 5}}}}\nexpect: {{outcome: recovers}}\n"
      "faults: [{{{}}}]\n",
      fault);
}

constexpr const char* kAt = "at: {worker: 1, point: ckpt.shard.write, save: 2}";

LoadedFile LoadFault(const std::string& fault) {
  return LoadScenarios(ScenarioWith(fmt::format("{}, {}", kAt, fault)),
                       "s.yaml");
}

TEST(FaultSynonymsTest, NoNameIsAKindOrThereTwice) {
  for (const FaultSynonym& synonym : AllFaultSynonyms()) {
    EXPECT_FALSE(FindFaultKind(synonym.name)) << synonym.name;
    EXPECT_EQ(AdviceOnFaultName(synonym.name), "") << synonym.name;
    EXPECT_EQ(std::ranges::count(AllFaultSynonyms(), synonym.name,
                                 &FaultSynonym::name),
              1)
        << synonym.name;
  }
}

TEST(FaultSynonymsTest, EveryOneIsReadAsItsKind_WithAWarning) {
  for (const FaultSynonym& synonym : AllFaultSynonyms()) {
    std::string fault = fmt::format("do: {}", synonym.name);
    if (synonym.kind == FaultKind::kSlow || synonym.kind == FaultKind::kDelay) {
      fault += ", with: {latency: 20ms}";
    }
    if (synonym.kind == FaultKind::kPreempt) fault += ", with: {profile: k8s}";
    const LoadedFile loaded = LoadFault(fault);
    ASSERT_EQ(loaded.errors.size(), 0u)
        << synonym.name << ": " << loaded.errors[0].message;
    EXPECT_EQ(loaded.cases[0].plan.faults[0].kind, synonym.kind);
    EXPECT_THAT(loaded.warnings[0].message,
                HasSubstr(fmt::format("'{}' is understood as {}", synonym.name,
                                      FaultKindName(synonym.kind))));
  }
}

struct Meaning {
  std::string word;
  FaultKind kind;
  int error;  // number of `errno`; 0: another kind
};

TEST(FaultSynonymsTest, WordsOfTheFieldHaveTheirMeaning) {
  const std::vector<Meaning> cases = {
      {"oom", FaultKind::kOutOfMemory, 0},
      {"enospc", FaultKind::kErrno, ENOSPC},
      {"ENOSPC", FaultKind::kErrno, ENOSPC},
      {"disk-full", FaultKind::kErrno, ENOSPC},
      {"eio", FaultKind::kErrno, EIO},
      {"sigkill", FaultKind::kKill, 0},
      {"SIGKILL", FaultKind::kKill, 0},
      {"sigterm", FaultKind::kPreempt, 0},
      {"sigstop", FaultKind::kPause, 0},
      {"corrupt", FaultKind::kBitFlip, 0},
      {"power-loss", FaultKind::kPowerLoss, 0},
      {"Torn_Write", FaultKind::kTornWrite, 0},
  };
  for (const Meaning& meaning : cases) {
    const auto found = FindFaultSynonym(meaning.word);
    ASSERT_TRUE(found) << meaning.word;
    EXPECT_EQ(found->kind, meaning.kind) << meaning.word;
    if (meaning.error == 0) continue;
    const LoadedFile loaded = LoadFault("do: " + meaning.word);
    ASSERT_EQ(loaded.cases.size(), 1u) << meaning.word;
    EXPECT_EQ(loaded.cases[0].plan.faults[0].with.error, meaning.error);
  }
}

TEST(FaultSynonymsTest, KindItself_IsNoSynonym) {
  for (const FaultKindInfo& info : AllFaultKinds()) {
    EXPECT_FALSE(FindFaultSynonym(info.name)) << info.name;
  }
  EXPECT_TRUE(LoadFault("do: crash").warnings.empty());
}

TEST(FaultSynonymsTest, ParameterOfTheFile_IsKept) {
  const LoadedFile loaded =
      LoadFault("do: disk_full, with: {error: EDQUOT, consecutive: 2}");
  ASSERT_EQ(loaded.cases.size(), 1u);
  EXPECT_EQ(loaded.cases[0].plan.faults[0].with.error, EDQUOT);
}

TEST(FaultSynonymsTest, AmbiguousWord_IsRefusedWithTheWordsToUse) {
  for (const AmbiguousFaultName& name : AllAmbiguousFaultNames()) {
    const LoadedFile loaded = LoadFault(fmt::format("do: {}", name.name));
    ASSERT_EQ(loaded.errors.size(), 1u) << name.name;
    EXPECT_EQ(loaded.errors[0].hint, name.advice);
  }
}

TEST(FaultSynonymsTest, MistypedWord_GetsTheNearestOrTheList) {
  EXPECT_EQ(LoadFault("do: crahs").errors[0].hint, "did you mean crash?");
  EXPECT_EQ(LoadFault("do: sigkil").errors[0].hint, "did you mean sigkill?");
  EXPECT_EQ(LoadFault("do: xyzzyxyzzy").errors[0].hint,
            "gauntlet help faults lists them");
}

}  // namespace
}  // namespace gauntlet
