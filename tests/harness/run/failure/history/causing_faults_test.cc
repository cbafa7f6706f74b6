// Faults that an explanation blames for an interruption, beside innocent ones.
#include "harness/run/failure/history/causing_faults.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chaos/inject/plan/plan.h"
#include "engine/world/event_log.h"

namespace gauntlet {
namespace {

constexpr int64_t kLimit = 100;

RecordFault FaultOf(const std::string& kind, int64_t lasts_ns = 0) {
  return {.id = kind,
          .kind = kind,
          .summary = kind,
          .latency_ns = lasts_ns,
          .duration_ns = lasts_ns};
}

// A fault that fires on a worker.
struct Fired {
  RecordFault fault;
  int worker = 0;
  int64_t t_ns = 0;
};

// Returns a run whose worker 0 loses worker 1 at 1000 ns for that reason.
Record LossRecord(RecordReason reason, const std::vector<Fired>& fired) {
  Record record;
  record.incarnations = {{.worker = 0}, {.worker = 1}};
  for (const Fired& one : fired) {
    record.faults.push_back(one.fault);
    record.incarnations[static_cast<size_t>(one.worker)].events.push_back(
        {.kind = RecordKind::kFaultFired,
         .t_ns = one.t_ns,
         .detail = one.fault.id});
  }
  record.incarnations[0].events.push_back({.kind = RecordKind::kWorkerLost,
                                           .t_ns = 1000,
                                           .about = 1,
                                           .reason = reason,
                                           .limit_ns = kLimit});
  return record;
}

struct Blamed {
  std::set<std::string> ids;
  bool are_certain = true;

  bool operator==(const Blamed&) const = default;
};

Blamed BlamedIn(const Record& record) {
  const Outline outline(record);
  const Causes causes = CausesOf(outline, 0, 2000);
  Blamed blamed = {.are_certain = causes.are_certain};
  for (const RecordFault* fault : causes.faults) blamed.ids.insert(fault->id);
  return blamed;
}

TEST(CausingFaultsTest, ResetOfTheLostConnectionLeavesOutDelays) {
  const Fired loss = {FaultOf("packet_loss"), 0, 500};
  const Fired reset = {FaultOf("connection_reset"), 1, 990};
  const std::vector<Fired> both = {loss, reset};
  EXPECT_EQ(BlamedIn(LossRecord(RecordReason::kClosed, both)),
            (Blamed{{"connection_reset"}}));
  EXPECT_EQ(BlamedIn(LossRecord(RecordReason::kClosed, {loss})),
            (Blamed{{"packet_loss"}}));
}

TEST(CausingFaultsTest, EndOfTheLostProcessLeavesOutDelays) {
  for (const char* kind : {"crash", "kill", "gpu_error"}) {
    EXPECT_EQ(BlamedIn(LossRecord(
                  RecordReason::kClosed,
                  {{FaultOf("slow", 50), 1, 900}, {FaultOf(kind), 1, 990}})),
              (Blamed{{kind}}));
  }
}

TEST(CausingFaultsTest, DelayThatEndedBeforeTheWaitIsNotBlamed) {
  EXPECT_EQ(BlamedIn(LossRecord(
                RecordReason::kDeadline,
                {{FaultOf("slow", 50), 1, 300}, {FaultOf("hang"), 1, 890}})),
            (Blamed{{"hang"}}));
  EXPECT_EQ(BlamedIn(LossRecord(RecordReason::kDeadline,
                                {{FaultOf("slow", 50), 1, 300}})),
            Blamed{});
  EXPECT_EQ(BlamedIn(LossRecord(RecordReason::kDeadline,
                                {{FaultOf("slow", 50), 1, 930}})),
            (Blamed{{"slow"}}));
}

TEST(CausingFaultsTest, SeveralDelaysMayEachBeTheCause) {
  const Record record = LossRecord(
      RecordReason::kDeadline,
      {{FaultOf("slow", 50), 1, 940}, {FaultOf("packet_loss"), 0, 500}});
  EXPECT_EQ(BlamedIn(record), (Blamed{{"slow", "packet_loss"}, false}));
}

TEST(CausingFaultsTest, FaultAfterTheSignIsNotBlamed) {
  EXPECT_EQ(BlamedIn(LossRecord(
                RecordReason::kDeadline,
                {{FaultOf("hang"), 1, 890}, {FaultOf("crash"), 0, 1001}})),
            (Blamed{{"hang"}}));
}

// Returns the faults blamed for the exit of a worker with that reason, after a
// fault of its storage. `lost`: between the fault and the exit, the worker
// declared another one lost.
Blamed BlamedForExit(RecordReason reason, bool lost = false) {
  Record record;
  record.faults = {FaultOf("errno")};
  record.incarnations = {
      {.events = {
           {.kind = RecordKind::kFaultFired, .t_ns = 900, .detail = "errno"}}}};
  std::vector<RecordEvent>& events = record.incarnations[0].events;
  if (lost) {
    events.push_back(
        {.kind = RecordKind::kWorkerLost, .t_ns = 950, .about = 1});
  }
  events.push_back({.kind = RecordKind::kWorkerExited,
                    .t_ns = 1000,
                    .count = 1,
                    .reason = reason});
  return BlamedIn(record);
}

TEST(CausingFaultsTest, InjectedErrorIsBlamedForAnExitWithSuchAnError) {
  const Blamed blamed = {{"errno"}};
  for (const FaultErrorInfo& error : AllFaultErrors()) {
    SCOPED_TRACE(error.name);
    const Status injected = FaultErrorStatus(error.number, Point::kStepBegin);
    EXPECT_EQ(BlamedForExit(ReasonOf(injected.code())), blamed);
  }
  EXPECT_EQ(BlamedForExit(RecordReason::kLostWorker, /*lost=*/true), Blamed{});
  EXPECT_EQ(BlamedForExit(RecordReason::kSuperseded), Blamed{});
  EXPECT_EQ(BlamedForExit(RecordReason::kPrecondition), Blamed{});
}

// The error of the exit names the point of the fault.
TEST(CausingFaultsTest, InjectedErrorIsBlamedForAnExitThatStatesIt) {
  Record record;
  record.faults = {FaultOf("errno")};
  record.faults[0].point = "export.write";
  record.incarnations = {
      {.events = {
           {.kind = RecordKind::kFaultFired, .t_ns = 900, .detail = "errno"},
           {.kind = RecordKind::kWorkerExited,
            .t_ns = 1000,
            .count = 1,
            .detail = "the export failed: export.write: injected EACCES",
            .reason = RecordReason::kPrecondition}}}};
  EXPECT_EQ(BlamedIn(record), (Blamed{{"errno"}}));
  record.faults[0].point = "export.rename";
  EXPECT_EQ(BlamedIn(record), Blamed{});
}

TEST(CausingFaultsTest, NoticeToTheLauncherIsBlamedForAStop) {
  Record record;
  record.faults = {FaultOf("terminate_launcher")};
  record.incarnations = {{.events = {{.kind = RecordKind::kFaultFired,
                                      .t_ns = 900,
                                      .detail = "terminate_launcher"}}}};
  EXPECT_EQ(BlamedIn(record), (Blamed{{"terminate_launcher"}}));
}

}  // namespace
}  // namespace gauntlet
