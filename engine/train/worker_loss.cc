#include "engine/train/worker_loss.h"

#include <algorithm>

#include <fmt/format.h>

namespace gauntlet {
namespace {
constexpr int ExitCode(WorkerExit exit) { return static_cast<int>(exit); }
}  // namespace

bool Died(const WorkerExited& exited) {
  if (exited.signal != 0) return true;
  for (const WorkerExit told :
       {WorkerExit::kDone, WorkerExit::kFailed, WorkerExit::kBadInput,
        WorkerExit::kNoCheckpoint, WorkerExit::kLostWorker,
        WorkerExit::kStopped}) {
    if (exited.code == ExitCode(told)) return false;
  }
  return true;
}

std::string Describe(const Loss& loss) {
  if (loss.exited.signal != 0) {
    return fmt::format("worker {} was killed by signal {}", loss.worker,
                       loss.exited.signal);
  }
  if (loss.exited.code == ExitCode(WorkerExit::kLostWorker)) {
    return fmt::format("worker {} cannot go on: {}", loss.worker,
                       loss.failure.empty()
                           ? "another worker, the disk or memory failed"
                           : loss.failure);
  }
  const std::string text = fmt::format("worker {} exited with code {}",
                                       loss.worker, loss.exited.code);
  return loss.failure.empty() ? text : text + ": " + loss.failure;
}

std::optional<int> CulpritOf(std::span<const Loss> losses) {
  std::optional<int> stayed;
  int put_down = 0;
  for (const Loss& loss : losses) {
    if (!Died(loss.exited)) continue;
    if (!loss.put_down) return loss.worker;
    stayed = loss.worker;
    ++put_down;
  }
  return put_down == 1 ? stayed : std::nullopt;
}

}  // namespace gauntlet
