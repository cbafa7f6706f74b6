// The `trainer` of a scenario, and mistakes in it.
#include "harness/scenario/trainer_setup.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/trace/log/file_operation.h"
#include "harness/scenario/format/keys.h"
#include "harness/scenario/requirements.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/writer/write_scenario.h"
#include "harness/trainer/run/crash_trial.h"

namespace gauntlet {
namespace {

constexpr const char* kHead = "schema: gauntlet/v2\nname: a\n";
constexpr const char* kExpect = "expect: {outcome: recovers}\n";

std::string WithTrainer(const std::string& trainer) {
  return kHead + ("trainer: {" + trainer + "}\n") + kExpect;
}

std::string FirstErrorOf(const std::string& text) {
  const LoadedFile loaded = LoadScenarios(text, "s.yaml");
  return loaded.errors.empty() ? "" : loaded.errors.front().message;
}

TEST(TrainerSetupTest, ReadsAllKeys) {
  const LoadedFile loaded = LoadScenarios(R"(schema: gauntlet/v2
name: a
labels: [mine]
trainer:
  command: [python3, train.py, --out, '{out}', --a, 1, --b, 1]
  resume: [python3, train.py, --resume]
  result: final.safetensors
  result_command: sha256sum {out}/final
  checkpoint: ['ckpt-*', 'last']
  step_regex: 'step (\d+)'
  network: shared
  grace: 2s
  pause: 300ms
  trial_limit: 1m
  faults:
    - {do: power, profile: weak, at: {file: 'ckpt-*', operation: rename, occurrence: 2, rank: 1}}
    - {do: kill, at: {operation: sync}}
expect: {outcome: recovers}
)",
                                          "s.yaml");
  ASSERT_EQ(loaded.errors.size(), 0U) << loaded.errors[0].message;
  const TrainerSetup& setup = *loaded.cases.at(0).trainer;
  EXPECT_EQ(setup.command.size(), 8U);
  EXPECT_EQ(setup.resume.back(), "--resume");
  EXPECT_THAT(setup.results, testing::ElementsAre("final.safetensors"));
  EXPECT_THAT(setup.checkpoints, testing::ElementsAre("ckpt-*", "last"));
  EXPECT_EQ(setup.step_pattern, "step (\\d+)");
  EXPECT_TRUE(setup.has_shared_network);
  EXPECT_EQ(setup.grace, std::chrono::seconds(2));
  EXPECT_EQ(setup.pause, std::chrono::milliseconds(300));
  EXPECT_EQ(setup.trial_limit, std::chrono::minutes(1));
  ASSERT_EQ(setup.faults.size(), 2U);
  EXPECT_EQ(setup.faults[0].kind, "power");
  EXPECT_EQ(setup.faults[0].profile, "weak");
  EXPECT_EQ(setup.faults[0].file, "ckpt-*");
  EXPECT_EQ(setup.faults[0].operation, "rename");
  EXPECT_EQ(setup.faults[0].occurrence, 2U);
  EXPECT_EQ(setup.faults[0].rank, 1U);
  EXPECT_EQ(setup.faults[1].file, "*");

  const Result<std::string> written = WriteScenario(loaded.cases.at(0), {});
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  const LoadedFile again = LoadScenarios(*written, "s.yaml");
  ASSERT_EQ(again.errors.size(), 0U) << again.errors[0].message << *written;
  EXPECT_EQ(DescribeCaseDifference(loaded.cases.at(0), again.cases.at(0)), "");
  Case other = again.cases.at(0);
  other.trainer->faults[1].occurrence = 3;
  EXPECT_NE(DescribeCaseDifference(loaded.cases.at(0), other), "");
}

TEST(TrainerSetupTest, RefusesMeaninglessSetups) {
  const std::string command = "command: [a, '{out}']";
  const std::string faults = "faults: [{do: kill, at: {file: a}}]";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {WithTrainer(faults), "expected a `command`"},
      {WithTrainer("command: [a], " + faults),
       "expected an argument with {out}, the directory that the program writes "
       "to, found none"},
      {WithTrainer(command), "expected `faults`: crashes to come back from"},
      {WithTrainer(command + ", faults: []"),
       "expected `faults`: crashes to come back from"},
      {WithTrainer(command + ", faults: [{at: {file: a}}]"), "expected a `do`"},
      {WithTrainer(command + ", step_regex: 'step \\d+', " + faults),
       "expected an expression with one group, such as 'from step (\\d+)', "
       "found 0 groups"},
      {WithTrainer(command + ", faults: [{do: kill}]"),
       "expected an `at`: the operation of the crash"},
      {WithTrainer(command + ", faults: [{do: burn, at: {file: a}}]"),
       "unknown do 'burn'"},
      {WithTrainer(command +
                   ", faults: [{do: kill, profile: weak, at: {file: a}}]"),
       "expected with `do: power` only"},
      {WithTrainer(command + ", " + faults) + "job: {seed: 1}\n",
       "`job` describes Gauntlet's own training job: not allowed beside "
       "`trainer`"},
      {kHead + ("trainer: {" + command + ", " + faults + "}\n") +
           "expect: {outcome: recovers, exit_code: 1}\n",
       "expected `outcome: recovers` and nothing else, as the program is not "
       "Gauntlet's own training job"},
      {kHead + ("trainer: {" + command + ", " + faults + "}\n"),
       "expected `outcome: recovers` and nothing else, as the program is not "
       "Gauntlet's own training job"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_EQ(FirstErrorOf(text), message) << text;
}

TEST(TrainerSetupTest, RefusesABrokenStepRegex) {
  EXPECT_THAT(
      FirstErrorOf(WithTrainer("command: [a, '{out}'], step_regex: '(', "
                               "faults: [{do: kill, at: {file: a}}]")),
      testing::StartsWith("expected a regular expression with one group: "));
}

TEST(TrainerSetupTest, Names_EqualThoseOfCrashTest) {
  EXPECT_THAT(ChoicesOf(*FindKey("trainer.faults.do")),
              testing::ElementsAreArray(kCrashFaultNames));
  std::vector<std::string> operations;
  for (int i = 0; i <= static_cast<int>(kLastOperationKind); ++i) {
    const auto kind = static_cast<OperationKind>(i);
    // kEnter is not an operation of the program.
    if (IsCrashPoint(kind) && kind != OperationKind::kEnter)
      operations.emplace_back(OperationKindName(kind));
  }
  EXPECT_EQ(ChoicesOf(*FindKey("trainer.faults.at.operation")), operations);
}

TEST(TrainerSetupTest, IsSkippedInSimulatedWorld) {
  const LoadedFile loaded = LoadScenarios(
      WithTrainer("command: [a, '{out}'], faults: [{do: kill, at: {file: a}}]"),
      "s.yaml");
  const Case& one = loaded.cases.at(0);
  EXPECT_EQ(WhyNotHere(one, CapabilitiesOf(WorldKind::kSimulated)),
            "a training program of your own runs in real processes only");
  EXPECT_EQ(WhyNotHere(one, CapabilitiesOf(WorldKind::kReal)), "");
}

}  // namespace
}  // namespace gauntlet
