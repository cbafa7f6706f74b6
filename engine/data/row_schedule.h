// Chooses the rows that a replica takes in a step, by the job's shard policy.
//
// Under every policy, the position in an epoch is one integer: the number of
// rows that all replicas together have taken. A policy divides the data into
// streams of rows, each in its own order (a keyed permutation, or the stored
// order if the job does not shuffle):
//
//   data   one stream of all rows; a step takes a global batch of it: one batch
//          for each replica, in replica order
//   file   one stream for each replica r of R: files r, r + R, r + 2R, ...;
//          a step takes one batch from each stream
//   off    one stream of all rows for each replica, each in another order;
//          a step takes one batch from each stream
//   auto   file if there is at least one file for each replica, else data
//
// Streams may differ in length. With remainder drop, the epoch ends with the
// last step for which each stream has a full batch; with keep, it ends when all
// streams are used up.
#ifndef GAUNTLET_ENGINE_DATA_ROW_SCHEDULE_H_
#define GAUNTLET_ENGINE_DATA_ROW_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/sample_order.h"
#include "engine/job/job.h"
#include "engine/status.h"

namespace gauntlet {

// Properties of the data that a schedule depends on.
struct SourceRows {
  uint32_t rows = 0;
  std::vector<uint32_t> rows_of_files;  // empty unless several files
};

// A range of positions in the order of one stream.
struct StreamRange {
  uint32_t stream = 0;
  RowRange range;
};

class RowSchedule {
 public:
  // kInvalidArgument: the rows do not suffice for one step or for the job's
  // steps per epoch, or there are fewer files than replicas.
  static Result<RowSchedule> Make(const JobSpec& job, const SourceRows& source);

  uint64_t rows_per_epoch() const { return rows_per_epoch_; }
  uint64_t steps_per_epoch() const { return steps_per_epoch_; }
  // Reason why policy `auto` did not choose `file`; empty if it did, or if the
  // policy is not `auto`.
  const std::string& warning() const { return warning_; }

  // Returns the number of steps from the position to the end of its epoch.
  // REQUIRES: the position is between two steps.
  uint64_t StepsLeft(uint64_t position) const;

  // Returns the number of rows that all replicas together take in the step that
  // begins at the position.
  uint64_t RowsOfStep(uint64_t position) const;
  StreamRange RangeOf(uint64_t position, uint32_t replica) const;

  uint32_t RowsOfStream(uint32_t stream) const;
  // Returns the key of the stream's order in this epoch.
  uint64_t OrderKey(uint64_t epoch, uint32_t stream) const;
  // Returns the dataset row at an index of the unshuffled stream.
  uint32_t RowAt(uint32_t stream, uint32_t index) const {
    return policy_ == ShardPolicy::kFile ? rows_of_streams_[stream][index]
                                         : index;
  }
  // Returns a number that is unique for each use of a row in an epoch.
  uint32_t UseOf(uint32_t stream, uint32_t row) const {
    return policy_ == ShardPolicy::kOff ? stream * rows_ + row : row;
  }

 private:
  RowSchedule(const JobSpec& job, const SourceRows& source);

  Status DealFiles(const SourceRows& source);
  Status CountSteps(const JobSpec& job);
  uint64_t StepAt(uint64_t position) const;
  uint64_t UsedAfter(uint64_t steps) const;

  ShardPolicy policy_;  // never kAuto after construction
  uint64_t replicas_;
  uint64_t batch_;
  uint32_t rows_;
  uint64_t rows_per_epoch_ = 0;
  uint64_t steps_per_epoch_ = 0;
  // kFile: rows of each stream, ascending.
  std::vector<std::vector<uint32_t>> rows_of_streams_;
  // Number of rows of each stream that an epoch uses; kData: one element.
  std::vector<uint64_t> used_;
  std::string warning_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_ROW_SCHEDULE_H_
