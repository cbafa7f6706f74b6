#include "harness/run/failure/process_ends.h"

#include <string_view>
#include <vector>

#include "engine/worker_exit_code.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the meaning of a worker's exit code; "" if the code states none.
std::string_view MeaningOfExit(int64_t code) {
  switch (static_cast<WorkerExit>(code)) {
    case WorkerExit::kDone:
    case WorkerExit::kFailed:
      return "";
    case WorkerExit::kBadInput:
      return "bad input";
    case WorkerExit::kNoCheckpoint:
      return "no checkpoint can be loaded";
    case WorkerExit::kOtherJob:
      return "the checkpoints belong to another job";
    case WorkerExit::kNotFinite:
      return "a loss or state is not finite";
    case WorkerExit::kStartLater:
      return "its state could not be saved, or the machine lacks resources";
    case WorkerExit::kLostWorker:
      return "another worker was lost, or the disk failed";
    case WorkerExit::kStopped:
      return "stopped on a notice";
  }
  return "";
}

}  // namespace

const RecordEvent* FirstEnd(const Record& record, int64_t from_ns,
                            int64_t until_ns) {
  const RecordEvent* first = nullptr;
  const auto look_at = [&](const std::vector<RecordEvent>& events) {
    for (const RecordEvent& event : events) {
      const bool is_end = (event.kind == RecordKind::kProcessEnded ||
                           event.kind == RecordKind::kExited) &&
                          event.count != 0;
      if ((is_end || event.kind == RecordKind::kPowerCut) &&
          event.t_ns >= from_ns && event.t_ns <= until_ns &&
          (first == nullptr || event.t_ns < first->t_ns ||
           (event.t_ns == first->t_ns &&
            event.kind == RecordKind::kPowerCut))) {
        first = &event;
      }
    }
  };
  look_at(record.machine);
  for (const LauncherRun& run : record.launchers) look_at(run.events);
  return first;
}

std::string EndText(const RecordEvent& end) {
  if (end.kind == RecordKind::kPowerCut) {
    return fmt::format("host {} lost power", end.path);
  }
  const int about = end.about.value_or(kLauncherWorker);
  const std::string who = about == kLauncherWorker
                              ? "the launcher"
                              : fmt::format("worker {}", about);
  if (end.reason == RecordReason::kSignal) return who + " was killed";
  if (end.reason == RecordReason::kUnreachable) {
    return who + " could no longer be reached";
  }
  const std::string_view meaning = MeaningOfExit(end.count);
  return fmt::format("{} exited with code {}{}", who, end.count,
                     meaning.empty() ? "" : fmt::format(" ({})", meaning));
}

}  // namespace gauntlet
