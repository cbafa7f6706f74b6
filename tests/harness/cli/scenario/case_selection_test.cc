#include "harness/cli/scenario/case_selection.h"

#include <gtest/gtest.h>

#include "harness/scenario/scenario.h"
#include "harness/scenario/writer/write_scenario.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

LoadedFile Job() {
  return LoadScenarios(SmallScenario("expect: {outcome: completes}\n", "job"),
                       "job.yaml");
}

LoadedFile Trainer() {
  return LoadScenarios(
      "schema: gauntlet/v2\nname: trainer\ntrainer:\n"
      "  command: [train, '{out}']\n"
      "  faults: [{do: kill, at: {file: a}}]\n"
      "expect: {outcome: recovers}\n",
      "trainer.yaml");
}

const char* Unset(const char*) { return nullptr; }

TEST(CaseSelectionTest, CaseWithATrainer_CountsInOneWorld) {
  const std::vector<Case> cases = {Job().cases[0], Trainer().cases[0]};
  const auto select = [&](WorldChoice world) {
    return *SelectCases({.world = world, .repeat = 2}, cases, Unset);
  };
  EXPECT_EQ(select(WorldChoice::kBoth).of, 6U);
  EXPECT_EQ(select(WorldChoice::kBoth).items.size(), 6U);
  EXPECT_EQ(select(WorldChoice::kReal).of, 4U);
  EXPECT_EQ(select(WorldChoice::kSimulated).of, 4U);
}

TEST(CaseSelectionTest, SeedAndDeviceAreForJobsOnly) {
  const LoadedFile job = Job();
  const LoadedFile trainer = Trainer();
  ASSERT_EQ(job.cases.size(), 1U);
  ASSERT_EQ(trainer.cases.size(), 1U);
  const Result<Selection> selection = SelectCases(
      {.world = WorldChoice::kReal, .seed = 7, .device = DeviceKind::kCuda},
      {job.cases[0], trainer.cases[0]}, Unset);
  ASSERT_TRUE(selection.ok()) << selection.status().message();
  ASSERT_EQ(selection->items.size(), 2U);
  const Case& of_job = selection->items[0].one;
  EXPECT_EQ(of_job.seed, 7U);
  EXPECT_EQ(of_job.plan.seed, 7U);
  EXPECT_EQ(of_job.train.kernels.device, DeviceKind::kCuda);
  const Case& of_trainer = selection->items[1].one;
  EXPECT_EQ(DescribeCaseDifference(of_trainer, trainer.cases[0]), "");
  EXPECT_TRUE(WriteScenario(of_trainer, {}).ok());
}

TEST(CaseSelectionTest, LabelInTheStyleOfAnotherTool_SuggestsOurs) {
  Case smoke = Job().cases[0];
  smoke.labels = {"smoke"};
  Case crash = smoke;
  crash.name = "crash";
  crash.labels = {"crash"};
  const std::pair<const char*, const char*> kCases[] = {
      {"!smoke", "; no case has the label '!smoke'; did you mean 'not smoke'?"},
      {"!smok", "; no case has the label '!smok'; write not in place of !"},
      {"smoke,crash",
       "; no case has the label 'smoke,crash'; did you mean 'smoke or "
       "crash'?"},
      {"smok", "; no case has the label 'smok'; did you mean smoke?"}};
  for (const auto& [label, hint] : kCases) {
    const Result<Selection> selection =
        SelectCases({.labels = {label}}, {smoke, crash}, Unset);
    ASSERT_TRUE(selection.ok()) << selection.status().message();
    EXPECT_EQ(selection->hint, hint);
  }
}

}  // namespace
}  // namespace gauntlet
