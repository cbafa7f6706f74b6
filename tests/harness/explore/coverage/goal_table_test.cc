// Each coverage goal: a run that reaches it, and one that almost does.
#include <algorithm>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/world/fault_point.h"
#include "harness/explore/coverage/goals.h"

namespace gauntlet {
namespace {

using K = RecordKind;
using Events = std::vector<RecordEvent>;

const RecordEvent kState = {.kind = K::kInitialized};
const RecordEvent kSaveBegun = {.kind = K::kSaveBegin, .step = 2};
const RecordEvent kSaved = {.kind = K::kSaveAcknowledged, .step = 2};
const RecordEvent kEvaluating = {
    .kind = K::kStep, .step = 6, .phase = RecordPhase::kEvaluationDue};

RecordEvent Fired(Point point, std::string fault = "fault") {
  return {.kind = K::kFaultFired,
          .path = std::string(PointName(point)),
          .detail = std::move(fault)};
}

// Returns an incarnation whose events are 1 ms apart. Their generation has the
// incarnation's number. The next incarnation begins a second later.
IncarnationEvents Incarnation(int worker, int incarnation, Events events) {
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].t_ns = incarnation * int64_t{1'000'000'000} +
                     static_cast<int64_t>(i + 1) * 1'000'000;
    events[i].generation = static_cast<uint64_t>(incarnation);
  }
  return {.worker = worker, .number = incarnation, .events = std::move(events)};
}

Record RunOf(std::vector<IncarnationEvents> incarnations) {
  Record record;
  record.incarnations = std::move(incarnations);
  record.launchers = {{.exit_code = 0}};
  return record;
}

// Returns a record with the fault, under the id "fault".
Record With(RecordFault fault, std::vector<IncarnationEvents> incarnations) {
  Record record = RunOf(std::move(incarnations));
  fault.id = "fault";
  if (fault.kind == "power_loss") {
    record.machine = {{.kind = K::kPowerCut, .t_ns = INT64_MAX}};
  }
  record.faults = {std::move(fault)};
  return record;
}

// Returns a run in which worker 0 dies of the fault at that point.
Record Died(const char* kind, Point point, int incarnation, Events events) {
  events.push_back(Fired(point));
  return With({.kind = kind}, {Incarnation(0, incarnation, std::move(events))});
}

Record Noticed(Point point, int incarnation, Events events) {
  Record record = Died("preempt", point, incarnation, std::move(events));
  record.faults[0].grace_ns = 10'000'000;
  return record;
}

void SwapFirstTwo(Record& record) {
  Events& events = record.incarnations.at(0).events;
  std::swap(events.at(0), events.at(1));
}
void NoGrace(Record& record) { record.faults.at(0).grace_ns = 0; }
// Adds an event after the fault: a worker that emits another event did not die
// of the fault.
void AddEvent(Record& record, RecordEvent event) {
  event.generation = record.incarnations.at(0).events.back().generation;
  event.t_ns = record.incarnations[0].events.back().t_ns + 1;
  record.incarnations[0].events.push_back(std::move(event));
}
// Adds another fault, which fires in the last incarnation.
void AddFault(Record& record, const char* kind) {
  record.faults.push_back({.id = "other", .kind = kind});
  RecordEvent fired = Fired(Point::kStepEnd, "other");
  fired.t_ns = record.incarnations.back().events.back().t_ns + 1;
  record.incarnations.back().events.push_back(std::move(fired));
}

struct GoalCase {
  std::string_view goal;
  Record comes;
  std::function<void(Record&)> spoil;
};

void PrintTo(const GoalCase& one, std::ostream* out) { *out << one.goal; }

Record HangNoticed() {
  return With({.kind = "hang"},
              {Incarnation(1, 1, {kState, Fired(Point::kStepBegin)}),
               Incarnation(0, 1, {kState, kState, {.kind = K::kWorkerLost}})});
}

Record TwoFaults(const char* kind, int second_worker, int second_incarnation) {
  Record record =
      With({.kind = kind},
           {Incarnation(0, 1, {kState, Fired(Point::kStepBegin)}),
            Incarnation(second_worker, second_incarnation,
                        {kState, Fired(Point::kStepBegin, "second")})});
  record.faults.push_back({.id = "second", .kind = kind});
  return record;
}

Record ThreeFaults() {
  Record record = With(
      {.kind = "slow"},
      {Incarnation(0, 1,
                   {Fired(Point::kStepBegin), Fired(Point::kStepEnd, "second"),
                    Fired(Point::kStepEnd, "third")})});
  record.faults.push_back({.id = "second", .kind = "slow"});
  record.faults.push_back({.id = "third", .kind = "slow"});
  return record;
}

Record StoppedAndDone() {
  Record record = RunOf({});
  record.launchers = {
      {.exit_code = 143},
      {.exit_code = 0, .result = FinalResult{.status = "done"}}};
  return record;
}

RecordEvent Resumed(uint64_t step) {
  return {.kind = K::kResumed, .step = step};
}

const GoalCase kDeaths[] = {
    {"died-while-recovering", Died("crash", Point::kLoadRead, 2, {}),
     [](Record& r) { r.incarnations[0].number = 1; }},
    {"died-after-the-rename",
     Died("crash", Point::kRenamed, 1, {kState, kSaveBegun}),
     // A torn write takes effect at the next write, after the acknowledgement.
     [](Record& r) {
       r.faults[0] = {.id = "fault", .kind = "torn_write", .then = "crash"};
     }},
    {"died-after-the-rename",
     Died("kill", Point::kParentSync, 1, {kState, kSaveBegun}),
     [](Record& r) { AddEvent(r, kSaved); }},
    {"died-in-an-evaluation",
     Died("kill", Point::kEvalBegin, 1, {kState, kEvaluating}),
     [](Record& r) { AddEvent(r, {.kind = K::kEvaluated, .step = 6}); }},
    {"power-cut-in-a-save",
     Died("power_loss", Point::kHeartbeat, 1, {kState, kSaveBegun}),
     [](Record& r) { r.incarnations[0].events[1].kind = K::kSaveFailed; }},
    {"power-cut-while-recovering", Died("power_loss", Point::kLoadBegin, 2, {}),
     [](Record& r) { r.incarnations[0].number = 1; }},
    {"power-cut-twice", TwoFaults("power_loss", 0, 2),
     [](Record& r) { r.faults[1].kind = "crash"; }},
    {"fault-in-the-third-incarnation",
     Died("slow", Point::kStepEnd, 3, {kState}),
     [](Record& r) { r.incarnations[0].number = 2; }},
    {"chief-and-another-died", TwoFaults("crash", 1, 1),
     [](Record& r) { r.incarnations[1].number = 2; }},
    {"chief-and-another-died", TwoFaults("crash", 1, 1),
     [](Record& r) { r.incarnations[0].worker = 2; }},
    {"retention-interrupted",
     Died("crash", Point::kRetireRename, 1, {kState, kSaved}),
     [](Record& r) { r.incarnations[0].events[1].kind = K::kFinished; }},
    {"deletion-at-the-end-interrupted",
     Died("crash", Point::kBackupDelete, 1, {kState, {.kind = K::kFinished}}),
     [](Record& r) {
       r.faults[0] = {.id = "fault", .kind = "torn_write", .then = "crash"};
     }},
    {"hang-detected", HangNoticed(),
     [](Record& r) { AddFault(r, "power_loss"); }},
    {"hang-detected", HangNoticed(),
     [](Record& r) { AddEvent(r, {.kind = K::kWorkerExited}); }},
    {"resumed-after-pause",
     With(
         {.kind = "hang"},
         {Incarnation(0, 1, {Fired(Point::kStepEnd), {.kind = K::kFinished}})}),
     SwapFirstTwo},
    {"three-faults", ThreeFaults(),
     [](Record& r) { r.incarnations[0].events[2].detail = "second"; }},
};

const GoalCase kStores[] = {
    {"resumed-from-older-checkpoint",
     RunOf({Incarnation(0, 2, {{.kind = K::kRejected}, Resumed(2)})}),
     SwapFirstTwo},
    {"refused",
     [] {
       Record record = RunOf({});
       record.launchers[0].exit_code = 7;
       return record;
     }(),
     [](Record& r) { r.launchers[0].exit_code = 75; }},
    {"claimed-without-a-step",
     RunOf({Incarnation(0, 1, {kState}), Incarnation(0, 2, {Resumed(2)}),
            Incarnation(0, 3, {Resumed(2)})}),
     [](Record& r) {
       r.incarnations[1].events.push_back(
           {.kind = K::kStep, .generation = 2, .step = 3});
     }},
    {"resumed-from-the-same-twice",
     RunOf({Incarnation(0, 2, {Resumed(2)}), Incarnation(0, 3, {Resumed(2)})}),
     [](Record& r) {
       r.incarnations[1].events[0].phase = RecordPhase::kEvaluationDue;
     }},
    {"began-again-from-nothing",
     RunOf({Incarnation(0, 1, {kState, kSaveBegun}),
            Incarnation(0, 2, {kState})}),
     [](Record& r) {
       r.incarnations[0].events[1].kind = K::kSaveAcknowledged;
     }},
    {"adopted-an-unacknowledged-save",
     RunOf({Incarnation(0, 1, {kState, kSaveBegun}),
            Incarnation(0, 2, {Resumed(2)})}),
     [](Record& r) {
       r.incarnations[0].events[1].kind = K::kSaveAcknowledged;
     }},
    {"saved-a-step-again",
     RunOf({Incarnation(0, 1, {kState, kSaved}),
            Incarnation(0, 2, {kState, kSaved})}),
     [](Record& r) { r.incarnations[1].events[1].step = 3; }},
    {"freed-room-for-a-save",
     RunOf({Incarnation(0, 1,
                        {{.kind = K::kSaveFailed}, {.kind = K::kRetired}})}),
     SwapFirstTwo},
    {"gave-up-the-last-save",
     RunOf({Incarnation(
         0, 1, {kState, {.kind = K::kWorkerExited, .step = 8, .count = 74}})}),
     [](Record& r) { r.incarnations[0].events.back().count = 75; }},
    {"save-failed-and-the-next-succeeded",
     RunOf({Incarnation(0, 1, {{.kind = K::kSaveFailed}, kSaved})}),
     SwapFirstTwo},
    {"two-claims-raced",
     RunOf({Incarnation(
         0, 1, {{.kind = K::kWorkerStarted}, {.kind = K::kFencedOut}})}),
     [](Record& r) { r.incarnations[0].events[0].kind = K::kGeneration; }},
    {"stale-worker-fenced",
     RunOf({Incarnation(0, 1, {kSaveBegun, {.kind = K::kFencedOut}})}),
     SwapFirstTwo},
    {"late-commit-void",
     RunOf({Incarnation(0, 1, {{.kind = K::kFencedFound}})}),
     [](Record& r) { r.incarnations[0].events[0].kind = K::kFencedOut; }},
    {"load-retried",
     With({.kind = "errno"},
          {Incarnation(0, 2, {Fired(Point::kLoadRead), Resumed(2)})}),
     SwapFirstTwo},
    {"load-error-ended-the-incarnation",
     With({.kind = "errno"},
          {Incarnation(0, 2,
                       {Fired(Point::kLoadRead),
                        {.kind = K::kWorkerExited, .count = 75}})}),
     [](Record& r) { r.incarnations[0].events.pop_back(); }},
    {"damaged-while-being-loaded", Died("bit_flip", Point::kLoadRead, 2, {}),
     [](Record& r) {
       r.faults[0] = {
           .id = "fault", .kind = "power_loss", .disk = "lying-fsync"};
     }},
};

const GoalCase kNotices[] = {
    {"notice-in-an-evaluation",
     Noticed(Point::kEvalBegin, 1, {kState, kEvaluating}), NoGrace},
    {"notice-in-a-save", Noticed(Point::kHeartbeat, 1, {kState, kSaveBegun}),
     NoGrace},
    {"notice-while-recovering", Noticed(Point::kLoadBegin, 2, {}), NoGrace},
    {"stopped-and-resumed", StoppedAndDone(),
     [](Record& r) { r.launchers[0].exit_code = -1; }},
    {"stopped-and-resumed", StoppedAndDone(),
     [](Record& r) { r.launchers[1].result.reset(); }},
    {"finished-despite-notice",
     RunOf({Incarnation(0, 1, {{.kind = K::kNotice}, {.kind = K::kFinished}})}),
     SwapFirstTwo},
    {"grace-too-short", Noticed(Point::kStepEnd, 1, {kState}),
     [](Record& r) { AddFault(r, "crash"); }},
    {"grace-too-short", Noticed(Point::kStepEnd, 1, {kState}),
     [](Record& r) { AddEvent(r, {.kind = K::kWorkerExited, .count = 143}); }},
    {"grace-too-short", Noticed(Point::kStepEnd, 1, {kState}),
     // The launcher killed this worker with the others.
     [](Record& r) {
       r.incarnations.push_back(Incarnation(
           1, 1, {kState, kState, {.kind = K::kWorkerExited, .count = 1}}));
     }},
};

RecordEvent ResumedFromMemory(const char* detail) {
  return {.kind = K::kResumedFromMemory, .step = 2, .detail = detail};
}
const RecordEvent kLeftOne = {.kind = K::kLeft};

// Returns a run in which one of two workers is left out, and the other
// finishes.
Record FinishedAlone() {
  Record record = RunOf({Incarnation(0, 1, {kState, {.kind = K::kFinished}})});
  record.setup = {.workers = 2, .min_workers = 1};
  return record;
}

const GoalCase kRejoins[] = {
    {"took-a-survivors-step-ahead",
     RunOf({Incarnation(0, 1,
                        {kState, kLeftOne, ResumedFromMemory("from rank 1")})}),
     [](Record& r) { r.incarnations[0].events[2].detail = "kept"; }},
    {"chief-rejoined",
     RunOf({Incarnation(
         0, 2,
         {{.kind = K::kWorkerStarted}, ResumedFromMemory("from rank 1")})}),
     [](Record& r) { r.incarnations[0].events[0].count = 1; }},
    {"went-on-with-fewer", FinishedAlone(),
     [](Record& r) { r.setup.workers = 1; }},
    {"died-while-rejoining", Died("crash", Point::kStateReceive, 2, {kState}),
     [](Record& r) { AddEvent(r, ResumedFromMemory("kept")); }},
    {"rejoin-resumed-from-older-checkpoint",
     RunOf({Incarnation(0, 1, {kState, kLeftOne}),
            Incarnation(0, 2, {Resumed(2)})}),
     [](Record& r) {
       r.incarnations[1].events[0].kind = K::kResumedFromMemory;
     }},
    {"rejoined-twice",
     RunOf({Incarnation(
         0, 1,
         {ResumedFromMemory("kept"), kLeftOne, ResumedFromMemory("kept")})}),
     [](Record& r) { r.incarnations[0].events[2].kind = K::kNotice; }},
    {"lost-save-replaced",
     RunOf({Incarnation(0, 2, {ResumedFromMemory("kept"), kSaved})}),
     [](Record& r) { r.incarnations[0].events[1].step = 3; }},
};

bool IsMet(const Record& record, std::string_view name) {
  const GoalSet goals = GoalsMetBy(Outline(record));
  for (size_t i = 0; i < AllGoals().size(); ++i) {
    if (AllGoals()[i].name == name) return goals[i];
  }
  ADD_FAILURE() << "no goal " << name;
  return false;
}

class GoalTableTest : public testing::TestWithParam<GoalCase> {};
INSTANTIATE_TEST_SUITE_P(Deaths, GoalTableTest, testing::ValuesIn(kDeaths));
INSTANTIATE_TEST_SUITE_P(Stores, GoalTableTest, testing::ValuesIn(kStores));
INSTANTIATE_TEST_SUITE_P(Notices, GoalTableTest, testing::ValuesIn(kNotices));
INSTANTIATE_TEST_SUITE_P(Rejoins, GoalTableTest, testing::ValuesIn(kRejoins));

TEST_P(GoalTableTest, IsMetByItsEventsAndNotByTheSpoiledRun) {
  Record record = GetParam().comes;
  EXPECT_TRUE(IsMet(record, GetParam().goal));
  GetParam().spoil(record);
  EXPECT_FALSE(IsMet(record, GetParam().goal));
}

TEST(GoalTable, HasEveryGoal) {
  std::set<std::string_view> tried;
  for (const GoalCase& one : kDeaths) tried.insert(one.goal);
  for (const GoalCase& one : kStores) tried.insert(one.goal);
  for (const GoalCase& one : kNotices) tried.insert(one.goal);
  for (const GoalCase& one : kRejoins) tried.insert(one.goal);
  for (const GoalInfo& info : AllGoals()) {
    EXPECT_TRUE(tried.contains(info.name)) << info.name;
  }
}

}  // namespace
}  // namespace gauntlet
