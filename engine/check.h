// CHECK: a programming error stops the program, in every build.
//
// The message contains the file and line, the condition, and the position of
// the run (seed, rank, step) that the calling thread last passed to
// SetCheckPosition.
#ifndef GAUNTLET_ENGINE_CHECK_H_
#define GAUNTLET_ENGINE_CHECK_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace gauntlet {

struct CheckPosition {
  uint64_t seed = 0;
  int rank = -1;
  uint64_t step = 0;
};

// Sets the position that a failing CHECK on this thread prints.
void SetCheckPosition(const CheckPosition& position);

[[noreturn, gnu::cold]] void CheckFailed(std::string_view file, int line,
                                         std::string_view condition,
                                         std::string_view message);

}  // namespace gauntlet

#define CHECK(condition, message)                                         \
  do {                                                                    \
    if (!(condition)) [[unlikely]] {                                      \
      ::gauntlet::CheckFailed(__FILE__, __LINE__, #condition, (message)); \
    }                                                                     \
  } while (false)

#endif  // GAUNTLET_ENGINE_CHECK_H_
