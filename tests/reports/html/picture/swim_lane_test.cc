#include "reports/html/picture/swim_lane.h"

#include <algorithm>
#include <map>
#include <regex>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/html/picture/time_axis.h"
#include "reports/html/picture/training_position.h"
#include "tests/reports/markup_check.h"
#include "tests/reports/sample_record.h"

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMs = 1'000'000;

int64_t Begin(const Record& record) {
  return record.incarnations[0].events[0].t_ns;
}

RecordEvent At(const Record& record, int64_t ms, RecordEvent event) {
  event.t_ns = Begin(record) + ms * kMs;
  return event;
}

// Returns SampleRecord() with further events that its launcher and worker 0 can
// emit.
Record FullRecord() {
  Record record = SampleRecord();
  record.launchers[0].events = {
      At(record, 0, {.kind = RecordKind::kLauncherBegin}),
      At(record, 42,
         {.kind = RecordKind::kAttemptEnds,
          .reason = RecordReason::kWorkerDied}),
      At(record, 43, {.kind = RecordKind::kRestarting, .count = 1}),
      At(record, 95, {.kind = RecordKind::kLauncherEnd})};
  std::vector<RecordEvent>& events = record.incarnations[1].events;
  const std::vector<RecordEvent> more = {
      At(record, 82, {.kind = RecordKind::kNotice}),
      At(record, 83, {.kind = RecordKind::kSaveBegin, .step = 4}),
      At(record, 87, {.kind = RecordKind::kSaveFailed, .step = 4})};
  events.insert(events.end() - 1, more.begin(), more.end());
  record.incarnations[3].events.insert(
      record.incarnations[3].events.end() - 1,
      At(record, 85, {.kind = RecordKind::kSaveBegin, .step = 4}));
  return record;
}

std::string Picture(const Record& record) {
  return RenderSwimLane(record, {.id = "run"});
}

// Returns the text by which the picture, not the legend, uses a symbol.
std::string Use(const std::string& id) { return "href=\"#" + id + "\" x="; }

TEST(SwimLaneTest, ShowsEachPartOfARun) {
  const std::string picture = Picture(FullRecord());
  for (const char* part :
       {"class=\"bar\"", "class=\"bar died\"", "class=\"step\"",
        "class=\"step-again\"", "class=\"new\"", "class=\"again\"",
        "class=\"saving\"", "class=\"arrow\"", "class=\"tick\"",
        ">launcher</text>", ">worker 0</text>", ">worker 1</text>",
        "class=\"legend\"", "<title id=\"run-title\">Timeline of crash",
        "<desc id=\"run-desc\">"}) {
    EXPECT_THAT(picture, HasSubstr(part));
  }
  for (const char* symbol :
       {"m-fault", "m-notice", "m-detection", "m-rejected", "m-restart",
        "m-resume", "m-started", "m-committed", "m-error", "m-died"}) {
    EXPECT_THAT(picture, HasSubstr(Use(symbol)));
  }
  EXPECT_EQ(FirstUnbalancedTag(picture), "");
}

TEST(SwimLaneTest, Description_NamesCheckpointsAfterTheResume) {
  Record record = SampleRecord();
  EXPECT_THAT(Picture(record), HasSubstr(" Checkpoints acknowledged: step 2."));
  std::vector<RecordEvent>& events = record.incarnations[1].events;
  const std::vector<RecordEvent> saves = {
      At(record, 81, {.kind = RecordKind::kSaveBegin, .step = 3}),
      At(record, 83, {.kind = RecordKind::kSaveAcknowledged, .step = 3}),
      At(record, 84, {.kind = RecordKind::kSaveBegin, .step = 4}),
      At(record, 86, {.kind = RecordKind::kSaveAcknowledged, .step = 4}),
      At(record, 87, {.kind = RecordKind::kSaveBegin, .step = 4}),
      At(record, 88, {.kind = RecordKind::kSaveAcknowledged, .step = 4})};
  events.insert(events.end() - 1, saves.begin(), saves.end());
  EXPECT_THAT(
      Picture(record),
      HasSubstr(" Checkpoints acknowledged: step 2; after the resume from "
                "step 2: steps 3, 4."));
}

TEST(SwimLaneTest, ShowsNoMarks_WithoutAnyFailure) {
  Record record = SampleRecord();
  record.incarnations = {record.incarnations[0]};
  record.incarnations[0].events.resize(6);
  record.incarnations[0].events.push_back(
      At(record, 40, {.kind = RecordKind::kWorkerExited}));
  const std::string picture = Picture(record);
  EXPECT_THAT(picture, HasSubstr(Use("m-committed")));
  for (const char* symbol : {"m-fault", "m-detection", "m-restart", "m-resume",
                             "m-rejected", "m-error", "m-died"}) {
    EXPECT_THAT(picture, Not(HasSubstr(Use(symbol))));
  }
  EXPECT_THAT(picture, Not(HasSubstr("class=\"again\" d")));
  EXPECT_THAT(picture, Not(HasSubstr("class=\"arrow\"")));
}

TEST(SwimLaneTest, DrawsEpochEnds_IfThereIsRoom) {
  Record record = FullRecord();
  record.golden.entries = {
      {.kind = RecordKind::kEpochEnd, .step = 2, .epoch = 0},
      {.kind = RecordKind::kEpochEnd, .step = 4, .epoch = 1}};
  const std::string picture = Picture(record);
  EXPECT_THAT(picture, HasSubstr(">end of epoch 1</text>"));
  EXPECT_THAT(picture, HasSubstr(">end of epoch 2</text>"));
  for (uint64_t epoch = 2; epoch < 100; ++epoch) {
    record.golden.entries.push_back(
        {.kind = RecordKind::kEpochEnd, .step = 4 + epoch, .epoch = 2 + epoch});
  }
  for (RecordEvent& event : record.incarnations[3].events) event.step *= 26;
  const std::string crowded = Picture(record);
  EXPECT_THAT(crowded, Not(HasSubstr(">end of epoch 1</text>")));
  EXPECT_THAT(crowded, HasSubstr(">end of epoch "));
}

TEST(SwimLaneTest, LabelOfAnEpochLeavesTheCurveFree) {
  static const std::regex kLabel("x=\"(\\d+)\" y=\"[^\"]*\">end of epoch 1<");
  const auto place_of_label = [](const Record& record) {
    const std::string picture = Picture(record);
    std::smatch match;
    return std::regex_search(picture, match, kLabel) ? std::stod(match[1]) : -1;
  };
  Record record = FullRecord();
  record.golden.entries = {
      {.kind = RecordKind::kEpochEnd, .step = 2, .epoch = 0},
      {.kind = RecordKind::kEpochEnd, .step = 4, .epoch = 1}};
  EXPECT_EQ(place_of_label(record), 4);
  // Makes the curve rise above the line of the epoch immediately.
  const int64_t begin = Begin(record);
  for (uint64_t step = 1; step <= 4; ++step) {
    record.incarnations[0].events.insert(
        record.incarnations[0].events.begin() +
            static_cast<std::ptrdiff_t>(step),
        {.kind = RecordKind::kStep,
         .t_ns = begin + static_cast<int64_t>(step),
         .generation = 1,
         .step = step});
  }
  EXPECT_GT(place_of_label(record), 4);
}

// Returns a record in which the checkpoint of step 2 has a path.
Record RecordWithACheckpoint() {
  Record record = FullRecord();
  record.incarnations[0].events[4].path = "/ckpt/step-2";
  return record;
}

TEST(SwimLaneTest, DamagedCheckpointIsMarked) {
  Record record = RecordWithACheckpoint();
  EXPECT_THAT(Picture(record), Not(HasSubstr(Use("m-invalid"))));
  record.incarnations[0].events.push_back(
      {.kind = RecordKind::kDamaged,
       .t_ns = record.incarnations[0].events.back().t_ns,
       .path = "/ckpt/step-2.tmp/model.safetensors"});
  EXPECT_THAT(
      Picture(record),
      AllOf(HasSubstr(Use("m-invalid")), Not(HasSubstr(Use("m-lost"))),
            HasSubstr(" Of these, invalid: step 2."),
            HasSubstr("<title>checkpoint of step 2 acknowledged after 2 "
                      "ms, but invalid: a fault damaged it</title>")));
}

TEST(SwimLaneTest, LostCheckpointIsNamed_IfItsStepWasSavedTwice) {
  Record record = RecordWithACheckpoint();
  std::vector<RecordEvent>& first = record.incarnations[0].events;
  first.push_back({.kind = RecordKind::kDamaged,
                   .t_ns = first.back().t_ns,
                   .path = "/ckpt/step-2.tmp/model.safetensors"});
  std::vector<RecordEvent>& second = record.incarnations[1].events;
  second.push_back({.kind = RecordKind::kSaveAcknowledged,
                    .t_ns = second.back().t_ns,
                    .step = 2,
                    .path = "/ckpt/step-2-g2"});
  EXPECT_THAT(Picture(record), HasSubstr(" Of these, invalid: step-2."));
}

TEST(SwimLaneTest, AcknowledgedCheckpointThatIsGoneIsMarked) {
  Record record = RecordWithACheckpoint();
  record.left.store_listed = true;
  record.incarnations[1].events.insert(
      record.incarnations[1].events.begin() + 1,
      At(record, 55, {.kind = RecordKind::kGeneration}));
  EXPECT_THAT(Picture(record), HasSubstr(Use("m-lost")));
  record.left.checkpoints = {{.name = "step-2", .valid = true}};
  EXPECT_THAT(Picture(record), Not(HasSubstr(Use("m-lost"))));
}

TEST(SwimLaneTest, CheckpointThatIsGoneIsMarked_AlsoIfNoGenerationFollows) {
  Record record = RecordWithACheckpoint();
  record.left.store_listed = true;
  record.incarnations[0].events.insert(
      record.incarnations[0].events.begin() + 1,
      At(record, 5, {.kind = RecordKind::kGeneration}));
  EXPECT_THAT(
      Picture(record),
      AllOf(HasSubstr(Use("m-lost")), HasSubstr(" Of these, lost: step 2."),
            HasSubstr("ms, but lost: nothing of it remained</title>")));
  record.left.checkpoints = {{.name = "step-2", .valid = true}};
  EXPECT_THAT(Picture(record), Not(HasSubstr(Use("m-lost"))));
}

struct FaultName {
  std::string text;
  double x = 0;
  double y = 0;
};

// Returns the names at the marks of faults.
std::vector<FaultName> FaultNames(const Record& record) {
  static const std::regex kName(
      R"re(<text class="fault-name" x="([0-9.]+)" y="([0-9.]+)">([^<]*)</text>)re");
  const std::string picture = Picture(record);
  std::vector<FaultName> names;
  for (std::sregex_iterator name(picture.begin(), picture.end(), kName), end;
       name != end; ++name) {
    names.push_back({.text = (*name)[3],
                     .x = std::stod((*name)[1]),
                     .y = std::stod((*name)[2])});
  }
  return names;
}

TEST(SwimLaneTest, FaultHasItsNameBesideIt) {
  const auto names = FaultNames(FullRecord());
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0].text, "crash");
}

// Adds faults that fire in the second incarnation, and fires each of them.
void FireFaults(Record& record,
                const std::vector<std::pair<int64_t, std::string>>& faults) {
  std::vector<RecordEvent>& events = record.incarnations[1].events;
  for (const auto& [ms, id] : faults) {
    record.faults.push_back({.id = id});
    events.insert(
        events.end() - 1,
        At(record, ms, {.kind = RecordKind::kFaultFired, .detail = id}));
  }
}

TEST(SwimLaneTest, FaultsAtOnePlaceHaveOneText) {
  Record record = FullRecord();
  FireFaults(record, {{84, "<net>"}, {84, "disk"}, {84, "<net>"}});
  const auto names = FaultNames(record);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[1].text, "&lt;net&gt;, disk");
  FireFaults(record, {{84, std::string(32, 'x')}});
  EXPECT_EQ(FaultNames(record).at(1).text, "&lt;net&gt; +2");
}

// Names that have no space beside their marks are above them.
TEST(SwimLaneTest, NamesOfFaultsDoNotOverlap) {
  Record record = FullRecord();
  const std::string name(30, 'x');
  FireFaults(record, {{60, name},
                      {65, name + "2"},
                      {70, name + "3"},
                      {75, name + "4"},
                      {80, name + "5"}});
  std::map<double, double> ends;  // of the newest name, by height
  for (const auto& [text, x, y] : FaultNames(record)) {
    if (text == "crash") continue;  // in another lane
    EXPECT_GE(x, ends[y]) << text;
    ends[y] = x + LabelWidth(text);
    EXPECT_LE(ends[y], 1000) << text;
  }
  EXPECT_EQ(ends.size(), 2U);
}

TEST(SwimLaneTest, DeletionOfACheckpointIsNamed) {
  Record record = RecordWithACheckpoint();
  EXPECT_THAT(Picture(record), Not(HasSubstr("deleted")));
  record.incarnations[0].events.insert(
      record.incarnations[0].events.begin() + 6,
      At(record, 32, {.kind = RecordKind::kRetired, .path = "/ckpt/step-2"}));
  EXPECT_THAT(
      Picture(record),
      AllOf(HasSubstr("Checkpoints deleted: steps 2."),
            HasSubstr("<title>checkpoint of step 2 acknowledged after 2 "
                      "ms, deleted at 32 ms</title>")));
}

TEST(SwimLaneTest, Texts_DescribeTheEvents) {
  const std::string picture = Picture(FullRecord());
  EXPECT_THAT(picture, HasSubstr("<title>31 ms: crash fires: crash worker 1 at "
                                 "step.end, step 3</title>"));
  EXPECT_THAT(picture,
              HasSubstr("<title>checkpoint of step 2 acknowledged after 2 ms"));
  EXPECT_THAT(picture, HasSubstr("worker 1, incarnation 1: 1 ms to 31 ms"));
  EXPECT_THAT(picture, HasSubstr("Step 3 is recomputed."));
}

// Returns FullRecord() of a run that the harness ended after 35 s, while the
// newest incarnations were running.
Record TimedOutRecord() {
  Record record = FullRecord();
  record.ending = RunEnding::kTimedOut;
  record.virtual_seconds = 35;
  record.launchers.clear();
  std::erase_if(record.machine, [](const RecordEvent& event) {
    return event.kind == RecordKind::kProcessEnded;
  });
  for (IncarnationEvents& incarnation : record.incarnations) {
    std::erase_if(incarnation.events, [](const RecordEvent& event) {
      return event.kind == RecordKind::kWorkerExited;
    });
  }
  return record;
}

TEST(SwimLaneTest, RunThatTheHarnessEnded_IsDrawnToItsEnd) {
  const std::string picture = Picture(TimedOutRecord());
  EXPECT_EQ(CountOf(picture, Use("m-running")), 2u);
  EXPECT_THAT(picture,
              AllOf(HasSubstr("to 35 s, still running when the run was ended"),
                    HasSubstr("class=\"idle\"")));
  // The first incarnations had ended earlier.
  EXPECT_EQ(CountOf(picture, Use("m-died")), 2u);
  EXPECT_THAT(Picture(FullRecord()), Not(HasSubstr("m-running")));
}

TEST(SwimLaneTest, ProcessThatAFaultEnded_IsNotRunning) {
  Record record = TimedOutRecord();
  record.incarnations.pop_back();  // incarnation 2 of worker 1
  EXPECT_EQ(CountOf(Picture(record), Use("m-running")), 1u);
}

TEST(SwimLaneTest, Legend_HasOnlyOccurringMarks) {
  const std::string all = Picture(FullRecord());
  EXPECT_THAT(all, AllOf(HasSubstr("</svg>preemption notice</li>"),
                         HasSubstr("</svg>recomputed steps</li>"),
                         Not(HasSubstr("</svg>still running"))));
  Record record = FullRecord();
  record.incarnations.resize(1);
  EXPECT_THAT(Picture(record),
              AllOf(HasSubstr("</svg>new steps</li>"),
                    Not(HasSubstr("</svg>preemption notice</li>")),
                    Not(HasSubstr("</svg>recomputed steps</li>"))));
}

TEST(SwimLaneTest, ShortensAndLabelsIdleTime) {
  Record record = FullRecord();
  for (size_t incarnation : {1u, 3u}) {
    for (RecordEvent& event : record.incarnations[incarnation].events) {
      event.t_ns += 60'000 * kMs;
    }
  }
  EXPECT_THAT(Picture(FullRecord()), Not(HasSubstr("60 s")));
  const std::string picture = Picture(record);
  EXPECT_THAT(picture, HasSubstr("class=\"gap\""));
  EXPECT_THAT(picture, HasSubstr(">60 s</text>"));
}

// Returns the positions and contents of the texts below the lanes, by the
// texts' height.
std::map<std::string, std::vector<std::pair<double, std::string>>> AxisTexts(
    const std::string& picture) {
  static const std::regex kText(
      "<text class=\"(?:tick|idle)\" text-anchor=\"middle\" x=\"([^\"]*)\" "
      "y=\"([^\"]*)\">([^<]*)<");
  std::map<std::string, std::vector<std::pair<double, std::string>>> rows;
  for (std::sregex_iterator at(picture.begin(), picture.end(), kText), end;
       at != end; ++at) {
    rows[(*at)[2]].emplace_back(std::stod((*at)[1]), (*at)[3]);
  }
  return rows;
}

TEST(SwimLaneTest, LabelsDoNotOverlap) {
  Record record = FullRecord();
  int64_t pause = 0;
  for (RecordEvent& event : record.incarnations[1].events) {
    event.t_ns += (pause += 1234 * kMs);
  }
  const auto rows = AxisTexts(Picture(record));
  ASSERT_GE(rows.size(), 2u);
  for (const auto& [y, texts] : rows) {
    double end = 0;
    for (const auto& [x, text] : texts) {
      const double half = LabelWidth(text) / 2;
      EXPECT_GE(x - half, end) << text << " at " << x << ", " << y;
      end = x + half;
    }
  }
}

TEST(SwimLaneTest, ArrowsGoFromFaultToResume) {
  Record record = FullRecord();
  const size_t all = CountOf(Picture(record), "<path class=\"arrow");
  EXPECT_GE(all, 4u);
  record.incarnations[2].events.pop_back();  // the fault
  EXPECT_LT(CountOf(Picture(record), "<path class=\"arrow"), all);
}

TEST(SwimLaneTest, ManyWorkersAreCountedNotDrawn) {
  Record record = SampleRecord();
  for (int worker = 2; worker < 50; ++worker) {
    record.incarnations.push_back(record.incarnations[0]);
    record.incarnations.back().worker = worker;
  }
  const std::string picture =
      RenderSwimLane(record, {.id = "run", .most_lanes = 10});
  EXPECT_EQ(CountOf(picture, "</text><text class=\"name\" x=\"0\""), 10u);
  EXPECT_THAT(picture, HasSubstr("40 further workers not drawn."));
}

TEST(SwimLaneTest, SizeIsBoundedByWidth) {
  Record record = SampleRecord();
  std::vector<RecordEvent>& events = record.incarnations[1].events;
  for (uint64_t step = 5; step < 100'000; ++step) {
    events.push_back(At(record, 90 + static_cast<int64_t>(step),
                        {.kind = RecordKind::kStep, .step = step}));
    events.push_back(At(record, 90 + static_cast<int64_t>(step),
                        {.kind = RecordKind::kFaultFired, .detail = "crash"}));
  }
  const std::string picture = Picture(record);
  EXPECT_LT(picture.size(), 100'000u);
  EXPECT_THAT(picture, HasSubstr(" more events</title>"));
}

TEST(SwimLaneTest, HostileTextIsEscaped) {
  Record record = FullRecord();
  record.case_name = HostileText();
  for (IncarnationEvents& incarnation : record.incarnations) {
    for (RecordEvent& event : incarnation.events) {
      event.detail = event.path = HostileText();
    }
  }
  const std::string picture = Picture(record);
  EXPECT_EQ(FirstUnbalancedTag(picture), "");
  EXPECT_THAT(picture, Not(HasSubstr("<script")));
}

TEST(SwimLaneTest, RecordWithoutEventsHasNoPicture) {
  EXPECT_EQ(Picture({.case_name = "a"}), "");
}

TEST(TrainingPositionTest, RecomputedSteps_EndAtTheEarlierPosition) {
  const Record record = SampleRecord();
  const std::vector<TrainingSegment> segments = TrainingSegmentsOf(record);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].recomputed_until, 0u);
  EXPECT_EQ(segments[0].points.back().step, 3u);
  EXPECT_EQ(segments[1].points.front().step, 2u);
  EXPECT_EQ(segments[1].recomputed_until, 3u);
  EXPECT_EQ(segments[1].points.back().step, 4u);
  const std::vector<RecordEvent>& resumed = record.incarnations[1].events;
  EXPECT_TRUE(IsRecomputed(segments, resumed[3]));
  EXPECT_FALSE(IsRecomputed(segments, resumed[4]));
}

}  // namespace
}  // namespace gauntlet
