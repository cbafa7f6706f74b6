#include "harness/run/output_files.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/ckpt/safetensors.h"
#include "engine/summary/crc32c.h"
#include "engine/train/model_export.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

constexpr std::string_view kEventFilePrefix = "events.out.tfevents.";
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

uint64_t IntegerAt(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}

// One field of a protobuf message.
struct ProtobufField {
  uint64_t number = 0;
  uint64_t value = 0;      // of an integer
  std::string_view bytes;  // of a text or a message
};

// Takes the fields of a message one by one.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : left_(message) {}

  // Nullopt at the end, and where no field can be read.
  std::optional<ProtobufField> Next() {
    const std::optional<uint64_t> key = TakeVarint();
    if (!key) return std::nullopt;
    ProtobufField field = {.number = *key >> 3};
    switch (*key & 7) {
      case 0: {
        const std::optional<uint64_t> value = TakeVarint();
        if (!value) return std::nullopt;
        field.value = *value;
        return field;
      }
      case 1:
        return TakeFixed(8, field);
      case 2: {
        const std::optional<uint64_t> size = TakeVarint();
        if (!size || *size > left_.size()) return std::nullopt;
        field.bytes = left_.substr(0, *size);
        left_.remove_prefix(*size);
        return field;
      }
      case 5:
        return TakeFixed(4, field);
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<ProtobufField> TakeFixed(size_t size, ProtobufField field) {
    if (left_.size() < size) return std::nullopt;
    field.value = IntegerAt(left_, 0, size);
    left_.remove_prefix(size);
    return field;
  }

  std::optional<uint64_t> TakeVarint() {
    uint64_t value = 0;
    for (size_t i = 0; i < left_.size() && i < 10; ++i) {
      const auto byte = static_cast<unsigned char>(left_[i]);
      value |= uint64_t{byte & 0x7fu} << (7 * i);
      if (byte < 0x80) {
        left_.remove_prefix(i + 1);
        return value;
      }
    }
    return std::nullopt;
  }

  std::string_view left_;
};

// The points of an event, and the start of a session: see
// engine/summary/event_record.h.
void TakeEvent(std::string_view event, std::vector<CurvePoint>& points) {
  uint64_t step = 0;
  bool starts_session = false;
  std::string_view summary;
  ProtobufReader fields(event);
  while (const auto field = fields.Next()) {
    if (field->number == 2) step = field->value;
    if (field->number == 5) summary = field->bytes;
    if (field->number == 7) starts_session = true;
  }
  if (starts_session) {
    std::erase_if(
        points, [step](const CurvePoint& point) { return point.step >= step; });
  }
  ProtobufReader values(summary);
  while (const auto value = values.Next()) {
    CurvePoint point = {.tag = {}, .step = step};
    ProtobufReader parts(value->bytes);
    while (const auto part = parts.Next()) {
      if (part->number == 1) point.tag = part->bytes;
      if (part->number == 2) point.bits = static_cast<uint32_t>(part->value);
    }
    points.push_back(std::move(point));
  }
}

// Up to the first record that is not whole: what a reader has of a file whose
// writer was killed. Returns why that one cannot be read, "" at the end.
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
    TakeEvent(event, points);
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

// Ok: the weights are those of the description.
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
  exported.whole = read.ok();
  exported.reason = read.message();
  left.exported = std::move(exported);
  return OkStatus();
}

}  // namespace

Status LookAtOutputs(World& world, const OutputPlaces& places,
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

}  // namespace gauntlet
