#include "engine/app/train/output_places.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "engine/ckpt/format/store_names.h"
#include "engine/cli/output_file.h"
#include "engine/train/save/model_export.h"
#include "engine/world/directories.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Creates one level only, so that a mistyped path does not create several.
Status MakePlace(Storage& storage, const std::string& directory) {
  if (directory.empty()) return OkStatus();
  const Status made = storage.MakeDirectory(directory);
  return made.code() == Code::kAlreadyExists ? OkStatus() : made;
}

bool IsOfStore(const DirectoryEntry& entry) {
  return ParseEntryName(entry.name).kind != EntryKind::kOther ||
         entry.name == kStateFileName || entry.name == kLockFileName;
}

// Returns true iff the entry may exist in a directory without a user's files:
// it is hidden, or is the file system's folder for recovered files, or has the
// name of a program's output.
bool IsIncidental(const DirectoryEntry& entry) {
  const std::string_view name = entry.name;
  const bool is_output = name.ends_with(".log") || name.ends_with(".out") ||
                         name.ends_with(".err");
  return name.starts_with('.') || name == "lost+found" ||
         (entry.kind == FileKind::kFile && is_output);
}

// Refuses a directory that has a user's files but no entry of a checkpoint
// directory: the path was probably mistyped.
Status CheckStorePlace(Storage& storage, const std::string& directory) {
  RETURN_IF_ERROR(CheckOutputPlace(storage, directory));
  const auto entries = storage.List(directory);
  if (!entries.ok() || std::ranges::any_of(*entries, IsOfStore)) {
    return OkStatus();
  }
  const auto work = std::ranges::find_if_not(*entries, IsIncidental);
  if (work == entries->end()) return OkStatus();
  return InvalidArgument(
      fmt::format("{}: expected checkpoints or an empty directory, found '{}'; "
                  "name a new directory, such as {}/ckpt",
                  directory, work->name, WithoutLastSlashes(directory)));
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

// Prepares the export first, so that a place where it cannot be written is
// refused before any other directory is created.
Status MakeChiefPlaces(Storage& storage, const TrainCommand& command) {
  const TrainOptions& options = command.options;
  if (!options.export_directory.empty()) {
    RETURN_IF_ERROR(
        Annotate(PrepareExport(storage, options.export_directory), "--export"));
  }
  return Annotate(MakeSummaryPlace(storage, options.summary.directory),
                  "--tensorboard");
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

Status CheckOutputPlaces(Storage& storage, const TrainCommand& command) {
  const std::array<std::pair<std::string_view, const std::string*>, 4> places =
      {{{"--events", &command.events_directory},
        {"--logs", &command.logs_directory},
        {"--plan-state", &command.plan_state_directory},
        {"--tensorboard", &command.options.summary.directory}}};
  for (const auto& [flag, directory] : places) {
    RETURN_IF_ERROR(Annotate(CheckOutputPlace(storage, *directory), flag));
  }
  RETURN_IF_ERROR(
      Annotate(CheckStorePlace(storage, command.options.checkpoint.directory),
               "--ckpt"));
  return Annotate(CheckOutputFile(command.trace_file), "--trace");
}

Status MakeOutputPlaces(Storage& storage, const TrainCommand& command) {
  RETURN_IF_ERROR(MakeChiefPlaces(storage, command));
  RETURN_IF_ERROR(
      Annotate(MakePlace(storage, command.events_directory), "--events"));
  RETURN_IF_ERROR(
      Annotate(MakePlace(storage, command.logs_directory), "--logs"));
  return Annotate(MakeStore(storage, command.options.checkpoint.directory),
                  "--ckpt");
}

}  // namespace gauntlet
