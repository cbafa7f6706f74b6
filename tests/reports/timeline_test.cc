#include "reports/timeline.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/timeline_table.h"
#include "tests/reports/sample_record.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kGolden[] =
    R"(crash[workers=2] (sim): 2 workers, 1 fault
row    time     worker 0                        worker 1
  1  0.000s     incarnation 1 starts            incarnation 1 starts
  2  0.010s     steps 1-3; saved 2              steps 1-2
  3  0.031s  .-                                 crash fires: crash worker 1 at
             |                                  step.end, step 3
  4  0.040s  |> loses rank 1 (closed): connection lost <3
  5  0.041s  |> exits with 75 <4
  6  0.050s  |> incarnation 2 starts <4         incarnation 2 starts <4
  7  0.060s  `> resumes from step 2 (step-2)    resumes from step 2 (step-2)
                <6                              <6
  8  0.070s     steps 3-4                       steps 3-4
  9  0.090s     exits with 0                    exits with 0
launcher exits with 0, 1 restart, done: 2 epochs completed, 4 steps
)";

Timeline Sample(const TimelineFilter& filter = {}) {
  return TimelineOf(SampleRecord(), filter);
}

TimelineBound Step(uint64_t step) {
  return {.unit = TimelineBound::Unit::kStep, .value = step};
}
TimelineBound Milliseconds(uint64_t ms) {
  return {.unit = TimelineBound::Unit::kNanoseconds, .value = ms * 1'000'000};
}

// Returns the text of every cell, in order.
std::vector<std::string> Texts(const Timeline& timeline) {
  std::vector<std::string> texts;
  for (const TimelineRow& row : timeline.rows) {
    for (const TimelineCell& cell : row.cells) texts.push_back(cell.text);
  }
  return texts;
}

TEST(TimelineTest, CrashReadsLikeThis) {
  EXPECT_EQ(RenderTimeline(Sample(), {.width = 78}), kGolden);
}

TEST(TimelineTest, DrawsLines_IfTheTerminalHasThem) {
  const std::string text =
      RenderTimeline(Sample(), {.width = 78, .art = LineArt::kUnicode});
  EXPECT_THAT(text, HasSubstr("  4  0.040s  ├▶ loses rank 1 (closed): "
                              "connection lost ←3\n"));
  EXPECT_THAT(text, HasSubstr("└▶ resumes"));
}

TEST(TimelineTest, LinesAreNoLongerThanTheTerminal) {
  for (const int width : {60, 80, 120}) {
    const std::string text = RenderTimeline(Sample(), {.width = width});
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      EXPECT_LE(end - begin, static_cast<size_t>(width))
          << text.substr(begin, end - begin);
      begin = end + 1;
    }
  }
}

TEST(TimelineTest, OneColumnNamesTheWorker_IfColumnsWouldBeTooNarrow) {
  const std::string text = RenderTimeline(Sample(), {.width = 44});
  EXPECT_THAT(text, HasSubstr("row    time     worker    event\n"));
  EXPECT_THAT(text, HasSubstr("  2  0.010s     worker 0  steps 1-3; saved 2\n"
                              "                worker 1  steps 1-2\n"));
}

TEST(TimelineTest, CutsLongText_IfThereIsALimitOfLines) {
  Record record = SampleRecord();
  record.incarnations[0].events[6].detail = std::string(400, 'x') + "end";
  const Timeline timeline = TimelineOf(record, {});
  EXPECT_THAT(RenderTimeline(timeline, {.width = 78}), HasSubstr("xend <3\n"));
  EXPECT_THAT(RenderTimeline(timeline, {.width = 78, .most_lines = 4}),
              HasSubstr("x... <3\n"));
}

TEST(TimelineTest, EventsOfLaunchersAndPowerLossesCount) {
  Record record = SampleRecord();
  const int64_t begin = record.incarnations[0].events[0].t_ns;
  record.launchers[0].events = {
      {.kind = RecordKind::kAttemptEnds, .t_ns = begin},
      {.kind = RecordKind::kLauncherEnd, .t_ns = begin}};
  record.machine = {{.kind = RecordKind::kPowerCut, .t_ns = begin}};
  EXPECT_EQ(CountEvents(record), 26u);
  EXPECT_EQ(TimelineOf(record, {}).events, 26u);
}

TEST(TimelineTest, CutTextFillsItsLastLine) {
  Record record = SampleRecord();
  record.incarnations[0].events[6].detail = "a " + std::string(200, 'x');
  EXPECT_THAT(
      RenderTimeline(TimelineOf(record, {}), {.width = 200, .most_lines = 1}),
      HasSubstr("loses rank 1 (closed): a xxxxxxxxxx"));
}

TEST(TimelineTest, ListsEachEvent_IfRequested) {
  const Timeline timeline = Sample({.routine = RoutineEvents::kListed});
  EXPECT_EQ(timeline.rows.size(), timeline.events);
  EXPECT_EQ(timeline.events, 23u);
  EXPECT_THAT(Texts(timeline), testing::Contains("save of step 2 begins"));
}

TEST(TimelineTest, FilterTakesWorkersAndSteps) {
  EXPECT_THAT(
      Texts(Sample({.workers = {1}, .from = Step(3)})),
      ElementsAre("crash fires: crash worker 1 at step.end, step 3",
                  "incarnation 2 starts", "resumes from step 2 (step-2)",
                  "steps 3-4", "exits with 0"));
  EXPECT_THAT(
      Texts(Sample({.workers = {0}, .from = Step(1), .to = Step(2)})),
      ElementsAre("steps 1-2; saved 2", "resumes from step 2 (step-2)"));
}

TEST(TimelineTest, RangeOfStepsHasTheEffectsOfItsEvents) {
  EXPECT_THAT(
      Texts(Sample({.from = Step(3), .to = Step(3)})),
      ElementsAre("step 3", "crash fires: crash worker 1 at step.end, step 3",
                  "loses rank 1 (closed): connection lost", "exits with 75",
                  "incarnation 2 starts", "incarnation 2 starts",
                  "resumes from step 2 (step-2)",
                  "resumes from step 2 (step-2)", "step 3", "step 3"));
}

// Returns a record in which worker 0, before its exit, fails to save steps 5 to
// 44, 10 ms apart.
Record RecordOfFailedSaves() {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[1].events;
  const RecordEvent exit = events.back();
  events.pop_back();
  for (uint64_t step = 5; step < 45; ++step) {
    const int64_t t_ns =
        events.front().t_ns + static_cast<int64_t>(step) * 10'000'000;
    events.push_back({.kind = RecordKind::kStep, .t_ns = t_ns, .step = step});
    events.push_back({.kind = RecordKind::kSaveFailed,
                      .t_ns = t_ns,
                      .step = step,
                      .detail = "no space"});
  }
  events.push_back(exit);
  events.back().t_ns = events[events.size() - 2].t_ns + 1'000'000;
  return record;
}

TEST(TimelineTest, RepeatedRowsAreOneRow_AndTheEndIsShown) {
  const Timeline timeline = TimelineOf(RecordOfFailedSaves(), {.workers = {0}});
  ASSERT_GE(timeline.rows.size(), 3u);
  const size_t failed = timeline.rows.size() - 2;
  const TimelineRow& row = timeline.rows[failed];
  EXPECT_EQ(row.number, failed + 1);
  EXPECT_EQ(row.until_ns, 490'000'000);
  EXPECT_EQ(row.cells[0].text,
            "save of step 5..44 failed: no space (40 times until 0.490s)");
  EXPECT_EQ(row.cells[0].events, 40u);
  EXPECT_EQ(row.cells[0].first_step, 5u);
  EXPECT_EQ(row.cells[0].last_step, 44u);
  EXPECT_EQ(timeline.rows.back().cells[0].text, "exits with 0");
  const auto listed =
      TimelineOf(RecordOfFailedSaves(), {.routine = RoutineEvents::kListed});
  EXPECT_EQ(listed.rows.size(), listed.events);
}

TEST(TimelineTest, CauseOfARowIsTheFirstOfRepeatedRows) {
  Record record = RecordOfFailedSaves();
  record.incarnations[1].events.push_back(
      {.kind = RecordKind::kWorkerLost,
       .t_ns = record.incarnations[1].events.back().t_ns,
       .detail = "x"});
  for (const TimelineRow& row : TimelineOf(record, {}).rows) {
    for (const TimelineCell& cell : row.cells) {
      EXPECT_LT(cell.cause, row.number) << cell.text;
    }
  }
}

TEST(TimelineTest, FailureOfASaveCountsAtTheStepOfTraining) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  events.insert(
      events.begin() + 6,
      {.kind = RecordKind::kSaveFailed, .t_ns = events[5].t_ns + 1, .step = 2});
  EXPECT_THAT(Texts(TimelineOf(
                  record, {.workers = {0}, .from = Step(3), .to = Step(3)})),
              testing::Contains("save of step 2 failed"));
}

TEST(TimelineTest, LaunchersEvents_CountAtTheLastReachedStep) {
  Record record = SampleRecord();
  const int64_t begin = record.incarnations[0].events[0].t_ns;
  record.incarnations.push_back(
      {.worker = kLauncherColumn,
       .number = 1,
       .events = {
           {.kind = RecordKind::kWorkerStarted, .t_ns = begin - 1},
           {.kind = RecordKind::kWorkerExited, .t_ns = begin + 95'000'000}}});
  EXPECT_THAT(Texts(TimelineOf(
                  record, {.workers = {kLauncherColumn}, .from = Step(4)})),
              ElementsAre("exits with 0"));
}

TEST(TimelineTest, FoldedSaveThatIsStillWrittenHasTheTimeOfItsBegin) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  events.erase(events.begin() + 4);
  EXPECT_THAT(Texts(TimelineOf(record, {})),
              testing::Contains("steps 1-3; save of step 2 begins at 0.021s"));
}

TEST(TimelineTest, FoldedSaveWithoutARenameIsNotSaved) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  events.resize(5);
  events.push_back({.kind = RecordKind::kFaultFired,
                    .t_ns = events.back().t_ns,
                    .step = 2,
                    .path = "ckpt.rename",
                    .detail = "crash"});
  EXPECT_THAT(Texts(TimelineOf(record, {})),
              testing::Contains("steps 1-2; acknowledged 2 before its rename"));
  // While an asynchronous save is written, training continues.
  events.back().step = 4;
  EXPECT_THAT(Texts(TimelineOf(record, {})),
              testing::Contains("steps 1-2; acknowledged 2 before its rename"));
  events.insert(
      events.end() - 1,
      {.kind = RecordKind::kSaveBegin, .t_ns = events.back().t_ns, .step = 2});
  EXPECT_THAT(Texts(TimelineOf(record, {})),
              testing::Contains(HasSubstr("steps 1-2; saved 2")));
}

TEST(TimelineTest, TimesOfSavesAndStartsAreOnlyListed) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  for (const RecordKind kind :
       {RecordKind::kSaveTimes, RecordKind::kStartTimes}) {
    events.push_back({.kind = kind, .t_ns = events.back().t_ns, .step = 2});
  }
  EXPECT_EQ(Texts(TimelineOf(record, {})), Texts(Sample()));
  EXPECT_THAT(
      Texts(TimelineOf(record, {.routine = RoutineEvents::kListed})),
      testing::Contains(HasSubstr("training waited for the save of step 2")));
}

TEST(TimelineTest, Row_HasTheTimeOfItsFirstEvent) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  events.insert(events.begin() + 1, {.kind = RecordKind::kRetireBegin,
                                     .t_ns = events[1].t_ns - 5'000'000});
  const Timeline timeline = TimelineOf(record, {});
  EXPECT_EQ(timeline.rows[1].cells[0].text, "steps 1-3; saved 2");
  EXPECT_EQ(timeline.rows[1].t_ns, 10'000'000);
}

TEST(TimelineTest, FoldedEventsNameDeletedCheckpoints) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  const RecordEvent deletion = {.kind = RecordKind::kRetired,
                                .t_ns = events[5].t_ns,
                                .path = "/ckpt/step-000000001-g1"};
  events.insert(events.begin() + 6, deletion);
  EXPECT_THAT(Texts(TimelineOf(record, {})),
              testing::Contains("steps 1-3; saved 2; deleted 1"));
}

TEST(TimelineTest, FaultInASaveNamesTheSave) {
  Record record = SampleRecord();
  record.faults[0].in_save = true;
  record.incarnations[2].events[3].t_ns =
      record.incarnations[0].events[3].t_ns + 1'000'000;
  EXPECT_THAT(Texts(TimelineOf(record, {})),
              testing::Contains("crash fires: crash worker 1 at step.end, step "
                                "3, in the save of step 2 (training was at "
                                "step 3)"));
}

TEST(TimelineTest, FaultThatFiresAgainIsCounted) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[2].events;
  RecordEvent again = events[3];
  again.kind = RecordKind::kFaultAgain;
  events.push_back(again);
  EXPECT_THAT(Texts(TimelineOf(record, {})),
              testing::Contains("crash fires: crash worker 1 at step.end, step "
                                "3 (fired 2 times)"));
}

TEST(TimelineTest, FilterTakesTimes) {
  EXPECT_THAT(Texts(Sample({.from = Milliseconds(31), .to = Milliseconds(40)})),
              ElementsAre("crash fires: crash worker 1 at step.end, step 3",
                          "loses rank 1 (closed): connection lost"));
}

TEST(TimelineTest, HiddenCause_IsReplacedByItsOwnCause) {
  const Timeline timeline = Sample({.workers = {1}});
  EXPECT_EQ(timeline.rows[2].cells[0].kind, "fault_fired");
  EXPECT_EQ(timeline.rows[3].cells[0].text, "incarnation 2 starts");
  EXPECT_EQ(timeline.rows[3].cells[0].cause, timeline.rows[2].number);
}

TEST(TimelineTest, LauncherIsOneMoreColumn) {
  Record record = SampleRecord();
  record.incarnations.push_back(
      {.worker = kLauncherColumn,
       .number = 1,
       .events = {{.kind = RecordKind::kWorkerStarted,
                   .t_ns = record.incarnations[0].events[0].t_ns}}});
  const Timeline timeline = TimelineOf(record, {});
  EXPECT_THAT(timeline.columns, ElementsAre(-1, 0, 1));
  EXPECT_THAT(RenderTimeline(timeline, {.width = 100}),
              HasSubstr("launcher                    worker 0"));
}

TEST(TimelineTest, PowerCutIsInTheLaunchersColumn) {
  Record record = SampleRecord();
  record.faults[0].kind = "power_loss";
  const int64_t begin = record.incarnations[0].events[0].t_ns;
  record.launchers[0].events = {
      {.kind = RecordKind::kLauncherBegin, .t_ns = begin}};
  record.launchers.push_back({.events = {{.kind = RecordKind::kLauncherBegin,
                                          .t_ns = begin + 45'000'000}}});
  record.machine = {{.kind = RecordKind::kPowerCut,
                     .t_ns = begin + 32'000'000,
                     .path = "machine",
                     .detail = "ext4"},
                    {.kind = RecordKind::kProcessEnded,
                     .t_ns = begin + 32'000'000,
                     .about = 1,
                     .incarnation = 1,
                     .reason = RecordReason::kSignal}};
  const Timeline timeline = TimelineOf(record, {});
  const TimelineRow& cut = timeline.rows[5];
  EXPECT_EQ(cut.cells[0].text,
            "all hosts lose power, which ends worker 1 (disk profile ext4)");
  EXPECT_EQ(cut.cells[0].worker, kLauncherColumn);
  EXPECT_EQ(cut.cells[0].incarnation, 1);
  EXPECT_EQ(cut.cells[0].cause, 5u) << "the fault";
  EXPECT_EQ(cut.tone, RowTone::kFault);
  const auto relaunch = std::ranges::find_if(
      timeline.rows,
      [&](const TimelineRow& row) { return row.t_ns == 45'000'000; });
  ASSERT_NE(relaunch, timeline.rows.end());
  EXPECT_EQ(relaunch->cells[0].cause, cut.number);
}

TEST(TimelineTest, IncidentsThatOverlapHaveLanesOfTheirOwn) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  events[5].kind = RecordKind::kFaultFired;  // before the crash
  events[5].detail = "full";
  events.insert(
      events.begin() + 6,
      {.kind = RecordKind::kSaveFailed, .t_ns = events[6].t_ns + 1, .step = 3});
  const std::string text =
      RenderTimeline(TimelineOf(record, {}), {.width = 90});
  EXPECT_THAT(text, HasSubstr("  .-- full fires"));
  EXPECT_THAT(text, HasSubstr("  |.- "));
  EXPECT_THAT(text, HasSubstr("  `+> save of step 3 failed <3"));
  EXPECT_THAT(text, HasSubstr("   `> resumes"));
}

TEST(TimelineTest, TextOfAWorkerDoesNotSteerTheTerminal) {
  Record record = SampleRecord();
  record.incarnations[0].events[6].detail = "\x1b[2Jgone\xc3\xa9";
  const std::string text =
      RenderTimeline(TimelineOf(record, {}), {.width = 100});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("gone?"));
}

TEST(TimelineTest, LoadOfADamagedCheckpointHasARowWithTheDamageAsItsCause) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  events.insert(events.begin() + 1,
                {.kind = RecordKind::kDamaged,
                 .t_ns = events[0].t_ns,
                 .path = "/ckpt/step-2.tmp/model.safetensors",
                 .detail = "rot"});
  const std::string text = RenderTimeline(TimelineOf(record, {}), {});
  EXPECT_THAT(text, HasSubstr("model.safetensors damaged by fault rot"));
  EXPECT_THAT(text, HasSubstr("step-2 loaded <2"));
}

TEST(TimelineTest, JsonHasTheRows) {
  const json timeline = json::parse(TimelineToJson(Sample()));
  EXPECT_EQ(timeline["schema"], "gauntlet.timeline/v1");
  const json& loss = timeline["rows"][3];
  EXPECT_EQ(loss["row"], 4);
  EXPECT_EQ(loss["t_ns"], 40'000'000);
  EXPECT_EQ(loss["cells"][0]["kind"], "worker_lost");
  EXPECT_EQ(loss["cells"][0]["caused_by"], 3);
  const json& folded = timeline["rows"][1]["cells"][0];
  EXPECT_EQ(folded["kind"], "routine");
  EXPECT_EQ(folded["first_step"], 1);
  EXPECT_EQ(folded["last_step"], 3);
  EXPECT_EQ(folded["events"], 5);
  EXPECT_TRUE(folded["caused_by"].is_null());
}

TEST(TimelineTest, CaseThatWasNotRunHasAReason) {
  Record record = {.case_name = "a", .world = "real", .skipped = "needs a GPU"};
  EXPECT_EQ(RenderTimeline(TimelineOf(record, {}), {}),
            "a (real): 1 worker; not run: needs a GPU\n");
}

}  // namespace
}  // namespace gauntlet
