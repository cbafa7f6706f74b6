// Enumeration of all combinations of choices.
#ifndef GAUNTLET_CHAOS_SIM_DISK_ODOMETER_H_
#define GAUNTLET_CHAOS_SIM_DISK_ODOMETER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gauntlet {

// Increments a number that has a base for each digit; the first digit varies
// fastest. Returns false after the last number, and wraps to zero.
inline bool Advance(std::vector<uint64_t>& digits,
                    const std::vector<uint64_t>& bases) {
  for (size_t i = 0; i < digits.size(); ++i) {
    if (++digits[i] < bases[i]) return true;
    digits[i] = 0;
  }
  return false;
}

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_DISK_ODOMETER_H_
