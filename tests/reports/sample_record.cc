#include "tests/reports/sample_record.h"

namespace gauntlet {
namespace {

constexpr int64_t kMs = 1'000'000;
// Clock time at the run's start, on a machine that booted earlier.
constexpr int64_t kBegin = 77'000 * kMs;

RecordEvent At(int64_t ms, RecordEvent event) {
  event.t_ns = kBegin + ms * kMs;
  return event;
}

RecordEvent Begin(int64_t ms) {
  return At(ms, {.kind = RecordKind::kWorkerStarted});
}
RecordEvent Step(int64_t ms, uint64_t step) {
  return At(ms, {.kind = RecordKind::kStep, .step = step});
}
RecordEvent Exit(int64_t ms, int64_t code, const char* why = "") {
  return At(ms,
            {.kind = RecordKind::kWorkerExited, .count = code, .detail = why});
}
RecordEvent Resume(int64_t ms) {
  return At(ms, {.kind = RecordKind::kResumed, .step = 2, .path = "step-2"});
}

constexpr const char* kLost = "connection lost";

}  // namespace

Record SampleRecord() {
  Record record = {.case_name = "crash[workers=2]", .world = "sim"};
  record.setup.workers = 2;
  record.faults = {{.id = "crash",
                    .kind = "crash",
                    .worker = "1",
                    .point = "step.end",
                    .summary = "crash worker 1 at step.end, step 3"}};
  record.incarnations = {
      {.worker = 0,
       .number = 1,
       .events = {Begin(0), Step(10, 1), Step(20, 2),
                  At(21, {.kind = RecordKind::kSaveBegin, .step = 2}),
                  At(23, {.kind = RecordKind::kSaveAcknowledged, .step = 2}),
                  Step(30, 3),
                  At(40, {.kind = RecordKind::kWorkerLost,
                          .detail = kLost,
                          .about = 1,
                          .reason = RecordReason::kClosed}),
                  Exit(41, 75, kLost)}},
      {.worker = 0,
       .number = 2,
       .events = {Begin(50),
                  At(59, {.kind = RecordKind::kLoaded,
                          .step = 2,
                          .path = "/ckpt/step-2"}),
                  Resume(60), Step(70, 3), Step(80, 4), Exit(90, 0)}},
      {.worker = 1,
       .number = 1,
       .events = {Begin(1), Step(10, 1), Step(20, 2),
                  At(31, {.kind = RecordKind::kFaultFired,
                          .step = 3,
                          .path = "step.end",
                          .detail = "crash"})}},
      {.worker = 1,
       .number = 2,
       .events = {Begin(51), Resume(61), Step(70, 3), Step(80, 4),
                  Exit(91, 0)}}};
  record.launchers = {
      {.exit_code = 0,
       .restarts = 1,
       .result = FinalResult{.status = "done", .epochs = 2, .steps = 4}}};
  return record;
}

}  // namespace gauntlet
