// Copies of descriptors with numbers above those that have a fixed meaning.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_HIGH_DESCRIPTOR_H_
#define GAUNTLET_ENGINE_REAL_POSIX_HIGH_DESCRIPTOR_H_

#include <string_view>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

// Returns a copy of the descriptor with the lowest free number from `lowest`
// on. The copy has FD_CLOEXEC: other programs do not inherit it. kIoError: the
// limit of open files (ulimit -n) permits none; the message begins with `name`.
Result<Descriptor> DuplicateFrom(const Descriptor& fd, int lowest,
                                 std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_HIGH_DESCRIPTOR_H_
