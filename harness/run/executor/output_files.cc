#include "harness/run/executor/output_files.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

#include "engine/ckpt/format/safetensors.h"
#include "engine/summary/crc32c.h"
#include "engine/summary/summary_writer.h"
#include "engine/train/save/model_export.h"
#include "harness/run/executor/event_file.pb.h"
#include "harness/run/executor/run_log.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

uint64_t IntegerAt(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}

// Adds the points of an event. If the event is the start of a session, first
// drops the points of its step and of later ones. Returns false iff the bytes
// are no event.
bool TakeEvent(std::string_view bytes, std::vector<CurvePoint>& points) {
  event_file::Event event;
  if (!event.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return false;
  }
  const auto step = static_cast<uint64_t>(event.step());
  if (event.has_session_log()) {
    std::erase_if(
        points, [step](const CurvePoint& point) { return point.step >= step; });
  }
  for (const event_file::Summary::Value& value : event.summary().value()) {
    points.push_back({.tag = value.tag(),
                      .step = step,
                      .bits = std::bit_cast<uint32_t>(value.simple_value())});
  }
  return true;
}

// Adds the points of the records in the file. Stops without an error at the
// first incomplete record, as its writer may have been killed. Returns the
// reason why a complete record cannot be read; "" if there is none.
std::string TakeRecords(std::string_view file,
                        std::vector<CurvePoint>& points) {
  constexpr size_t kHead = 12;  // length and its checksum
  constexpr size_t kFoot = 4;
  while (!file.empty()) {
    if (file.size() < kHead) return "";
    const uint64_t size = IntegerAt(file, 0, 8);
    if (IntegerAt(file, 8, 4) != MaskedCrc32c(file.substr(0, 8))) {
      return "the checksum of a record's length is wrong";
    }
    if (size > file.size() - kHead || file.size() - kHead - size < kFoot) {
      return "";
    }
    const std::string_view event = file.substr(kHead, size);
    if (IntegerAt(file, kHead + size, 4) != MaskedCrc32c(event)) {
      return "the checksum of a record is wrong";
    }
    if (!TakeEvent(event, points)) return "a record is no event";
    file.remove_prefix(kHead + size + kFoot);
  }
  return "";
}

Status LookAtCurves(World& world, const std::string& directory,
                    Leftovers& left) {
  const Result<std::vector<DirectoryEntry>> entries =
      world.storage.List(directory);
  if (entries.status().code() == Code::kNotFound) return OkStatus();
  RETURN_IF_ERROR(entries.status());
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : *entries) {
    if (entry.name.starts_with(kEventFilePrefix)) names.push_back(entry.name);
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(
        const std::string file,
        ReadFile(world.storage, directory + "/" + name, kMaxFileBytes));
    const std::string damage = TakeRecords(file, left.curves);
    if (damage.empty() || !left.curves_damage.empty()) continue;
    left.curves_damage = fmt::format("{}: {}", name, damage);
  }
  return OkStatus();
}

// Fills in the step and the digest from the description. Returns OK iff the
// weights match the description.
Status ReadExport(World& world, const std::string& directory,
                  ExportedModel& exported) {
  const auto path = [&directory](std::string_view name) {
    return fmt::format("{}/{}", directory, name);
  };
  ASSIGN_OR_RETURN(
      const std::string description,
      ReadFile(world.storage, path(kExportDescription), kMaxFileBytes));
  ASSIGN_OR_RETURN(
      const std::string weights,
      ReadFile(world.storage, path(kExportedWeights), kMaxFileBytes));
  ASSIGN_OR_RETURN(const std::vector<TensorView> tensors,
                   ParseSafetensors(std::as_bytes(std::span(weights))));
  RETURN_IF_ERROR(CheckExportedWeights(description, tensors));
  const auto json = nlohmann::json::parse(description, nullptr,
                                          /*allow_exceptions=*/false);
  const auto trained = json.find("trained");
  if (trained == json.end() || !trained->is_object()) {
    return DataLoss("the description does not say what was trained");
  }
  exported.step = trained->value("step", uint64_t{0});
  exported.digest = trained->value("state_digest", "");
  return OkStatus();
}

Status LookAtModel(World& world, const std::string& directory,
                   Leftovers& left) {
  const Status listed = world.storage.List(directory).status();
  if (listed.code() == Code::kNotFound) return OkStatus();
  RETURN_IF_ERROR(listed);
  ExportedModel exported;
  const Status read = ReadExport(world, directory, exported);
  exported.is_complete = read.ok();
  exported.reason = read.message();
  left.exported = std::move(exported);
  return OkStatus();
}

}  // namespace

Status LookAtOutputs(World& world, const LeftoverPlaces& places,
                     Leftovers& left) {
  if (!places.curves.empty()) {
    RETURN_IF_ERROR(LookAtCurves(world, places.curves, left));
  }
  if (!places.model.empty()) {
    RETURN_IF_ERROR(LookAtModel(world, places.model, left));
  }
  left.outputs_listed = !places.curves.empty() || !places.model.empty();
  return OkStatus();
}

Status LookAtLeftovers(World& world, const TrainOptions& options,
                       Leftovers& left) {
  if (!options.checkpoint.directory.empty()) {
    RETURN_IF_ERROR(LookAtStore(world, options.checkpoint.directory, left));
  }
  return LookAtOutputs(
      world,
      {.curves = options.summary.directory, .model = options.export_directory},
      left);
}

}  // namespace gauntlet
