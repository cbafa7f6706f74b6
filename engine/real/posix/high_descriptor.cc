#include "engine/real/posix/high_descriptor.h"

#include <cerrno>

#include "engine/real/posix/posix_status.h"
#include <fcntl.h>

namespace gauntlet {

Result<Descriptor> DuplicateFrom(const Descriptor& fd, int lowest,
                                 std::string_view name) {
  Descriptor copy(fcntl(fd.get(), F_DUPFD_CLOEXEC, lowest));
  if (copy.valid()) return copy;
  // EINVAL: the limit of open files is `lowest` or less.
  return PosixError(errno == EINVAL ? EMFILE : errno, name, "dup");
}

}  // namespace gauntlet
