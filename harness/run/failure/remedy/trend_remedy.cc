#include "harness/run/failure/remedy/trend_remedy.h"

#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "harness/run/failure/history/epoch_ends.h"
#include "harness/run/failure/history/process_ends.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// The ends of the first and the last epoch of a run.
struct Course {
  const RecordEvent& first;
  const RecordEvent& last;

  // Returns "from the end of epoch 1 to that of epoch 3".
  std::string Text() const {
    return fmt::format("from the end of epoch {} to that of epoch {}",
                       first.epoch + 1, last.epoch + 1);
  }
};

// Returns nullopt if fewer than two epochs ended.
std::optional<Course> CourseOf(const Record& record) {
  const std::map<uint64_t, const RecordEvent*> ends = EpochEndsOf(record);
  if (ends.size() < 2) return std::nullopt;
  return Course{.first = *ends.begin()->second, .last = *ends.rbegin()->second};
}

std::string LongerTraining(const Record& record) {
  return fmt::format(
      "train longer (job.epochs is {}) or change job.optimizer.lr, as training "
      "without faults gives the same values",
      record.setup.epochs);
}

// Returns the change of the learning rate for a loss that is not finite or
// hardly changes; "" for other losses.
std::string RateForLoss(const Course& course) {
  // A smaller relative change of the loss counts as no progress.
  constexpr double kLeastChange = 0.05;
  const double first = std::bit_cast<float>(course.first.loss_bits);
  const double last = std::bit_cast<float>(course.last.loss_bits);
  if (!std::isfinite(first) || !std::isfinite(last)) {
    const RecordEvent& end = std::isfinite(first) ? course.last : course.first;
    return fmt::format(
        "lower job.optimizer.lr, as the loss is not finite at the end of epoch "
        "{}",
        end.epoch + 1);
  }
  if (first > 0 && std::abs(last - first) < kLeastChange * first) {
    return fmt::format(
        "raise job.optimizer.lr, as the loss changes by only {:.1f}% {}",
        100 * std::abs(last - first) / first, course.Text());
  }
  return "";
}

// Returns the advice on a run in which fewer than two epochs ended, so that the
// scenario cannot compare epochs.
std::string MoreEpochs(const Record& record) {
  constexpr std::string_view kReason =
      "as loss and accuracy compare the first epoch with the last";
  const uint64_t epochs = record.setup.epochs;
  if (epochs < 2) {
    return fmt::format("set job.epochs ({}) to 2 or more, {}", epochs, kReason);
  }
  const std::optional<uint64_t> steps = MaxStepsOfEnd(record);
  return steps ? fmt::format(
                     "raise job.max_steps ({}), so that two epochs end, {}",
                     *steps, kReason)
               : LongerTraining(record);
}

}  // namespace

std::string LossRemedy(const Record& record) {
  const std::optional<Course> course = CourseOf(record);
  if (!course) return MoreEpochs(record);
  if (std::string text = RateForLoss(*course); !text.empty()) return text;
  return std::bit_cast<float>(course->last.loss_bits) <
                 std::bit_cast<float>(course->first.loss_bits)
             ? LongerTraining(record)
             : fmt::format("lower job.optimizer.lr, as the loss rises {}",
                           course->Text());
}

std::string AccuracyRemedy(const Record& record) {
  const std::optional<Course> course = CourseOf(record);
  if (!course) return MoreEpochs(record);
  if (std::string text = RateForLoss(*course); !text.empty()) return text;
  const auto& [first, last] = *course;
  if (last.count < first.count) {
    return fmt::format(
        "lower job.optimizer.lr, as fewer samples are correct at the end of "
        "epoch {} ({}) than at that of epoch {} ({})",
        last.epoch + 1, last.count, first.epoch + 1, first.count);
  }
  return fmt::format(
      "train longer (job.epochs is {}) or raise job.optimizer.lr, as {} "
      "correct at the end of epoch {} and at that of epoch {}",
      record.setup.epochs,
      first.count == 1 ? "1 sample is"
                       : fmt::format("{} samples are", first.count),
      first.epoch + 1, last.epoch + 1);
}

}  // namespace gauntlet
