// Chooses the samples that a replica takes in a step, by the job's shard
// policy.
//
// Under every policy, the position in an epoch is one integer: the number of
// samples that all replicas together have taken. A policy divides the data into
// streams of samples, each in its own order (a keyed permutation, or the stored
// order if the job does not shuffle):
//
//   data   one stream of all samples; a step takes a global batch of it: one
//          batch for each replica, in replica order
//   file   one stream for each replica r of R: files r, r + R, r + 2R, ...;
//          a step takes one batch from each stream
//   off    one stream of all samples for each replica, each in another order;
//          a step takes one batch from each stream
//   auto   file if there is at least one file for each replica, else data
//
// Streams may differ in length. With remainder drop, the epoch ends with the
// last step for which each stream has a full batch; with keep, it ends when all
// streams are used up.
#ifndef GAUNTLET_ENGINE_DATA_SAMPLE_SCHEDULE_H_
#define GAUNTLET_ENGINE_DATA_SAMPLE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/sample_order.h"
#include "engine/job/job.h"
#include "engine/status.h"

namespace gauntlet {

// Properties of the data that a schedule depends on.
struct SourceSamples {
  uint32_t samples = 0;
  std::vector<uint32_t> samples_of_files;  // empty unless several files
};

// A range of positions in the order of one stream.
struct StreamRange {
  uint32_t stream = 0;
  SampleRange range;
};

class SampleSchedule {
 public:
  // kInvalidArgument: the samples do not suffice for one step or for the job's
  // steps per epoch, or there are fewer files than replicas.
  static Result<SampleSchedule> Make(const JobSpec& job,
                                     const SourceSamples& source);

  uint64_t samples_per_epoch() const { return samples_per_epoch_; }
  uint64_t steps_per_epoch() const { return steps_per_epoch_; }
  // Reason why policy `auto` did not choose `file`; empty if it did, or if the
  // policy is not `auto`.
  const std::string& warning() const { return warning_; }

  // Returns the number of steps from the position to the end of its epoch.
  // REQUIRES: the position is between two steps.
  uint64_t StepsLeft(uint64_t position) const;

  // Returns the number of samples that all replicas together take in the step
  // that begins at the position.
  uint64_t SamplesOfStep(uint64_t position) const;
  StreamRange RangeOf(uint64_t position, uint32_t replica) const;

  uint32_t SamplesOfStream(uint32_t stream) const;
  // Returns the key of the stream's order in this epoch.
  uint64_t OrderKey(uint64_t epoch, uint32_t stream) const;
  // Returns the sample at an index of the unshuffled stream, as its number in
  // the dataset.
  uint32_t SampleAt(uint32_t stream, uint32_t index) const {
    return policy_ == ShardPolicy::kFile ? samples_of_streams_[stream][index]
                                         : index;
  }
  // Returns a number that is unique for each use of a sample in an epoch.
  uint32_t UseOf(uint32_t stream, uint32_t sample) const {
    return policy_ == ShardPolicy::kOff ? stream * samples_ + sample : sample;
  }

 private:
  SampleSchedule(const JobSpec& job, const SourceSamples& source);

  Status DealFiles(const SourceSamples& source);
  Status CountSteps(const JobSpec& job);
  uint64_t StepAt(uint64_t position) const;
  uint64_t UsedAfter(uint64_t steps) const;

  ShardPolicy policy_;  // never kAuto after construction
  uint64_t replicas_;
  uint64_t batch_;
  uint32_t samples_;
  uint64_t samples_per_epoch_ = 0;
  uint64_t steps_per_epoch_ = 0;
  // kFile: samples of each stream, ascending.
  std::vector<std::vector<uint32_t>> samples_of_streams_;
  // Number of samples of each stream that an epoch uses; kData: one element.
  std::vector<uint64_t> used_;
  std::string warning_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_SAMPLE_SCHEDULE_H_
