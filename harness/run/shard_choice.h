// One part (shard) of a list of cases; several machines run one part each.
#ifndef GAUNTLET_HARNESS_RUN_SHARD_CHOICE_H_
#define GAUNTLET_HARNESS_RUN_SHARD_CHOICE_H_

#include <cstdint>

namespace gauntlet {

// The part number `index` of `count` parts; 1 <= index <= count.
struct ShardChoice {
  int index = 1;
  int count = 1;

  // Returns true iff the item of this number, from 0 on, is in the part.
  bool Takes(uint64_t number) const {
    return number % static_cast<uint64_t>(count) ==
           static_cast<uint64_t>(index) - 1;
  }
  // Returns how many items in [begin, end) are in the part.
  uint64_t CountIn(uint64_t begin, uint64_t end) const {
    return end < begin ? 0 : CountBelow(end) - CountBelow(begin);
  }

 private:
  uint64_t CountBelow(uint64_t number) const {
    const auto parts = static_cast<uint64_t>(count);
    const bool begun = number % parts >= static_cast<uint64_t>(index);
    return number / parts + (begun ? 1 : 0);
  }
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_SHARD_CHOICE_H_
