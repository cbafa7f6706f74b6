#include "engine/app/train/train_progress.h"

#include <chrono>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/engine/cli/terminal/set_clock.h"

namespace gauntlet {
namespace {

using std::chrono::milliseconds;

constexpr TerminalFacts kTerminal = {.is_terminal = true, .utf8 = true};

TerminalStyle Terminal() { return {ColorChoice::kOff, kTerminal}; }
TerminalStyle PlainFile() { return {ColorChoice::kOff, TerminalFacts()}; }

ProgressFacts SomeFacts() {
  return {.epoch = 2,
          .epochs = 4,
          .step = 151,
          .steps = 256,
          .loss = 0.41274f,
          .samples_per_second = 1912.4,
          .samples_per_step = 64.0};
}

TrainCommand FourEpochs() {
  TrainCommand command;
  command.options.horizon.epochs = 4;
  command.options.job.replicas = 2;
  command.options.job.batch = 16;
  return command;
}

WorkerProgress At(uint64_t step, uint64_t epoch) {
  return {.step = step,
          .epoch = epoch,
          .steps_per_epoch = 10,
          .loss = 0.5f,
          .line = ""};
}

TEST(RenderProgressTest, GivesABarOnATerminal) {
  TerminalFacts wide = kTerminal;
  wide.columns = 120;
  EXPECT_EQ(RenderProgress(SomeFacts(), TerminalStyle(ColorChoice::kOff, wide)),
            "epoch 3/4  step 151/256  ███████████▊          58%  loss 0.4127  "
            "1912 samples/s  eta 0:04");
}

TEST(RenderProgressTest, DrawsTheBarWithHashes_IfTheEncodingHasNoBlocks) {
  TerminalFacts ascii = kTerminal;
  ascii.utf8 = false;
  EXPECT_EQ(
      RenderProgress(SomeFacts(), TerminalStyle(ColorChoice::kOff, ascii)),
      "epoch 3/4  step 151/256  ###########           58%  loss 0.4127  "
      "1912 samples/s");
}

TEST(RenderProgressTest, OmitsParts_IfTheLineIsTooShort) {
  TerminalFacts narrow = kTerminal;
  narrow.columns = 26;
  EXPECT_EQ(
      RenderProgress(SomeFacts(), TerminalStyle(ColorChoice::kOff, narrow)),
      "epoch 3/4  step 151/256");
}

TEST(RenderProgressTest, HasNoBarOffATerminal) {
  EXPECT_EQ(RenderProgress(SomeFacts(), PlainFile()),
            "epoch 3/4  step 151/256  58%  loss 0.4127  1912 samples/s  "
            "eta 0:04");
}

TEST(RenderProgressTest, OmitsUnknownParts) {
  const ProgressFacts facts = {
      .epoch = 0, .epochs = 2, .step = 3, .loss = 1.0f};
  EXPECT_EQ(RenderProgress(facts, PlainFile()),
            "epoch 1/2  step 3  loss 1.0000");
}

TEST(RenderProgressTest, HasNoLossBeforeTheFirstStep) {
  const ProgressFacts facts = {.epochs = 2, .steps = 12};
  EXPECT_EQ(RenderProgress(facts, PlainFile()), "epoch 1/2  step 0/12  0%");
}

TEST(TrainProgressTest, LineWithoutAStepKeepsTheLoss) {
  SetClock clock;
  std::ostringstream out;
  TrainProgress progress(clock, FourEpochs(), out, PlainFile());
  progress.Progress({.steps_per_epoch = 10, .line = "resumed"});
  clock.now += std::chrono::seconds(20);
  progress.Progress(At(3, 0));
  clock.now += std::chrono::seconds(20);
  progress.Progress(
      {.step = 4, .steps_per_epoch = 10, .line = "save of step 4 failed"});
  EXPECT_EQ(out.str().find("0.0000"), std::string::npos) << out.str();
  EXPECT_NE(out.str().rfind("step 4/40  10%  loss 0.5000"), std::string::npos)
      << out.str();
}

TEST(RenderProgressTest, LastEpochIsNotFollowedByAnother) {
  const ProgressFacts facts = {
      .epoch = 4, .epochs = 4, .step = 40, .steps = 40, .loss = 0.25f};
  EXPECT_EQ(RenderProgress(facts, PlainFile()),
            "epoch 4/4  step 40/40  100%  loss 0.2500");
}

TEST(TrainProgressTest, RewritesOneLineAtMostTenTimesASecond) {
  SetClock clock;
  std::ostringstream out;
  TrainProgress progress(clock, FourEpochs(), out, Terminal());
  for (uint64_t step = 1; step <= 5; ++step) {
    progress.Progress(At(step, 0));
    clock.now += milliseconds(50);
  }
  progress.Clear();
  const std::string text = out.str();
  const auto drawn = std::count(text.begin(), text.end(), '\r');
  EXPECT_EQ(drawn, 3 + 1);  // at 0, 100 and 200 ms, and cleared
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
}

TEST(TrainProgressTest, WritesPlainLinesAtEpochsAndEachTenSecondsElsewhere) {
  SetClock clock;
  std::ostringstream out;
  TrainProgress progress(clock, FourEpochs(), out, PlainFile());
  progress.Progress(At(1, 0));
  clock.now += milliseconds(1000);
  progress.Progress(At(6, 0));
  clock.now += milliseconds(1000);
  progress.Progress(At(10, 1));
  clock.now += milliseconds(10'000);
  progress.Progress(At(11, 1));
  EXPECT_EQ(
      out.str(),
      "epoch 1/4  step 1/40  2%  loss 0.5000\n"
      "epoch 2/4  step 10/40  25%  loss 0.5000  144 samples/s  eta 0:07\n"
      "epoch 2/4  step 11/40  27%  loss 0.5000  27 samples/s  eta 0:35\n");
}

TEST(TrainProgressTest, EpochWithALineOfItsOwnHasNoOtherPlainLine) {
  SetClock clock;
  std::ostringstream out;
  TrainProgress progress(clock, FourEpochs(), out, PlainFile());
  progress.Progress(At(1, 0));
  WorkerProgress end = At(10, 1);
  end.line = "epoch 1/4  step 10";
  progress.Progress(end);
  progress.Progress(At(11, 1));
  EXPECT_EQ(out.str(),
            "epoch 1/4  step 1/40  2%  loss 0.5000\nepoch 1/4  step 10\n");
  clock.now += milliseconds(10'000);
  progress.Progress(At(12, 1));
  EXPECT_TRUE(out.str().ends_with("samples/s  eta 0:26\n")) << out.str();
}

TEST(TrainProgressTest, KeepsMessagesAboveTheRewrittenLine) {
  SetClock clock;
  std::ostringstream out;
  TrainProgress progress(clock, FourEpochs(), out, Terminal());
  progress.Progress(At(1, 0));
  WorkerProgress message = At(2, 0);
  message.line = "saved    step 2";
  progress.Progress(message);
  EXPECT_TRUE(out.str().ends_with("\r\x1b[Ksaved    step 2\n")) << out.str();
}

TEST(TrainProgressTest, MeasuresSpeedAgainAfterARestart) {
  SetClock clock;
  std::ostringstream out;
  TrainProgress progress(clock, FourEpochs(), out, PlainFile());
  progress.Progress(At(9, 0));
  progress.Restarting(1, "worker 1 was killed by signal 9", milliseconds(100));
  clock.now += milliseconds(60'000);
  progress.Progress(At(5, 0));
  EXPECT_EQ(out.str(),
            "epoch 1/4  step 9/40  22%  loss 0.5000\n"
            "restart 1 in 0.1 s: worker 1 was killed by signal 9\n"
            "epoch 1/4  step 5/40  12%  loss 0.5000\n");
}

TEST(TrainProgressTest, WithoutProgressARestartIsStillALine) {
  SetClock clock;
  std::ostringstream out;
  TrainCommand command = FourEpochs();
  command.progress = ProgressChoice::kOff;
  TrainProgress progress(clock, command, out, Terminal());
  progress.Progress(At(1, 0));
  EXPECT_EQ(out.str(), "");
  progress.Restarting(1, "lost", milliseconds(100));
  progress.Clear();
  EXPECT_EQ(out.str(), "restart 1 in 0.1 s: lost\n");
}

TEST(TrainProgressTest, LimitOnSteps_LimitsTheShownEpochs) {
  SetClock clock;
  std::ostringstream out;
  TrainCommand command = FourEpochs();
  command.options.horizon = {.epochs = 25, .max_steps = 25};
  TrainProgress progress(clock, command, out, PlainFile());
  progress.Progress(At(5, 0));
  EXPECT_EQ(out.str(), "epoch 1/3  step 5/25  20%  loss 0.5000\n");
}

}  // namespace
}  // namespace gauntlet
