#include "engine/app/train/evaluate_command.h"

#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

using testing::HasSubstr;

constexpr EvaluatorLoop kOnce = {.scans = EvaluatorLoop::Scans::kOnce};

class NoticedHost final : public Host {
 public:
  explicit NoticedHost(int interrupts) : interrupts_(interrupts) {}
  std::string Name() const override { return "machine-a"; }
  int TerminationNotices() const override { return 1; }
  std::optional<Time> FirstNotice() const override { return Time(); }
  int Interrupts() const override { return interrupts_; }
  Result<HttpResponse> SendRequest(const HttpRequest&, Time) override {
    return Unavailable("no service here");
  }
  [[noreturn]] void Exit(int /*code*/) override { std::abort(); }

 private:
  const int interrupts_;
};

class EvaluateCommandTest : public testing::Test {
 protected:
  int Evaluate(World& world) {
    return RunEvaluate({.directory = std::string(kStore), .loop = kOnce}, world,
                       console_);
  }

  MemoryStorage storage_;
  TestWorld test_{storage_};
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, TerminalStyle(ColorChoice::kOff, {}),
                   TerminalStyle(ColorChoice::kOff, {})};
};

TEST_F(EvaluateCommandTest, WithoutACheckpointOneLookEndsWithSeven) {
  EXPECT_EQ(Evaluate(test_.world), 7);
  EXPECT_EQ(err_.str(),
            "gauntlet evaluate: /store: no such directory; name the --ckpt of "
            "a training run, or wait for it without --once\n");
  err_.str("");
  ASSERT_TRUE(storage_.MakeDirectory("/store").ok());
  EXPECT_EQ(Evaluate(test_.world), 7);
  EXPECT_EQ(err_.str(),
            "gauntlet evaluate: /store: no checkpoint can be loaded\n");
}

TEST_F(EvaluateCommandTest, DirectoryInPlaceOfTheStateFile_EndsItByName) {
  ASSERT_TRUE(storage_.MakeDirectory("/store").ok());
  ASSERT_TRUE(storage_.MakeDirectory("/store/checkpoint").ok());
  EXPECT_EQ(Evaluate(test_.world), 2);
  EXPECT_EQ(err_.str(),
            "gauntlet evaluate: /store/checkpoint: expected a file, found a "
            "directory; remove it\n");
}

TEST_F(EvaluateCommandTest, NoticeEndsItWithItsOwnCode) {
  const std::pair<int, std::string> kCases[] = {
      {0, "stopped by a preemption notice"}, {1, "interrupted"}};
  for (const auto& [interrupts, line] : kCases) {
    NoticedHost host(interrupts);
    World world = {test_.clock, storage_,     test_.network, test_.tasks,
                   host,        test_.faults, test_.events,  test_.entropy};
    err_.str("");
    EXPECT_EQ(Evaluate(world), 143);
    EXPECT_EQ(err_.str(), "gauntlet evaluate: " + line + "\n");
  }
}

TEST_F(EvaluateCommandTest, UnreadableJob_IsBadInput_AndItsCheckpointIsNamed) {
  CheckpointStore store = OpenStore(test_.world);
  ASSERT_TRUE(store.ClaimGeneration(std::string(kJob)).ok());
  ASSERT_TRUE(Save(store, 1, 1).ok());
  EXPECT_EQ(Evaluate(test_.world), 2);
  EXPECT_THAT(err_.str(), HasSubstr("gauntlet evaluate: step-000000001-g1: "));
}

TEST_F(EvaluateCommandTest, CurvesInTheStore_AreRefused) {
  EXPECT_EQ(RunEvaluate({.directory = std::string(kStore),
                         .summary_directory = std::string(kStore) + "/curves",
                         .loop = kOnce},
                        test_.world, console_),
            2);
  EXPECT_THAT(err_.str(), HasSubstr("--tensorboard"));
}

TEST(EvaluationTextTest, OneLineHasAllOfIt) {
  Evaluation one = {.checkpoint = "step-000000012-g1",
                    .step = 12,
                    .epoch = 2,
                    .loss = 0.5f,
                    .correct = 24,
                    .samples = 32};
  EXPECT_EQ(
      EvaluationToText(one),
      "2 epochs completed  step 12  val_loss 0.5000  val_accuracy 0.7500  "
      "step-000000012-g1");
  EXPECT_EQ(EvaluationToJson(one),
            R"({"checkpoint":"step-000000012-g1","epoch":2,"step":12,)"
            R"("val_loss":0.5,"val_accuracy":0.75,"correct":24,"rows":32,)"
            R"("finite":true})");
  one.loss = -std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(EvaluationToJson(one), HasSubstr(R"("val_loss":null)"));
  EXPECT_THAT(EvaluationToJson(one), HasSubstr(R"("finite":false)"));
  EXPECT_THAT(EvaluationToText(one), HasSubstr("val_loss nan"));
}

}  // namespace
}  // namespace gauntlet
