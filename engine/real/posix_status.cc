#include "engine/real/posix_status.h"

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
    case EMFILE:
    case ENFILE:
      return Code::kResourceExhausted;
    default:
      return Code::kIoError;
  }
}

}  // namespace

Status PosixError(int error, std::string_view thing,
                  std::string_view operation) {
  CHECK(error != 0, "an error needs an errno");
  return {CodeOf(error), fmt::format("{}: {}: {}", thing, operation,
                                     std::generic_category().message(error))};
}

}  // namespace gauntlet
