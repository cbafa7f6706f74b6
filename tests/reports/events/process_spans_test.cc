#include "reports/events/process_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/events/causes.h"
#include "reports/html/picture/swim_lane.h"
#include "reports/trace/chrome_trace.h"
#include "tests/reports/sample_record.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;

RecordEvent EndOfWorker1(int64_t t_ns, RecordReason reason, int64_t count) {
  return {.kind = RecordKind::kProcessEnded,
          .t_ns = t_ns,
          .count = count,
          .about = 1,
          .incarnation = 1,
          .reason = reason};
}

int64_t Begin(const Record& record) {
  return record.incarnations[0].events[0].t_ns;
}

TEST(ProcessSpansTest, OwnExitCounts_MoreThanAReport) {
  const ProcessSpan span = ProcessSpansOf(SampleRecord())[0];
  EXPECT_EQ(span.end, ProcessEnd::kErrorCode);
  EXPECT_EQ(span.ending, "exited with code 75");
}

TEST(ProcessSpansTest, EndSeenByTheMachineOutranksTheLaunchers) {
  Record record = SampleRecord();
  record.machine = {
      EndOfWorker1(Begin(record) + 33 * kMs, RecordReason::kSignal, 128 + 9)};
  record.launchers[0].events = {
      EndOfWorker1(Begin(record) + 50 * kMs, RecordReason::kExited, 1)};
  record.launchers[0].events[0].kind = RecordKind::kExited;
  const ProcessSpan span = ProcessSpansOf(record)[2];
  EXPECT_EQ(span.end, ProcessEnd::kDeath);
  EXPECT_EQ(span.ending, "was killed by signal 9");
  EXPECT_EQ(span.end_ns, Begin(record) + 33 * kMs);
}

TEST(ProcessSpansTest, UnreachableProcess_EndsWithItsLastEvent) {
  Record record = SampleRecord();
  record.machine = {
      EndOfWorker1(Begin(record) + 90 * kMs, RecordReason::kUnreachable, 0)};
  const ProcessSpan span = ProcessSpansOf(record)[2];
  EXPECT_EQ(span.end_ns, record.incarnations[2].events.back().t_ns);
  EXPECT_EQ(span.ending, "is out of reach");
}

// The machine does not report which run of the launcher a process belonged to.
TEST(ProcessSpansTest, KilledLauncher_EndsAsTheMachineReports) {
  Record record = SampleRecord();
  const auto end = [&](int64_t ms, RecordReason reason, int64_t count) {
    RecordEvent event = EndOfWorker1(Begin(record) + ms * kMs, reason, count);
    event.about = kLauncherWorker;
    event.incarnation = 0;
    return event;
  };
  record.machine = {end(33, RecordReason::kSignal, 128 + 9),
                    end(95, RecordReason::kSignal, 128 + 15)};
  const LauncherRun run = {.events = {{.kind = RecordKind::kLauncherBegin,
                                       .t_ns = Begin(record) + kMs}}};
  record.launchers = {run, run};
  record.launchers[1].events[0].t_ns = Begin(record) + 45 * kMs;
  record = WithLaunchers(record);
  const std::vector<ProcessSpan> spans = ProcessSpansOf(record);
  EXPECT_EQ(spans[4].end_ns, Begin(record) + 33 * kMs);
  EXPECT_EQ(spans[4].ending, "was killed by signal 9");
  EXPECT_EQ(spans[5].end_ns, Begin(record) + 95 * kMs);
  EXPECT_EQ(spans[5].ending, "was killed by signal 15");
}

// Returns the end of worker 1 in a run that the harness ended. The last event
// of worker 1 is that `fault` fired.
ProcessEnd EndAfter(const RecordFault& fault) {
  Record record = SampleRecord();
  record.ending = RunEnding::kTimedOut;
  record.incarnations.resize(3);
  record.faults[0].kind = fault.kind;
  record.faults[0].then = fault.then;
  return ProcessSpansOf(record)[2].end;
}

TEST(ProcessSpansTest, ProcessThatAFaultEnded_IsNotRunning) {
  for (const char* kind : {"crash", "kill", "exception", "power_loss"}) {
    EXPECT_EQ(EndAfter({.kind = kind}), ProcessEnd::kDeath) << kind;
  }
  EXPECT_EQ(EndAfter({.kind = "torn_write", .then = "crash"}),
            ProcessEnd::kDeath);
  EXPECT_EQ(EndAfter({.kind = "torn_write", .then = "nothing"}),
            ProcessEnd::kRunning);
  EXPECT_EQ(EndAfter({.kind = "hang"}), ProcessEnd::kRunning);
}

// Returns "STEP:STATE BEGIN-END", such as "4:cut 1-9", for each save.
std::vector<std::string> Shown(std::vector<RecordEvent> events) {
  int64_t t_ns = 0;
  for (RecordEvent& event : events) event.t_ns = t_ns++;
  std::vector<std::string> shown;
  for (const SaveSpan& save : SavesOf({.events = std::move(events)}, 9)) {
    constexpr const char* kStates[] = {"good", "failed", "cut"};
    shown.push_back(fmt::format("{}:{} {}-{}", save.step,
                                kStates[static_cast<int>(save.state)],
                                save.begin_ns, save.end_ns));
  }
  return shown;
}

RecordEvent Save(RecordKind kind, uint64_t step) {
  return {.kind = kind, .step = step};
}

TEST(SavesTest, EndAsTheyAreReported) {
  EXPECT_THAT(
      Shown({Save(RecordKind::kSaveBegin, 4), Save(RecordKind::kSaveBegin, 5),
             Save(RecordKind::kSaveFailed, 4),
             Save(RecordKind::kSaveAcknowledged, 5),
             Save(RecordKind::kSaveAcknowledged, 6)}),
      ElementsAre("4:failed 0-2", "5:good 1-3", "6:good 4-4"));
}

TEST(SavesTest, AreCutShortByLeavingBeginningAgainAndTheEnd) {
  EXPECT_THAT(
      Shown({Save(RecordKind::kSaveBegin, 4), Save(RecordKind::kSaveBegin, 4),
             Save(RecordKind::kLeft, 0), Save(RecordKind::kSaveBegin, 5)}),
      ElementsAre("4:cut 0-1", "4:cut 1-2", "5:cut 3-9"));
}

TEST(SavesTest, AreCommitted_AlsoAfterTheirWorkerLeft) {
  EXPECT_THAT(
      Shown({Save(RecordKind::kSaveBegin, 4), Save(RecordKind::kLeft, 0),
             Save(RecordKind::kSaveAcknowledged, 4)}),
      ElementsAre("4:good 0-2"));
}

TEST(ProcessSpansTest, PictureAndTraceSayTheSame) {
  Record record = SampleRecord();
  record.machine = {
      EndOfWorker1(Begin(record) + 33 * kMs, RecordReason::kSignal, 128 + 9)};
  EXPECT_THAT(RenderSwimLane(record, {}),
              HasSubstr("worker 1, incarnation 1: 1 ms to 33 ms, was killed by "
                        "signal 9"));
  EXPECT_THAT(RenderChromeTrace(record),
              HasSubstr("worker 1 was killed by signal 9"));
}

}  // namespace
}  // namespace gauntlet
