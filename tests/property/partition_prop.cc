// For any number of participants: every sample, replica and tensor is taken
// exactly once.
#include <algorithm>
#include <sstream>

#include "engine/ckpt/state/shard_plan.h"
#include "engine/data/sample_order.h"
#include "engine/train/loop/trainer.h"
#include "tests/property/property.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Generated input of the properties below: a list of numbers.
using Numbers = std::vector<uint64_t>;

std::string ToText(const Numbers& numbers) {
  return fmt::format("{}\n", fmt::join(numbers, " "));
}

Result<Numbers> FromText(std::string_view text) {
  std::istringstream in{std::string(text)};
  Numbers numbers;
  for (uint64_t number = 0; in >> number;) numbers.push_back(number);
  if (!in.eof()) return InvalidArgument("expected numbers");
  return numbers;
}

Result<Numbers> ThisMany(size_t count, std::string_view text) {
  Result<Numbers> numbers = FromText(text);
  if (numbers.ok() && numbers->size() != count) {
    return InvalidArgument(
        fmt::format("expected {} numbers, found {}", count, numbers->size()));
  }
  return numbers;
}

// Returns an error unless each element of `taken` is 1. Element i counts how
// often thing i was taken.
std::string NotOnce(const std::vector<int>& taken) {
  const auto odd = std::ranges::find_if(taken, [](int n) { return n != 1; });
  if (odd == taken.end()) return "";
  return fmt::format("{} of {} was taken {} times", odd - taken.begin(),
                     taken.size(), *odd);
}

// Value: seed, epoch, samples.
std::string WrongOrder(const Numbers& value) {
  const auto samples = static_cast<uint32_t>(value.at(2));
  const SampleOrder order(value[0], value[1], samples);
  std::vector<int> taken(samples);
  for (uint64_t position = 0; position < samples; ++position) {
    const uint32_t sample = order.SampleAt(position);
    if (sample >= samples)
      return fmt::format("sample {} of {}", sample, samples);
    ++taken[sample];
  }
  return NotOnce(taken);
}

TEST(PartitionProperty, OrderOfAnEpochIsAPermutation) {
  CheckProperty<Numbers>(
      {.name = "sample_order",
       .any = rc::gen::exec([] {
         // Includes sizes around powers of two, as the cipher's domain is a
         // power of two.
         const uint64_t power = uint64_t{1} << *rc::gen::inRange(0, 12);
         const uint64_t samples = *rc::gen::oneOf(
             rc::gen::inRange<uint64_t>(1, 3000),
             rc::gen::element(power, power + 1,
                              std::max<uint64_t>(power, 2) - 1));
         return Numbers{*rc::gen::arbitrary<uint64_t>(),
                        *rc::gen::arbitrary<uint64_t>(), samples};
       }),
       .to_text = ToText,
       .from_text = [](std::string_view text) { return ThisMany(3, text); },
       .wrong = WrongOrder});
}

// Value: samples, workers, replicas, batch. Checks the steps of an epoch, by
// every worker.
std::string WrongEpoch(const Numbers& value) {
  const uint64_t samples = value.at(0);
  const auto workers = static_cast<int>(value.at(1));
  const auto replicas = static_cast<int>(value.at(2));
  const uint64_t batch = value.at(3);
  const uint64_t global = static_cast<uint64_t>(replicas) * batch;
  std::vector<int> taken(samples);
  for (uint64_t at = 0; at < samples; at += global) {
    const uint64_t step_samples = std::min(samples - at, global);
    for (int rank = 0; rank < workers; ++rank) {
      const ReplicaBlock block = ReplicasOf(replicas, rank, workers);
      for (int i = 0; i < block.count; ++i) {
        const SampleRange range = ReplicaSamples(
            at, step_samples, batch, static_cast<uint64_t>(block.first + i));
        for (uint64_t sample = range.first; sample < range.first + range.count;
             ++sample) {
          if (sample >= samples)
            return fmt::format("sample {} of {}", sample, samples);
          ++taken[sample];
        }
      }
    }
  }
  return NotOnce(taken);
}

TEST(PartitionProperty, EverySampleOfAnEpochIsTakenOnceByAnyWorkers) {
  CheckProperty<Numbers>(
      {.name = "epoch_samples",
       .any = rc::gen::exec([] {
         const auto workers = *rc::gen::inRange<uint64_t>(1, 9);
         return Numbers{*rc::gen::inRange<uint64_t>(1, 2000), workers,
                        workers + *rc::gen::inRange<uint64_t>(0, 17),
                        *rc::gen::inRange<uint64_t>(1, 40)};
       }),
       .to_text = ToText,
       .from_text = [](std::string_view text) { return ThisMany(4, text); },
       .wrong = WrongEpoch});
}

// Value: number of shards, then a size for each tensor.
std::string WrongShards(const Numbers& value) {
  const std::vector<std::byte> bytes(4096);
  std::vector<TensorView> tensors;
  for (size_t i = 1; i < value.size(); ++i) {
    tensors.push_back({.name = fmt::format("tensor{}", i * 7919 % 1000),
                       .bytes = std::span(bytes).first(value[i])});
  }
  const auto shards = static_cast<int>(value.at(0));
  const auto plan = PartitionTensors(tensors, shards);
  if (plan.size() != tensors.size()) return "another number of tensors";
  std::vector<uint64_t> load(value[0]);
  for (size_t tensor = 0; tensor < plan.size(); ++tensor) {
    if (plan[tensor] >= load.size()) return "a shard that is not there";
    load[plan[tensor]] += tensors[tensor].bytes.size();
  }
  // The fullest and the emptiest shard differ by no more than the largest
  // tensor.
  uint64_t largest = 0;
  for (const TensorView& tensor : tensors) {
    largest = std::max<uint64_t>(largest, tensor.bytes.size());
  }
  const auto [least, most] = std::ranges::minmax(load);
  if (most - least > largest) return fmt::format("{} beside {}", most, least);
  return "";
}

TEST(PartitionProperty, EveryTensorIsInOneShardOfAnyNumber) {
  CheckProperty<Numbers>(
      {.name = "shard_plan",
       .any = rc::gen::exec([] {
         const auto tensors = *rc::gen::inRange<size_t>(0, 40);
         Numbers value = {*rc::gen::inRange<uint64_t>(1, 12)};
         const auto sizes = *rc::gen::container<Numbers>(
             tensors, rc::gen::inRange<uint64_t>(0, 4097));
         value.insert(value.end(), sizes.begin(), sizes.end());
         return value;
       }),
       .to_text = ToText,
       .from_text = FromText,
       .wrong = WrongShards});
}

}  // namespace
}  // namespace gauntlet
