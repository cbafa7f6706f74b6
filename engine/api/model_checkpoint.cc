#include "engine/api/model_checkpoint.h"

#include <cmath>

#include "engine/api/weights/weights_file.h"
#include <fmt/args.h>
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kBestSaved = 0;
constexpr size_t kHasBestSaved = 1;

Result<std::string> PathFor(const std::string& pattern, uint64_t epoch,
                            const EpochMetrics& metrics) {
  // The pattern comes from the caller, and fmt throws for an invalid one.
  try {
    return fmt::format(fmt::runtime(pattern), fmt::arg("epoch", epoch),
                       fmt::arg("loss", metrics.loss),
                       fmt::arg("accuracy", metrics.accuracy),
                       fmt::arg("val_loss", metrics.val_loss),
                       fmt::arg("val_accuracy", metrics.val_accuracy));
  } catch (const fmt::format_error& error) {
    return InvalidArgument(
        fmt::format("model checkpoint: path '{}': {}", pattern, error.what()));
  }
}

}  // namespace

Status ModelCheckpoint::Configure(TrainOptions& /*options*/) const {
  if (options_.path.empty()) {
    return InvalidArgument("model checkpoint: path: expected one, found \"\"");
  }
  if (options_.every == 0) {
    return InvalidArgument(
        "model checkpoint: every: expected at least 1, found 0");
  }
  return PathFor(options_.path, 1, {}).status();
}

std::map<std::string, std::string> ModelCheckpoint::StateOptions() const {
  if (options_.keep == KeepWeights::kOfEveryEpoch) {
    return {{"keep", "of every epoch"}};
  }
  return {{"keep", "of the best"}, {"monitor", MonitorName(options_.monitor)}};
}

std::vector<std::string> ModelCheckpoint::Outputs() const {
  const Result<std::string> first = PathFor(options_.path, 1, {});
  return first.ok() ? std::vector{*first} : std::vector<std::string>();
}

Result<bool> ModelCheckpoint::IsBest(const EpochMetrics& metrics,
                                     std::span<float> state) const {
  ASSIGN_OR_RETURN(const float value, ValueOf(metrics, options_.monitor));
  if (!std::isfinite(value)) return false;
  const bool best =
      state[kHasBestSaved] == 0.0f ||
      (MoreIsBetter(options_.monitor) ? value > state[kBestSaved]
                                      : value < state[kBestSaved]);
  if (best) {
    state[kBestSaved] = value;
    state[kHasBestSaved] = 1.0f;
  }
  return best;
}

Status ModelCheckpoint::OnEpochEnd(const Boundary& at,
                                   const EpochMetrics& metrics) {
  if (at.epoch % options_.every != 0) return OkStatus();
  bool wanted = true;
  if (options_.keep == KeepWeights::kOfTheBest) {
    ASSIGN_OR_RETURN(wanted, IsBest(metrics, at.state));
  }
  if (!wanted || !at.chief) return OkStatus();
  ASSIGN_OR_RETURN(const std::string path,
                   PathFor(options_.path, at.epoch, metrics));
  return Annotate(at.write_weights(path), "model checkpoint");
}

}  // namespace gauntlet
