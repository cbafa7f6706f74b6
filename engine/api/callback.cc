#include "engine/api/callback.h"

#include <cmath>

namespace gauntlet {
EpochMetrics MetricsOf(const History& history, size_t index) {
  EpochMetrics metrics = {
      .loss = history.loss[index],
      .accuracy = ShareOf(history.correct[index], history.samples[index])};
  if (index < history.val_samples.size() && history.val_samples[index] > 0) {
    metrics.val_loss = history.val_loss[index];
    metrics.val_accuracy =
        ShareOf(history.val_correct[index], history.val_samples[index]);
  }
  return metrics;
}

Result<float> ValueOf(const EpochMetrics& metrics, Monitor monitor) {
  const bool of_validation =
      monitor == Monitor::kValLoss || monitor == Monitor::kValAccuracy;
  if (of_validation && std::isnan(metrics.val_accuracy)) {
    return InvalidArgument("monitor: expected validation samples, found none");
  }
  switch (monitor) {
    case Monitor::kLoss:
      return metrics.loss;
    case Monitor::kAccuracy:
      return static_cast<float>(metrics.accuracy);
    case Monitor::kValLoss:
      return metrics.val_loss;
    case Monitor::kValAccuracy:
      return static_cast<float>(metrics.val_accuracy);
  }
  return InvalidArgument("monitor: unknown");
}

std::string MonitorName(Monitor monitor) {
  switch (monitor) {
    case Monitor::kLoss:
      return "loss";
    case Monitor::kAccuracy:
      return "accuracy";
    case Monitor::kValLoss:
      return "val_loss";
    case Monitor::kValAccuracy:
      return "val_accuracy";
  }
  return "unknown";
}

bool MoreIsBetter(Monitor monitor) {
  return monitor == Monitor::kAccuracy || monitor == Monitor::kValAccuracy;
}

}  // namespace gauntlet
