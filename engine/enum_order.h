// Checks tables that have a row for each enumerator of an enum.
#ifndef GAUNTLET_ENGINE_ENUM_ORDER_H_
#define GAUNTLET_ENGINE_ENUM_ORDER_H_

#include <cstddef>

namespace gauntlet {

// Returns true iff the rows are in the order of the enum: in every row i,
// `member` is enumerator i.
template <typename Table, typename Row, typename Enum>
constexpr bool IsInEnumOrder(const Table& table, Enum Row::*member) {
  size_t i = 0;
  for (const Row& row : table) {
    if (row.*member != static_cast<Enum>(i)) return false;
    ++i;
  }
  return true;
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_ENUM_ORDER_H_
