// Chooses the rows that a replica takes in a step, by the job's shard policy.
//
// The place in an epoch is one integer under every policy: how many rows all
// replicas together have taken. A policy deals the data out as streams of rows,
// each in an order of its own (a keyed permutation, or as it stands where the
// job does not shuffle):
//
//   data   one stream of all rows; a step takes a global batch of it, a batch
//          for each replica in their order
//   file   a stream for each replica, of the files with its index, that plus
//          the number of replicas, and so on; a step takes a batch of each
//   off    likewise, each stream of all rows, each in another order
//   auto   file where there is a file for each replica, else data
//
// If streams differ in length, remainder drop ends the epoch with the last step
// that has a full batch of each stream; keep ends it when all streams are used
// up.
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
  std::vector<uint32_t> rows_of_files;  // empty: not from several
};

// The rows at `range` of a stream's order.
struct StreamRange {
  uint32_t stream = 0;
  RowRange range;
};

class RowSchedule {
 public:
  // kInvalidArgument: not one step has its rows, fewer steps than the job asks
  // for have them, or there are fewer files than replicas.
  static Result<RowSchedule> Make(const JobSpec& job, const SourceRows& source);

  uint64_t rows_per_epoch() const { return rows_per_epoch_; }
  uint64_t steps_per_epoch() const { return steps_per_epoch_; }
  // Why `auto` is not `file`; empty: it is, or was not asked for.
  const std::string& warning() const { return warning_; }

  // Steps from the position, which is between two steps, to the end of its
  // epoch.
  uint64_t StepsLeft(uint64_t position) const;

  // Rows of all replicas in the step that begins at the position.
  uint64_t RowsOfStep(uint64_t position) const;
  StreamRange RangeOf(uint64_t position, uint32_t replica) const;

  uint32_t RowsOfStream(uint32_t stream) const;
  // Key of the stream's order in this epoch.
  uint64_t OrderKey(uint64_t epoch, uint32_t stream) const;
  // The dataset row at an index of the unshuffled stream.
  uint32_t RowAt(uint32_t stream, uint32_t index) const {
    return policy_ == ShardPolicy::kFile ? rows_of_streams_[stream][index]
                                         : index;
  }
  // A number that differs for each use of a row in an epoch.
  uint32_t UseOf(uint32_t stream, uint32_t row) const {
    return policy_ == ShardPolicy::kOff ? stream * rows_ + row : row;
  }

 private:
  RowSchedule(const JobSpec& job, const SourceRows& source);

  Status DealFiles(const SourceRows& source);
  Status CountSteps(const JobSpec& job);
  uint64_t StepAt(uint64_t position) const;
  uint64_t UsedAfter(uint64_t steps) const;

  ShardPolicy policy_;  // never kAuto once it is made
  uint64_t replicas_;
  uint64_t batch_;
  uint32_t rows_;
  uint64_t rows_per_epoch_ = 0;
  uint64_t steps_per_epoch_ = 0;
  // kFile: of each stream. Ascending.
  std::vector<std::vector<uint32_t>> rows_of_streams_;
  // How many rows of each stream an epoch uses; kData: one.
  std::vector<uint64_t> used_;
  std::string warning_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_ROW_SCHEDULE_H_
