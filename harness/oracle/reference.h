// The reference run, to be found by what training says of itself.
#ifndef GAUNTLET_HARNESS_ORACLE_REFERENCE_H_
#define GAUNTLET_HARNESS_ORACLE_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "harness/oracle/moment.h"
#include "harness/record/golden.h"

namespace gauntlet {

// Where training stands in its data.
struct DataPlace {
  uint64_t epoch = 0;
  uint64_t position = 0;  // rows of the epoch that are behind it

  bool operator==(const DataPlace&) const = default;
};

class Reference {
 public:
  // The trajectory outlives this.
  explicit Reference(const GoldenTrajectory& golden);

  bool is_empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  const GoldenEntry& operator[](size_t index) const { return entries_[index]; }
  // Index of its last event of that kind and moment. nullopt: it has none.
  std::optional<size_t> Find(RecordKind kind, const Moment& moment) const;
  // Its last event of that kind and step, of any phase, or null.
  const GoldenEntry* FindOfStep(RecordKind kind, uint64_t step) const;
  // Index of the event after which the state is of that moment.
  std::optional<size_t> StateAt(const Moment& moment) const;
  // Where training stands after the event of that index.
  DataPlace PlaceAfter(size_t index) const;

 private:
  template <typename Fits>
  std::optional<size_t> FindLast(uint64_t step, const Fits& fits) const;

  const std::vector<GoldenEntry>& entries_;
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };
  std::unordered_map<uint64_t, Range> of_step_;  // its entries
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_REFERENCE_H_
