#include "engine/train/launcher/worker_loss.h"

#include "engine/train/worker_exit.h"
#include <fmt/format.h>

namespace gauntlet {

bool Died(const WorkerExited& exited) {
  return exited.signal != 0 || !IsWorkerExit(exited.code);
}

bool FailedItself(const Loss& loss) {
  return Died(loss.exited) || loss.own_device_failed;
}

std::string Describe(const Loss& loss) {
  const bool killed = loss.exited.signal != 0;
  if (loss.own_device_failed ||
      (!killed &&
       loss.exited.code == WorkerExitCode(WorkerExit::kLostWorker))) {
    return fmt::format("worker {} exited: {}", loss.worker,
                       loss.failure.empty()
                           ? "another worker, the disk or memory failed"
                           : loss.failure);
  }
  if (!killed && loss.exited.code == WorkerExitCode(WorkerExit::kStartLater)) {
    return loss.failure.empty()
               ? fmt::format(
                     "worker {}: no processes, threads or disk space left "
                     "for it",
                     loss.worker)
               : loss.failure;
  }
  if (killed && loss.killed_by_launcher) {
    return fmt::format("worker {} did not answer in time, and was killed",
                       loss.worker);
  }
  if (killed) {
    return fmt::format("worker {} was killed by signal {}", loss.worker,
                       loss.exited.signal);
  }
  const std::string text = fmt::format("worker {} exited with code {}",
                                       loss.worker, loss.exited.code);
  return loss.failure.empty() ? text : text + ": " + loss.failure;
}

std::string DescribeAll(std::span<const Loss> losses) {
  const Loss& first = losses.front();
  const Loss* const culprit = CulpritOf(losses);
  if (culprit == nullptr || culprit == &first) return Describe(first);
  if (!culprit->killed_by_launcher || culprit->own_device_failed)
    return Describe(*culprit);
  return Describe(first) + "; " + Describe(*culprit);
}

const Loss* CulpritOf(std::span<const Loss> losses) {
  const Loss* stayed = nullptr;
  int put_down = 0;
  for (const Loss& loss : losses) {
    if (!FailedItself(loss)) continue;
    if (!loss.killed_by_launcher || loss.own_device_failed) return &loss;
    stayed = &loss;
    ++put_down;
  }
  return put_down == 1 ? stayed : nullptr;
}

}  // namespace gauntlet
