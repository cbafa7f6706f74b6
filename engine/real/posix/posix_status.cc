#include "engine/real/posix/posix_status.h"

#include <string>
#include <system_error>

#include <fmt/format.h>

namespace gauntlet {
namespace {

Code CodeOf(int error) {
  switch (error) {
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
    case ENOTEMPTY:
      return Code::kAlreadyExists;
    case ENOSPC:
    case EDQUOT:
      return Code::kResourceExhausted;
    case EACCES:
    case EPERM:
    case EROFS:
    case EFBIG:
    case ENAMETOOLONG:
      return Code::kForbidden;
    default:
      return Code::kIoError;
  }
}

// Returns a hint for an error whose own text does not name the cause.
std::string_view HintFor(int error) {
  switch (error) {
    case EFBIG:
      return " (ulimit -f, or the file system's own limit)";
    case EMFILE:
      return " (ulimit -n)";
    default:
      return "";
  }
}

}  // namespace

Status PosixError(int error, std::string_view thing,
                  std::string_view operation) {
  CHECK(error != 0, "an error needs an errno");
  return {CodeOf(error),
          fmt::format("{}: {}: {}{}", thing, operation,
                      std::generic_category().message(error), HintFor(error))};
}

}  // namespace gauntlet
