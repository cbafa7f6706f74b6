#include "harness/cli/train/output_places.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "engine/ckpt/format/store_names.h"
#include "engine/train/save/model_export.h"
#include "engine/world/directories.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Creates one level only, so that a typo does not create a tree.
Status MakePlace(Storage& storage, const std::string& directory) {
  if (directory.empty()) return OkStatus();
  const Status made = storage.MakeDirectory(directory);
  return made.code() == Code::kAlreadyExists ? OkStatus() : made;
}

// Creates the checkpoint directory if it is missing, and checks that all paths
// in it will fit the limits of the file system.
Status MakeStore(Storage& storage, const std::string& directory) {
  if (directory.empty()) return OkStatus();
  if (!storage.List(directory).ok()) {
    const Status made =
        MakeDurableDirectory(storage, WithoutLastSlashes(directory));
    if (made.code() == Code::kForbidden) {
      return Forbidden(made.message() +
                       "; name a folder that this user may create or write");
    }
    RETURN_IF_ERROR(made);
  }
  return CheckPathsFit(storage, directory);
}

}  // namespace

Status MakeSummaryPlace(Storage& storage, const std::string& directory) {
  if (directory.empty() || storage.List(directory).ok()) return OkStatus();
  const Status made =
      MakeDurableDirectory(storage, WithoutLastSlashes(directory));
  return made.code() == Code::kResourceExhausted ? OkStatus() : made;
}

Status MakeChiefPlaces(Storage& storage, const TrainCommand& command) {
  const TrainOptions& options = command.options;
  RETURN_IF_ERROR(Annotate(MakeSummaryPlace(storage, options.summary.directory),
                           "--tensorboard"));
  if (options.export_directory.empty()) return OkStatus();
  return Annotate(PrepareExport(storage, options.export_directory), "--export");
}

Status CheckOutputPlace(Storage& storage, const std::string& directory) {
  if (directory.empty()) return OkStatus();
  const Status listed = storage.List(directory).status();
  if (listed.code() == Code::kNotFound) return OkStatus();
  if (!listed.ok()) return InvalidArgument(listed.message());
  if (access(directory.c_str(), W_OK | X_OK) == 0) return OkStatus();
  return InvalidArgument(
      fmt::format("{}: {}", directory, std::strerror(errno)));
}

Status CheckFileName(const std::string& file) {
  if (file != "-") return OkStatus();
  return InvalidArgument(
      "expected the name of a file, found '-' (for a file of that name: ./-)");
}

Status CheckFolderOf(const std::string& file) {
  const std::string parent = ParentDirectory(file);
  if (access(parent.c_str(), F_OK) == 0 || errno != ENOENT) return OkStatus();
  return IoError(fmt::format("{}: there is no folder {}", file, parent));
}

Status CheckOutputFile(const std::string& file) {
  if (file.empty()) return OkStatus();
  RETURN_IF_ERROR(CheckFileName(file));
  RETURN_IF_ERROR(CheckFolderOf(file));
  const std::string parent = ParentDirectory(file);
  const bool is_there = access(file.c_str(), F_OK) == 0;
  const std::string& written = is_there ? file : parent;
  if (access(written.c_str(), is_there ? W_OK : W_OK | X_OK) != 0) {
    return IoError(fmt::format("{}: {}", file, std::strerror(errno)));
  }
  std::error_code error;
  const std::filesystem::file_status found =
      std::filesystem::status(file, error);
  if (std::filesystem::is_directory(found)) {
    return IoError(fmt::format("{}: expected a file, found a folder", file));
  }
  // /dev/null and terminals accept all text, but a pipe would wait for its
  // reader.
  if (!is_there || std::filesystem::is_regular_file(found) ||
      std::filesystem::is_character_file(found)) {
    return OkStatus();
  }
  return IoError(fmt::format("{}: expected a regular file", file));
}

Status CheckOutputPlaces(Storage& storage, const TrainCommand& command) {
  const std::array<std::pair<std::string_view, const std::string*>, 5> places =
      {{{"--events", &command.events_directory},
        {"--logs", &command.logs_directory},
        {"--plan-state", &command.plan_state_directory},
        {"--tensorboard", &command.options.summary.directory},
        {"--ckpt", &command.options.checkpoint.directory}}};
  for (const auto& [flag, directory] : places) {
    RETURN_IF_ERROR(Annotate(CheckOutputPlace(storage, *directory), flag));
  }
  return Annotate(CheckOutputFile(command.trace_file), "--trace");
}

Status MakeOutputPlaces(Storage& storage, const TrainCommand& command) {
  RETURN_IF_ERROR(
      Annotate(MakePlace(storage, command.events_directory), "--events"));
  RETURN_IF_ERROR(
      Annotate(MakePlace(storage, command.logs_directory), "--logs"));
  RETURN_IF_ERROR(Annotate(
      MakeStore(storage, command.options.checkpoint.directory), "--ckpt"));
  return MakeChiefPlaces(storage, command);
}

}  // namespace gauntlet
