#include "engine/app/train/train_outcome.h"

#include <limits>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TrainOutcome SomeOutcome() {
  TrainOutcome outcome;
  outcome.end.result = TrainResult{.status = "done",
                                   .epochs = 4,
                                   .steps = 256,
                                   .digest = "51d0",
                                   .loss = 0.4127f,
                                   .accuracy = 0.9321,
                                   .val_accuracy = 0.91,
                                   .resumed_from = std::nullopt};
  using std::chrono::milliseconds;
  outcome.end.result->times = {
      .steps = 256,
      .step_parts = {{TimePart::kCompute, milliseconds(1500)},
                     {TimePart::kSave, milliseconds(250)}},
      .saves = 2,
      .save_bytes = 1024,
      .save_parts = {{TimePart::kCopy, milliseconds(250)}},
      .save_background = {{TimePart::kSync, milliseconds(125)}}};
  outcome.seconds = 3.21049;
  return outcome;
}

TEST(TrainOutcomeTest, HasTheSameKeysWhateverHappened) {
  EXPECT_EQ(TrainOutcomeToJson(SomeOutcome()),
            R"({"status":"done","epochs":4,"steps":256,"digest":"51d0",)"
            R"("loss":0.4127,"accuracy":0.9321,"val_accuracy":0.91,)"
            R"("restarts":0,"finite":true,"first_nonfinite_step":null,)"
            R"("resumed_from":null,"seconds":3.21,)"
            R"("times":{"steps":256,)"
            R"("step_seconds":{"compute":1.5,"save":0.25},)"
            R"("saves":2,"save_bytes":1024,"save_seconds":{"copy":0.25},)"
            R"("save_background_seconds":{"sync":0.125}}})");
  TrainOutcome failed;
  failed.end.restarts = 3;
  failed.end.reason = "worker 1 \"failed\"\n";
  EXPECT_EQ(TrainOutcomeToJson(failed),
            R"({"status":"failed","epochs":null,"steps":null,"digest":null,)"
            R"("loss":null,"accuracy":null,"val_accuracy":null,)"
            R"("restarts":3,"finite":null,"first_nonfinite_step":null,)"
            R"("resumed_from":null,"seconds":0.0,"times":null,)"
            R"("reason":"worker 1 \"failed\"\n"})");
}

TEST(TrainOutcomeTest, RefusalOfInvalidCheckpoints_NamesTheWaysOut) {
  LaunchEnd end;
  end.exit_code = 7;
  end.reason =
      "worker 0 exited with code 7: ck: there are checkpoints and none is "
      "valid: step-000000024-g1: MANIFEST.json: torn";
  EXPECT_EQ(ReasonWithAdvice(end),
            end.reason +
                ". To start from scratch, use another checkpoint directory "
                "(--ckpt), or --allow-cold-start");
  TrainOutcome outcome;
  outcome.end = end;
  EXPECT_EQ(TrainOutcomeToJson(outcome).find("--allow-cold-start"),
            std::string::npos);
  end.exit_code = 1;
  EXPECT_EQ(ReasonWithAdvice(end), end.reason) << "training failed later";
}

TEST(TrainOutcomeTest, OtherRefusals_HaveNoAdviceOfTheirOwn) {
  for (const char* reason :
       {"", "ck: deleted under this run",
        "step-000000024-g1: numerics version 1 in the checkpoint, 2 now"}) {
    LaunchEnd end;
    end.exit_code = 7;
    end.reason = reason;
    EXPECT_EQ(ReasonWithAdvice(end), reason);
  }
}

TEST(TrainOutcomeTest, FigureThatIsNotANumberIsNull) {
  TrainOutcome outcome = SomeOutcome();
  outcome.end.result->loss = std::numeric_limits<float>::quiet_NaN();
  outcome.end.result->resumed_from = 128;
  const std::string json = TrainOutcomeToJson(outcome);
  EXPECT_NE(json.find(R"("loss":null)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("resumed_from":128)"), std::string::npos) << json;
}

TEST(TrainOutcomeTest, StoppedRun_ReportsTheSavedStepAndHowToResume) {
  TrainOutcome outcome;
  outcome.end.result = TrainResult{.status = "stopped", .steps = 10};
  outcome.end.exit_code = 143;
  TrainOptions options;
  EXPECT_EQ(ResumeText(outcome, options),
            "no checkpoint is saved: there is no --ckpt DIR");
  options.checkpoint.directory = "ckpt";
  EXPECT_EQ(ResumeText(outcome, options),
            "step 10 is saved in ckpt; the same command resumes there");
  options.horizon.stop_at_step = 10;
  EXPECT_EQ(ResumeText(outcome, options),
            "step 10 is saved in ckpt; the next run without --stop-at-step "
            "resumes there");
  outcome.end.exit_code = 75;  // no disk space for the save
  EXPECT_EQ(ResumeText(outcome, options), "");
  outcome.end.exit_code = 0;
  EXPECT_EQ(ResumeText(outcome, options), "");
}

TEST(TrainOutcomeTest, ReportsACheckpointBeyondTheHorizon) {
  TrainOutcome outcome;
  outcome.end.result = TrainResult{
      .status = "done", .epochs = 4, .steps = 741, .resumed_from = 741};
  TrainOptions options;
  options.checkpoint.directory = "ckpt";
  options.horizon = {.epochs = 10, .max_steps = 10};
  EXPECT_EQ(BeyondHorizonText(outcome, options),
            "ckpt is at step 741, beyond the 10 steps requested: nothing was "
            "trained");
  options.horizon = {.epochs = 3};
  EXPECT_EQ(BeyondHorizonText(outcome, options),
            "ckpt is at step 741, beyond the 3 epochs requested: nothing was "
            "trained");
  options.horizon = {.epochs = 4, .max_steps = 741};
  EXPECT_EQ(BeyondHorizonText(outcome, options), "");
  options.horizon = {.epochs = 3};
  outcome.end.result->resumed_from = 10;
  EXPECT_EQ(BeyondHorizonText(outcome, options), "") << "it trained";
}

// A run that is stopped before its first step has measured nothing.
TEST(TrainOutcomeTest, OmitsUnmeasuredFigures) {
  TrainOutcome outcome;
  outcome.end.result = TrainResult{.status = "stopped", .digest = "51d0"};
  EXPECT_EQ(TrainOutcomeToText(outcome),
            "stopped  0 epochs completed, 0 steps, 0.0 s, state 51d0");
  EXPECT_EQ(TrainOutcomeToJson(outcome),
            R"({"status":"stopped","epochs":0,"steps":0,"digest":"51d0",)"
            R"("loss":null,"accuracy":null,"val_accuracy":null,"restarts":0,)"
            R"("finite":true,"first_nonfinite_step":null,)"
            R"("resumed_from":null,"seconds":0.0,)"
            R"("times":{"steps":0,"step_seconds":{},"saves":0,"save_bytes":0,)"
            R"("save_seconds":{},"save_background_seconds":{}}})");
}

// The sign of a NaN is not shown: it depends on the hardware that computed it.
TEST(TrainOutcomeTest, ReportsTheFirstStepThatWasNotFinite) {
  TrainOutcome outcome = SomeOutcome();
  TrainResult& result = *outcome.end.result;
  result.status = "not_finite";
  result.loss = -std::numeric_limits<float>::quiet_NaN();
  result.finite = false;
  result.not_finite_since = 200;
  EXPECT_EQ(
      TrainOutcomeToText(outcome),
      "stopped  4 epochs completed, 256 steps, loss nan, accuracy 0.9321, "
      "val_accuracy 0.9100, non-finite since step 200, 3.2 s, state 51d0");
  const std::string json = TrainOutcomeToJson(outcome);
  EXPECT_NE(json.find(R"("status":"not_finite")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("finite":false,"first_nonfinite_step":200)"),
            std::string::npos)
      << json;
}

TEST(TrainOutcomeTest, IsOneLineForPeople) {
  TrainOutcome outcome = SomeOutcome();
  EXPECT_EQ(
      TrainOutcomeToText(outcome),
      "done     4 epochs completed, 256 steps, loss 0.4127, accuracy 0.9321, "
      "val_accuracy 0.9100, 3.2 s, state 51d0");
  outcome.end.result->resumed_from = 128;
  outcome.end.restarts = 1;
  EXPECT_EQ(
      TrainOutcomeToText(outcome),
      "done     4 epochs completed, 256 steps, loss 0.4127, accuracy 0.9321, "
      "val_accuracy 0.9100, resumed from step 128, 1 restart, 3.2 s, state "
      "51d0");
}

}  // namespace
}  // namespace gauntlet
