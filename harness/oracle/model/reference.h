// The reference run, indexed by event kind and training position.
#ifndef GAUNTLET_HARNESS_ORACLE_MODEL_REFERENCE_H_
#define GAUNTLET_HARNESS_ORACLE_MODEL_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/oracle/history/training_position.h"
#include "harness/record/golden.h"

namespace gauntlet {

// Position of training in its data.
struct DataPosition {
  uint64_t epoch = 0;
  uint64_t position = 0;  // samples of the epoch used so far

  bool operator==(const DataPosition&) const = default;
};
// Returns "epoch 2, sample 0".
std::string ToText(const DataPosition& place);

class Reference {
 public:
  // The trajectory must outlive this object.
  explicit Reference(const GoldenTrajectory& golden);

  bool is_empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  const GoldenEntry& operator[](size_t index) const { return entries_[index]; }
  // Returns the index of the last entry of that kind and position, or nullopt.
  std::optional<size_t> Find(RecordKind kind,
                             const TrainingPosition& position) const;
  // Returns the last entry of that kind and step, of any phase, or null.
  const GoldenEntry* FindOfStep(RecordKind kind, uint64_t step) const;
  // Returns the index of the last entry with the state at that position.
  std::optional<size_t> StateAt(const TrainingPosition& position) const;
  // Returns the position in the data after the entry of that index.
  DataPosition PlaceAfter(size_t index) const;

 private:
  template <typename Fits>
  std::optional<size_t> FindLast(uint64_t step, const Fits& fits) const;

  const std::vector<GoldenEntry>& entries_;
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };
  std::unordered_map<uint64_t, Range> of_step_;  // ranges of entries_
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_MODEL_REFERENCE_H_
