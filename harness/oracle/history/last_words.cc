#include "harness/oracle/history/last_words.h"

#include "engine/worker_exit_code.h"
#include <fmt/format.h>

namespace gauntlet {

bool IsRefusal(int64_t exit_code) {
  return IsExit(exit_code, {WorkerExit::kBadInput, WorkerExit::kNoCheckpoint,
                            WorkerExit::kOtherJob});
}

bool LeftToStartLater(const IncarnationEvents& incarnation) {
  return !incarnation.events.empty() &&
         incarnation.events.back().kind == RecordKind::kWorkerExited &&
         IsExit(incarnation.events.back().count, {WorkerExit::kStartLater});
}

bool IsDone(const Record& record) {
  return !record.launchers.empty() && record.launchers.back().result &&
         record.launchers.back().result->status == "done";
}

bool HasRefused(const Record& record) {
  return !record.launchers.empty() && !record.launchers.back().result &&
         IsRefusal(record.launchers.back().exit_code);
}

std::string ByTheKernel(const Record& record) {
  if (record.oom_kills == 0) return "";
  return fmt::format(
      "; meanwhile memory ran out: the kernel killed {} process{} of this "
      "machine",
      record.oom_kills, record.oom_kills == 1 ? "" : "es");
}

bool LeftUnsaved(const IncarnationEvents& incarnation) {
  return LeftToStartLater(incarnation) && incarnation.events.back().step > 0;
}

}  // namespace gauntlet
