// The switch of a mutant. Only generated sources of the build with mutants
// include this file (tests/mutants/generate.py); no other build compiles it.
//
// GAUNTLET_MUTANT is the number of the one active mutant; if it is not set, no
// mutant is active. GAUNTLET_MUTANTS_SEEN is a file of kSeenBytes bytes: byte N
// becomes 1 once the program reaches the switch of mutant N. A run that does
// not reach it cannot find the mutant.
#ifndef GAUNTLET_TESTS_MUTANTS_SWITCH_H_
#define GAUNTLET_TESTS_MUTANTS_SWITCH_H_

#include <cstddef>
#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gauntlet::mutants {

inline constexpr size_t kSeenBytes = 4096;

inline int NumberFromEnvironment() {
  const char* const text = std::getenv("GAUNTLET_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}

inline unsigned char* OpenSeen() {
  static unsigned char nowhere[kSeenBytes];
  const char* const path = std::getenv("GAUNTLET_MUTANTS_SEEN");
  const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nowhere;
  void* const mapped =
      mmap(nullptr, kSeenBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return mapped == MAP_FAILED ? nowhere : static_cast<unsigned char*>(mapped);
}

inline bool On(int mutant) {
  static const int on = NumberFromEnvironment();
  static unsigned char* const seen = OpenSeen();
  seen[mutant] = 1;
  return mutant == on;
}

}  // namespace gauntlet::mutants

// As RETURN_IF_ERROR, but continues after an error while the mutant is active.
#define MUTANT_RETURN_IF_ERROR(mutant, ...)                         \
  do {                                                              \
    ::gauntlet::Status gauntlet_status_ = (__VA_ARGS__);            \
    if (!gauntlet_status_.ok() && !::gauntlet::mutants::On(mutant)) \
        [[unlikely]]                                                \
      return gauntlet_status_;                                      \
  } while (false)

#endif  // GAUNTLET_TESTS_MUTANTS_SWITCH_H_
