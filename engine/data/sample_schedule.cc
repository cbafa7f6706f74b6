#include "engine/data/sample_schedule.h"

#include <algorithm>
#include <numeric>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {

SampleSchedule::SampleSchedule(const JobSpec& job, const SourceSamples& source)
    : policy_(job.data.shard),
      replicas_(static_cast<uint64_t>(job.replicas)),
      batch_(static_cast<uint64_t>(job.batch)),
      samples_(source.samples) {}

Result<SampleSchedule> SampleSchedule::Make(const JobSpec& job,
                                            const SourceSamples& source) {
  SampleSchedule schedule(job, source);
  if (schedule.policy_ == ShardPolicy::kFile ||
      schedule.policy_ == ShardPolicy::kAuto) {
    const Status dealt = schedule.DealFiles(source);
    if (!dealt.ok() && schedule.policy_ == ShardPolicy::kFile) return dealt;
    schedule.policy_ = dealt.ok() ? ShardPolicy::kFile : ShardPolicy::kData;
    if (!dealt.ok()) {
      schedule.warning_ = fmt::format(
          "shard policy auto takes data instead of file: {}", dealt.message());
    }
  }
  RETURN_IF_ERROR(schedule.CountSteps(job));
  return schedule;
}

Status SampleSchedule::DealFiles(const SourceSamples& source) {
  const std::vector<uint32_t>& files = source.samples_of_files;
  const size_t count = std::max<size_t>(files.size(), 1);
  if (count < replicas_) {
    return InvalidArgument(fmt::format(
        "data.shard: expected a file for each of the {} replicas, found {}",
        replicas_, count));
  }
  samples_of_streams_.resize(replicas_);
  uint32_t first = 0;
  for (size_t file = 0; file < count; ++file) {
    const uint32_t samples = files.empty() ? source.samples : files[file];
    std::vector<uint32_t>& stream = samples_of_streams_[file % replicas_];
    stream.resize(stream.size() + samples);
    std::iota(stream.end() - samples, stream.end(), first);
    first += samples;
  }
  return OkStatus();
}

// Sets used_: for each stream, the number of samples that the epoch's steps
// take.
Status SampleSchedule::CountSteps(const JobSpec& job) {
  const bool data = policy_ == ShardPolicy::kData;
  const uint64_t share = data ? replicas_ * batch_ : batch_;
  for (uint64_t i = 0; i < (data ? 1 : replicas_); ++i) {
    used_.push_back(SamplesOfStream(static_cast<uint32_t>(i)));
  }
  const auto steps_of = [&](uint64_t samples) {
    return job.remainder == Remainder::kKeep ? (samples + share - 1) / share
                                             : samples / share;
  };
  const auto [least, most] = std::ranges::minmax(used_);
  uint64_t steps = steps_of(job.remainder == Remainder::kKeep ? most : least);
  if (steps == 0) {
    return InvalidArgument(
        data ? fmt::format(
                   "the data has {} samples, fewer than the {} of a global "
                   "batch",
                   samples_, share)
             : fmt::format(
                   "a replica has {} samples of the data, fewer than the {} "
                   "of a batch",
                   least, share));
  }
  const auto wanted = static_cast<uint64_t>(job.data.steps_per_epoch);
  if (wanted > steps) {
    return InvalidArgument(
        fmt::format("data.steps_per_epoch: expected at most the {} that the "
                    "data give, found {}",
                    steps, wanted));
  }
  if (wanted > 0) steps = wanted;
  for (uint64_t& used : used_) used = std::min(used, steps * share);
  steps_per_epoch_ = steps;
  samples_per_epoch_ = std::accumulate(used_.begin(), used_.end(), uint64_t{0});
  return OkStatus();
}

uint64_t SampleSchedule::UsedAfter(uint64_t steps) const {
  uint64_t used = 0;
  for (const uint64_t samples : used_)
    used += std::min(samples, steps * batch_);
  return used;
}

// Returns the number of steps before the position. Each step takes at least one
// sample, so each step begins at another position.
uint64_t SampleSchedule::StepAt(uint64_t position) const {
  uint64_t low = 0;
  uint64_t high = steps_per_epoch_;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (UsedAfter(middle) < position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint64_t SampleSchedule::StepsLeft(uint64_t position) const {
  if (policy_ != ShardPolicy::kData) return steps_per_epoch_ - StepAt(position);
  const uint64_t samples = replicas_ * batch_;
  return steps_per_epoch_ - (position + samples - 1) / samples;
}

uint64_t SampleSchedule::SamplesOfStep(uint64_t position) const {
  CHECK(position <= samples_per_epoch_,
        fmt::format("position {} of an epoch of {} samples", position,
                    samples_per_epoch_));
  if (policy_ == ShardPolicy::kData) {
    return std::min(replicas_ * batch_, samples_per_epoch_ - position);
  }
  return UsedAfter(StepAt(position) + 1) - position;
}

StreamRange SampleSchedule::RangeOf(uint64_t position, uint32_t replica) const {
  if (policy_ == ShardPolicy::kData) {
    return {.stream = 0,
            .range = ReplicaSamples(position, SamplesOfStep(position), batch_,
                                    replica)};
  }
  const uint64_t first = std::min(StepAt(position) * batch_, used_[replica]);
  return {.stream = replica,
          .range = {.first = first,
                    .count = std::min(batch_, used_[replica] - first)}};
}

uint32_t SampleSchedule::SamplesOfStream(uint32_t stream) const {
  if (policy_ != ShardPolicy::kFile) return samples_;
  return static_cast<uint32_t>(samples_of_streams_[stream].size());
}

uint64_t SampleSchedule::OrderKey(uint64_t epoch, uint32_t stream) const {
  constexpr int kEpochBits = 48;  // far beyond any run
  return epoch | uint64_t{stream} << kEpochBits;
}

}  // namespace gauntlet
