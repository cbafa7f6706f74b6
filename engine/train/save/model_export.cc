#include "engine/train/save/model_export.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ckpt/format/safetensors.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/block_writer.h"
#include "engine/ckpt/state/state_digest.h"
#include "engine/job/job.h"
#include "engine/job/strict_json.h"
#include "engine/numerics.h"
#include "engine/tensor.h"
#include "engine/world/directories.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns the layer that a parameter belongs to: "dense1" for "dense1/kernel".
std::string_view LayerOf(const ParameterInfo& info) {
  return std::string_view(info.name).substr(0, info.name.find('/'));
}

// Returns true if a layer of that kind can have this name: the kind or a prefix
// of the kind, then a number, as in "dense1".
bool CanHaveName(std::string_view kind, std::string_view name) {
  const size_t digits = name.find_first_of("0123456789");
  return digits != 0 && kind.starts_with(name.substr(0, digits));
}

// Adds to each layer of the job the parameters that belong to it. Both lists
// are in model order.
Status AddParameters(std::span<const ParameterInfo> parameters, Json& layers) {
  size_t next = 0;
  for (Json& layer : layers) {
    if (next == parameters.size()) break;
    const std::string_view name = LayerOf(parameters[next]);
    if (!CanHaveName(layer.value("kind", ""), name)) continue;
    Json own = Json::array();
    while (next < parameters.size() && LayerOf(parameters[next]) == name) {
      own.push_back(
          {{"name", parameters[next].name}, {"shape", parameters[next].shape}});
      ++next;
    }
    layer["parameters"] = std::move(own);
  }
  if (next == parameters.size()) return OkStatus();
  return InvalidArgument(
      fmt::format("{}: expected a layer of the job, found "
                  "none that it belongs to",
                  parameters[next].name));
}

bool IsExportedFile(const DirectoryEntry& entry) {
  return entry.kind == FileKind::kFile &&
         (entry.name == kExportedWeights || entry.name == kExportDescription);
}

// Paths of the export and of temporary directories next to it.
struct ExportPlace {
  std::string directory;
  std::string parent;
  std::string written;  // the new export, until it is renamed
  std::string earlier;  // the previous export, until it is removed
  std::string tried;    // tests that a directory can be created
};

// Returns the paths of an export. If `directory` is a link, the export replaces
// the link's target; else the path stays as given.
Result<ExportPlace> FindExportPlace(Storage& storage,
                                    const std::string& directory) {
  ExportPlace place;
  place.directory = WithoutLastSlashes(directory);
  const std::string name =
      place.directory.substr(place.directory.rfind('/') + 1);
  ASSIGN_OR_RETURN(std::string real, storage.RealPath(place.directory));
  ASSIGN_OR_RETURN(const std::string real_parent,
                   storage.RealPath(ParentDirectory(place.directory)));
  const std::string unlinked =
      (real_parent == "/" ? "" : real_parent) + "/" + name;
  if (real != unlinked) place.directory = std::move(real);
  place.parent = ParentDirectory(place.directory);
  place.written = place.directory + ".tmp";
  place.earlier = place.directory + ".old";
  place.tried = place.directory + ".try";
  return place;
}

// Checks that the directory is missing, empty, or an export, complete or not.
Status CheckExport(Storage& storage, const std::string& directory) {
  const auto entries = storage.List(directory);
  if (entries.status().code() == Code::kNotFound) return OkStatus();
  if (!entries.ok()) return InvalidArgument(entries.status().message());
  for (const DirectoryEntry& entry : *entries) {
    if (IsExportedFile(entry)) continue;
    return InvalidArgument(
        fmt::format("{}: expected nothing or an earlier export, found '{}'",
                    directory, entry.name));
  }
  return OkStatus();
}

// Rejects a name that retention would mistake for a checkpoint's, as it would
// remove the export.
Status CheckName(const ExportPlace& place) {
  const std::string_view name =
      std::string_view(place.directory).substr(place.directory.rfind('/') + 1);
  if (ParseEntryName(name).kind != EntryKind::kOther) {
    return InvalidArgument(fmt::format(
        "{}: expected a name that no checkpoint has", place.directory));
  }
  return OkStatus();
}

// Rejects a place inside a checkpoint: retention would remove the export.
Status CheckIsOutsideOfCheckpoints(Storage& storage, const ExportPlace& place) {
  const std::string manifest =
      fmt::format("{}/{}", place.parent, kManifestName);
  if (storage.Open(manifest, OpenMode::kRead).status().code() ==
      Code::kNotFound) {
    return OkStatus();
  }
  return InvalidArgument(
      fmt::format("{}: expected a place outside of a checkpoint, found {}",
                  place.directory, manifest));
}

// Removes an export, complete or not, and its directory. kNotFound: there is
// none.
Status RemoveExport(Storage& storage, const std::string& directory) {
  ASSIGN_OR_RETURN(const std::vector<DirectoryEntry> entries,
                   storage.List(directory));
  RETURN_IF_ERROR(CheckExport(storage, directory));
  for (const DirectoryEntry& entry : entries) {
    RETURN_IF_ERROR(
        storage.Remove(directory + "/" + entry.name, FileKind::kFile));
  }
  return storage.Remove(directory, FileKind::kDirectory);
}

Status IgnoreNotFound(const Status& status) {
  return status.code() == Code::kNotFound ? OkStatus() : status;
}

Status RemoveExportIfThere(Storage& storage, const std::string& directory) {
  return IgnoreNotFound(RemoveExport(storage, directory));
}

// Tests that a directory can be created next to the export, under a name that
// no export uses: a stale worker may still be writing or renaming an export.
Status CheckCanCreateFolder(Storage& storage, const ExportPlace& place) {
  const std::string& folder = place.tried;
  const Status made = storage.MakeDirectory(folder);
  // In /proc, mkdir fails with ENOENT.
  if (made.code() == Code::kForbidden || made.code() == Code::kNotFound) {
    return Forbidden(
        fmt::format("{}: cannot be created: {} permits no new folder; choose "
                    "another place",
                    place.directory, place.parent));
  }
  if (!made.ok() && made.code() != Code::kAlreadyExists) return made;
  const Status opened =
      storage
          .Open(fmt::format("{}/{}", folder, kExportedWeights), OpenMode::kRead)
          .status();
  RETURN_IF_ERROR(IgnoreNotFound(storage.Remove(folder, FileKind::kDirectory)));
  return IgnoreNotFound(opened);
}

Result<std::string> ModelDescription(const TrainedModel& trained,
                                     const Digest& weights_digest) {
  ASSIGN_OR_RETURN(const Json job, ParseStrictJson(trained.job_json, "job"));
  // Checks that the text is a valid job: such a text has the fields that are
  // read below.
  RETURN_IF_ERROR(JobFromJson(trained.job_json).status());
  Json layers = job["model"]["layers"];
  RETURN_IF_ERROR(AddParameters(trained.model.parameters(), layers));
  RETURN_IF_ERROR(AddParameters(trained.model.replica_state(), layers));
  const Dataset& data = trained.data;
  const Json description = {
      {"schema", "gauntlet/model/v1"},
      {"numerics", numerics::kVersion},
      {"weights", kExportedWeights},
      {"weights_digest", weights_digest.ToString()},
      {"dtype", DTypeName(DType::kF32)},
      {"input",
       {{"height", data.height},
        {"width", data.width},
        {"channels", data.channels},
        {"layout", "NHWC"},
        {"divide_by", data.divided_by}}},
      {"classes", data.classes},
      {"loss", job["model"]["loss"]},
      {"layers", std::move(layers)},
      {"trained",
       {{"step", trained.state.position.step},
        {"epoch", trained.state.position.epoch},
        {"state_digest", trained.state_digest.ToString()},
        {"job_digest", JobDigest(trained.job_json).ToString()}}}};
  return description.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status WriteExport(World& world, const std::string& directory,
                   const TrainedModel& trained) {
  const std::vector<float> values = ValuesOf(trained.model, trained.state);
  const std::vector<TensorView> views =
      ViewsOf(TrainedValues(trained.model), values);
  ASSIGN_OR_RETURN(const std::string description,
                   ModelDescription(trained, StateDigest(views)));
  const SafetensorsLayout layout =
      LayOutSafetensors(views, trained.state.position.step);
  const WritePlan points = {.write_point = Point::kExportWrite,
                            .step = trained.state.position.step,
                            .epoch = trained.state.position.epoch};
  RETURN_IF_ERROR(world.storage.MakeDirectory(directory));
  RETURN_IF_ERROR(
      WriteInBlocks(world, fmt::format("{}/{}", directory, kExportedWeights),
                    PartsOf(layout, views), points)
          .status());
  RETURN_IF_ERROR(
      WriteInBlocks(world, fmt::format("{}/{}", directory, kExportDescription),
                    description, points)
          .status());
  return world.storage.SyncDirectory(directory);
}

}  // namespace

Result<std::string> DescribeModel(const TrainedModel& trained) {
  const std::vector<float> values = ValuesOf(trained.model, trained.state);
  return ModelDescription(
      trained, StateDigest(ViewsOf(TrainedValues(trained.model), values)));
}

Status CheckExportedWeights(std::string_view description,
                            std::span<const TensorView> weights) {
  const Json json = Json::parse(description, nullptr, false);
  if (!json.is_object()) {
    return DataLoss("expected a JSON object, found other text");
  }
  const auto recorded = json.find("weights_digest");
  if (recorded == json.end()) return OkStatus();
  const std::string found = StateDigest(weights).ToString();
  if (*recorded == found) return OkStatus();
  return DataLoss(
      fmt::format("weights_digest: expected {}, found weights of {}",
                  recorded->dump(), found));
}

Status PrepareExport(Storage& storage, const std::string& directory) {
  const Status tried = [&]() -> Status {
    RETURN_IF_ERROR(CheckPath(directory));
    ASSIGN_OR_RETURN(const ExportPlace place,
                     FindExportPlace(storage, directory));
    RETURN_IF_ERROR(CheckName(place));
    for (const std::string& name :
         {place.directory, place.written, place.earlier, place.tried}) {
      RETURN_IF_ERROR(CheckExport(storage, name));
    }
    RETURN_IF_ERROR(CheckIsOutsideOfCheckpoints(storage, place));
    RETURN_IF_ERROR(MakeDurableDirectory(storage, place.parent));
    return CheckCanCreateFolder(storage, place);
  }();
  if (tried.ok() || tried.code() == Code::kResourceExhausted) return tried;
  return InvalidArgument(tried.message());
}

Status ExportModel(World& world, const std::string& directory,
                   const TrainedModel& trained) {
  Storage& storage = world.storage;
  RETURN_IF_ERROR(Annotate(CheckPath(directory), "export"));
  ASSIGN_OR_RETURN(const ExportPlace place,
                   FindExportPlace(storage, directory));
  RETURN_IF_ERROR(CheckName(place));
  RETURN_IF_ERROR(CheckIsOutsideOfCheckpoints(storage, place));
  RETURN_IF_ERROR(CheckExport(storage, place.directory));
  RETURN_IF_ERROR(MakeDurableDirectory(storage, place.parent));
  RETURN_IF_ERROR(RemoveExportIfThere(storage, place.written));
  const Status written = WriteExport(world, place.written, trained);
  if (!written.ok()) {
    static_cast<void>(RemoveExportIfThere(storage, place.written));
    return written;
  }
  RETURN_IF_ERROR(world.faults.Hit(Point::kExportRename,
                                   {.step = trained.state.position.step,
                                    .epoch = trained.state.position.epoch}));
  RETURN_IF_ERROR(RemoveExportIfThere(storage, place.earlier));
  RETURN_IF_ERROR(
      IgnoreNotFound(storage.Rename(place.directory, place.earlier)));
  const Status moved = storage.Rename(place.written, place.directory);
  if (!moved.ok()) {
    static_cast<void>(storage.Rename(place.earlier, place.directory));
    return moved;
  }
  RETURN_IF_ERROR(storage.SyncDirectory(place.parent));
  // Remains of the earlier export do no harm; the next export removes them.
  static_cast<void>(RemoveExportIfThere(storage, place.earlier));
  return OkStatus();
}

}  // namespace gauntlet
