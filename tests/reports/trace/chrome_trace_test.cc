#include "reports/trace/chrome_trace.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/sample_record.h"
#include "tests/reports/trace/trace_rules.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

constexpr int64_t kMs = 1'000'000;

using Thread = std::pair<int64_t, int64_t>;  // pid, tid

Thread ThreadOf(const json& event) { return {event["pid"], event["tid"]}; }

// Returns the parsed trace. Expects it to keep the format's rules.
json Checked(const std::string& text) {
  EXPECT_THAT(TraceViolations(text), IsEmpty());
  json trace = json::parse(text);
  EXPECT_EQ(trace["displayTimeUnit"], "ms");
  EXPECT_TRUE(trace["otherData"].is_object());
  return trace;
}

json TraceOf(const Record& record, const ChromeTraceOptions& options = {}) {
  return Checked(RenderChromeTrace(record, options));
}

// Returns "worker 0/compute: step 1 [0.5+9.5]" for each event, with times in
// ms.
std::vector<std::string> Shown(const json& trace, const std::string& phase) {
  std::map<Thread, std::string> names;
  std::map<int64_t, std::string> processes;
  std::vector<std::string> shown;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") {
      processes[event["pid"]] = event["args"]["name"];
    } else if (event["name"] == "thread_name") {
      names[ThreadOf(event)] = event["args"]["name"];
    } else if (event["ph"] == phase) {
      std::string text =
          fmt::format("{}/{}: {} [{}", processes.at(event["pid"]),
                      names.at(ThreadOf(event)), std::string(event["name"]),
                      event["ts"].get<double>() / 1e3);
      if (phase == "X") {
        text += fmt::format("+{}", event["dur"].get<double>() / 1e3);
      }
      shown.push_back(text + "]");
    }
  }
  return shown;
}

json EventNamed(const json& trace, const std::string& name) {
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == name) return event;
  }
  ADD_FAILURE() << name << " is missing";
  return {};
}

// Returns an incarnation whose events are 1 ms apart.
IncarnationEvents Process(int worker, int incarnation, int64_t begin_ms,
                          std::vector<RecordEvent> events) {
  int64_t t_ns = begin_ms * kMs;
  for (RecordEvent& event : events) event.t_ns = t_ns, t_ns += kMs;
  return {.worker = worker, .number = incarnation, .events = std::move(events)};
}

// Returns a worker that trains many steps, with a fault and a lost worker
// halfway.
Record LongRecord(uint64_t steps) {
  std::vector<RecordEvent> events = {{.kind = RecordKind::kWorkerStarted},
                                     {.kind = RecordKind::kInitialized}};
  for (uint64_t step = 1; step <= steps; ++step) {
    events.push_back({.kind = RecordKind::kStep, .step = step});
    if (step == steps / 2) {
      events.push_back({.kind = RecordKind::kFaultFired, .detail = "delay"});
      events.push_back({.kind = RecordKind::kSaveBegin, .step = step});
      events.push_back({.kind = RecordKind::kSaveAcknowledged, .step = step});
      events.push_back({.kind = RecordKind::kWorkerLost, .about = 1});
    }
    if (step % 20 == 0) {
      events.push_back({.kind = RecordKind::kEvaluated, .step = step});
    }
  }
  Record record;
  record.incarnations = {Process(0, 1, 0, std::move(events))};
  return record;
}

TEST(ChromeTraceTest, CrashIsShownFromFaultToResumption) {
  const json trace = TraceOf(SampleRecord());
  const std::vector<std::string> slices = Shown(trace, "X");
  EXPECT_THAT(slices,
              IsSupersetOf(
                  {"worker 0/control: incarnation 1 [0+41]",
                   "worker 0/compute: step 1 [0+10]",
                   "worker 0/checkpoint: save of step 2 [21+2]",
                   "worker 0/compute: step 3 [23+7]",
                   "worker 0/checkpoint: load of step-2 [50+9]",
                   "worker 0/communication: rendezvous of generation 0 [50+10]",
                   "worker 0/compute: step 3 [60+10]",
                   "worker 1/control: crash fires: crash worker 1 at "
                   "step.end, step 3 [31+0.001]"}));
  EXPECT_THAT(Shown(trace, "i"),
              Contains("worker 0/control: loses rank 1 (closed): connection "
                       "lost [40]"));
  EXPECT_THAT(Shown(trace, "s"),
              IsSupersetOf({"worker 1/control: leads to [31]",
                            "worker 0/control: leads to [40]",
                            "worker 0/control: leads to [50]"}));
  EXPECT_THAT(Shown(trace, "f"), Contains("worker 0/control: leads to [60]"));
}

TEST(ChromeTraceTest, CounterIsTheTrainingPosition) {
  std::vector<int> steps;
  const json trace = TraceOf(SampleRecord());
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "C" && event["pid"] == 100) {
      steps.push_back(event["args"]["step"]);
    }
  }
  EXPECT_THAT(steps, testing::UnorderedElementsAre(1, 2, 3, 2, 3, 4));
}

TEST(ChromeTraceTest, ArgumentsHaveLossAsDecimalAndBits) {
  Record record = LongRecord(2);
  record.incarnations[0].events[2].loss_bits = 0x3ed34d6a;
  record.incarnations[0].events.back().loss_bits = 0x7fc00000;
  const json trace = TraceOf(record);
  const json finite = EventNamed(trace, "step 1")["args"];
  EXPECT_EQ(finite["loss"], 0.4127);
  EXPECT_EQ(finite["loss_bits"], "3ed34d6a");
  EXPECT_EQ(finite["step"], 1);
  EXPECT_EQ(EventNamed(trace, "step 2")["args"]["loss"], "nan");
}

TEST(ChromeTraceTest, LauncherShowsPausesAndExits) {
  Record record = SampleRecord();
  const int64_t begin_ns = record.incarnations[0].events[0].t_ns;
  std::vector<RecordEvent>& events = record.launchers[0].events;
  events = {{.kind = RecordKind::kLauncherBegin, .t_ns = begin_ns},
            {.kind = RecordKind::kExited,
             .t_ns = begin_ns + 42 * kMs,
             .about = 1,
             .incarnation = 1},
            {.kind = RecordKind::kRestarting,
             .t_ns = begin_ns + 43 * kMs,
             .count = 1,
             .limit_ns = 7 * kMs},
            {.kind = RecordKind::kStarted,
             .t_ns = begin_ns + 50 * kMs,
             .about = 1,
             .incarnation = 2}};
  const json trace = TraceOf(record);
  EXPECT_THAT(Shown(trace, "X"),
              IsSupersetOf({"launcher/control: launch 1 [0+50]",
                            "launcher/control: pause before restart 1 [43+7]",
                            "worker 1/control: incarnation 1 [1+41]"}));
  EXPECT_THAT(Shown(trace, "i"),
              Contains("launcher/control: worker 1 exited with code 0 [42]"));
}

TEST(ChromeTraceTest, MachineIsAProcess_IfItHasEvents) {
  Record record = SampleRecord();
  record.machine = {{.kind = RecordKind::kPowerCut,
                     .t_ns = record.incarnations[0].events[3].t_ns,
                     .path = "w0.1",
                     .detail = "weak"}};
  EXPECT_THAT(Shown(TraceOf(record), "i"),
              Contains("simulated machine/control: all hosts lose power (disk "
                       "profile weak) [21]"));
}

TEST(ChromeTraceTest, EpochHoldsItsStepsAndEvaluation) {
  Record record;
  record.incarnations = {
      Process(0, 1, 5,
              {{.kind = RecordKind::kInitialized},
               {.kind = RecordKind::kStep, .step = 1},
               {.kind = RecordKind::kEvaluated, .step = 1},
               {.kind = RecordKind::kEpochEnd},
               {.kind = RecordKind::kStep, .step = 2, .epoch = 1}})};
  EXPECT_THAT(Shown(TraceOf(record), "X"),
              IsSupersetOf({"worker 0/compute: epoch 1 [0+3]",
                            "worker 0/compute: step 1 [0+1]",
                            "worker 0/compute: evaluation at step 1 [1+1]",
                            "worker 0/compute: epoch 2 (cut short) [3+1]"}));
}

TEST(ChromeTraceTest, SaveInProgress_LastsUntilItsProcessEnds) {
  Record record;
  record.incarnations = {Process(0, 1, 0,
                                 {{.kind = RecordKind::kWorkerStarted},
                                  {.kind = RecordKind::kSaveBegin, .step = 4},
                                  {.kind = RecordKind::kFaultFired}})};
  record.machine = {{.kind = RecordKind::kProcessEnded,
                     .t_ns = 7 * kMs,
                     .about = 0,
                     .incarnation = 1,
                     .reason = RecordReason::kSignal}};
  const json trace = TraceOf(record);
  EXPECT_THAT(
      Shown(trace, "X"),
      IsSupersetOf({"worker 0/control: incarnation 1 [0+7]",
                    "worker 0/communication: rendezvous (cut short) [0+7]",
                    "worker 0/checkpoint: save of step 4 (cut short) [1+6]"}));
}

TEST(ChromeTraceTest, OperationWithoutAnEnd_IsAnInstant) {
  Record record;
  record.incarnations = {
      Process(0, 1, 0,
              {{.kind = RecordKind::kRetireBegin, .path = "/ckpt/step-1"},
               {.kind = RecordKind::kRetireBegin, .path = "/ckpt/step-2"},
               {.kind = RecordKind::kRetired, .path = "/ckpt/step-2"}})};
  const json trace = TraceOf(record);
  EXPECT_THAT(Shown(trace, "i"),
              ElementsAre("worker 0/control: is about to remove step-1 [0]"));
  EXPECT_THAT(Shown(trace, "X"),
              Contains("worker 0/checkpoint: removal of step-2 [1+1]"));
}

TEST(ChromeTraceTest, OverlappingSaves_HaveThreadsOfTheirOwn) {
  Record record;
  record.setup.async_saves = true;
  record.incarnations = {
      Process(0, 1, 0,
              {{.kind = RecordKind::kSaveBegin, .step = 1},
               {.kind = RecordKind::kSaveBegin, .step = 2},
               {.kind = RecordKind::kSaveAcknowledged, .step = 1},
               {.kind = RecordKind::kSaveAcknowledged, .step = 2}})};
  EXPECT_THAT(Shown(TraceOf(record), "X"),
              IsSupersetOf({"worker 0/checkpoint: save of step 1 [0+2]",
                            "worker 0/checkpoint 2: save of step 2 [1+2]"}));
}

TEST(ChromeTraceTest, StaleWorker_HasThreadsOfItsOwn) {
  const std::vector<RecordEvent> events = {
      {.kind = RecordKind::kWorkerStarted},
      {.kind = RecordKind::kInitialized},
      {.kind = RecordKind::kStep, .step = 1},
      {.kind = RecordKind::kStep, .step = 2}};
  Record record;
  record.incarnations = {Process(0, 1, 0, events), Process(0, 2, 2, events)};
  EXPECT_THAT(Shown(TraceOf(record), "X"),
              IsSupersetOf({"worker 0/control: incarnation 1 [0+3]",
                            "worker 0/compute: step 2 [2+1]",
                            "worker 0/control 2: incarnation 2 [2+3]",
                            "worker 0/compute 2: step 2 [4+1]"}));
}

TEST(ChromeTraceTest, EventsAtOneTimeOrNanosecondsApart_NestStill) {
  Record record = SampleRecord();
  for (IncarnationEvents& incarnation : record.incarnations) {
    for (size_t i = 0; i < incarnation.events.size(); ++i) {
      incarnation.events[i].t_ns =
          incarnation.number * 100 + static_cast<int64_t>(i / 2);
    }
  }
  EXPECT_THAT(Shown(TraceOf(record), "X"),
              Not(Contains(HasSubstr("control 2"))));
}

TEST(ChromeTraceTest, TimesInMicroseconds_KeepTheNanosecondIfTruncated) {
  Record record;
  for (int64_t t_ns = 0; t_ns < 5'000; ++t_ns) {
    record.machine.push_back({.kind = RecordKind::kPowerCut, .t_ns = t_ns});
  }
  int64_t expected = 0;
  const json trace = TraceOf(record);
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "i") continue;
    EXPECT_EQ(static_cast<int64_t>(event["ts"].get<double>() * 1e3),
              expected++);
  }
  EXPECT_EQ(expected, 5'000);
}

TEST(ChromeTraceTest, StepsAreMerged_WhenTheTraceIsTooLarge) {
  const Record record = LongRecord(1'000);
  const json whole = TraceOf(record);
  EXPECT_THAT(whole["otherData"]["left_out"], IsEmpty());
  constexpr size_t kMaxBytes = 200'000;
  const std::string text = RenderChromeTrace(record, {.max_bytes = kMaxBytes});
  EXPECT_LE(text.size(), kMaxBytes);
  const json thin = Checked(text);
  const std::vector<std::string> slices = Shown(thin, "X");
  EXPECT_THAT(slices, Contains(StartsWith("worker 0/compute: steps 10-19 [")));
  EXPECT_THAT(slices, Contains(StartsWith("worker 0/compute: step 500 [")));
  EXPECT_THAT(slices,
              Contains(StartsWith("worker 0/checkpoint: save of step 500 [")));
  EXPECT_EQ(Shown(thin, "i"), Shown(whole, "i"));
  const json merged = EventNamed(thin, "steps 10-19")["args"];
  EXPECT_EQ(merged["first_step"], 10);
  EXPECT_EQ(merged["steps"], 10);
  uint64_t left_out = 0;
  for (const json& event : thin["traceEvents"]) {
    if (event["ph"] == "X") left_out += event["args"].value("steps", 1u) - 1;
  }
  EXPECT_EQ(thin["otherData"]["left_out"]["step_slices"], left_out);
}

TEST(ChromeTraceTest, StepsDuringAnIncidentAnywhere_KeepTheirSlices) {
  Record record = LongRecord(1'000);
  // An evaluation follows every 20 steps and takes as long as a step.
  record.machine = {{.kind = RecordKind::kPowerCut, .t_ns = 268 * kMs + 1}};
  const json thin = TraceOf(record, {.max_bytes = 200'000});
  EXPECT_THAT(Shown(thin, "X"),
              IsSupersetOf({"worker 0/compute: steps 250-255 [262+6]",
                            "worker 0/compute: step 256 [268+1]",
                            "worker 0/compute: steps 257-259 [269+3]"}));
}

TEST(ChromeTraceTest, FaultsSavesAndLossesRemain_WhateverTheLimit) {
  const Record record = LongRecord(1'000);
  const json least = TraceOf(record, {.max_bytes = 1});
  EXPECT_EQ(Shown(least, "i"), Shown(TraceOf(record), "i"));
  EXPECT_THAT(Shown(least, "X"), IsSupersetOf({HasSubstr("save of step 500"),
                                               HasSubstr("delay fires")}));
  EXPECT_THAT(Shown(least, "X"), Not(Contains(HasSubstr("evaluation"))));
  const json left_out = least["otherData"]["left_out"];
  EXPECT_EQ(left_out["routine_slices"], 51);  // 50 evaluations, 1 epoch
  EXPECT_GT(left_out["bytes_over_limit"], 0);
}

TEST(ChromeTraceTest, EqualRecordsGiveEqualBytes) {
  EXPECT_EQ(RenderChromeTrace(SampleRecord()),
            RenderChromeTrace(SampleRecord()));
}

TEST(ChromeTraceTest, BytesFromOutsideBecomeValidText) {
  Record record = SampleRecord();
  const std::string hostile("\xff\xc3\"\\\n\x1b[2J\0</script>", 19);
  record.case_name = hostile;
  record.faults[0].id = hostile;
  record.faults[0].summary = hostile;
  for (IncarnationEvents& incarnation : record.incarnations) {
    for (RecordEvent& event : incarnation.events) {
      event.detail = event.path = event.digest = hostile;
    }
  }
  const json trace = TraceOf(record);
  for (const json& event : trace["traceEvents"]) {
    const std::string name = event["name"];
    EXPECT_EQ(name.find_first_of(std::string("\n\x1b\0", 3)), name.npos);
  }
  EXPECT_THAT(std::string(trace["otherData"]["case"]),
              StartsWith("\xEF\xBF\xBD"));
}

TEST(ChromeTraceTest, TimesThatDecreaseWithinAProcess_AreHeldBack) {
  Record record = SampleRecord();
  for (IncarnationEvents& incarnation : record.incarnations) {
    std::ranges::reverse(incarnation.events);
  }
  TraceOf(record);
}

TEST(ChromeTraceTest, RecordWithoutEventsGivesAnEmptyTrace) {
  const json trace = TraceOf({.case_name = "a", .skipped = "needs a GPU"});
  EXPECT_THAT(trace["traceEvents"], IsEmpty());
  EXPECT_EQ(trace["otherData"]["skipped"], "needs a GPU");
}

}  // namespace
}  // namespace gauntlet
