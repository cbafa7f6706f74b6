#include "harness/run/files/temporary_directory.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "engine/real/posix/posix_status.h"
#include "engine/utf8.h"
#include "engine/world/directories.h"
#include <fmt/format.h>

namespace gauntlet {

Result<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::Make(
    std::string_view purpose) {
  std::error_code error;
  const std::filesystem::path parent =
      std::filesystem::temp_directory_path(error);
  if (error) {
    const char* const given = std::getenv("TMPDIR");
    return IoError(fmt::format(
        "$TMPDIR{}: {}",
        given == nullptr ? "" : fmt::format(" ({})", EscapeBytes(given)),
        error.message()));
  }
  RETURN_IF_ERROR(Annotate(CheckPath(parent.string()), "$TMPDIR"));
  return MakeIn(parent, purpose);
}

Result<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::MakeIn(
    const std::filesystem::path& parent, std::string_view purpose) {
  std::string path = parent / fmt::format("gauntlet-{}-XXXXXX", purpose);
  if (mkdtemp(path.data()) == nullptr) {
    return PosixError(errno, path, "mkdtemp");
  }
  return std::unique_ptr<TemporaryDirectory>(
      new TemporaryDirectory(std::move(path)));
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace gauntlet
