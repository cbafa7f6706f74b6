#include "engine/data/npy.h"

#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "engine/data/npy_array.h"
#include "engine/data/source_file.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxFeatures = uint64_t{1} << 24;

// A file and its parsed header.
struct NpyFile {
  std::string path;
  std::string bytes;
  NpyArray array;

  uint64_t OffsetOf(uint64_t element) const {
    return array.data_offset + element * NpyTypeBytes(array.type);
  }
  template <typename T>
  T At(uint64_t element) const {
    T value;
    std::memcpy(&value, bytes.data() + OffsetOf(element), sizeof(T));
    return value;
  }
  Status Malformed(uint64_t offset, std::string_view expected,
                   std::string_view found) const {
    return MalformedData(path, offset, expected, found);
  }
  std::string ShapeText() const {
    return fmt::format("({})", fmt::join(array.shape, ", "));
  }
};

Result<NpyFile> ReadNpyFile(Storage& storage, std::string path) {
  NpyFile file{.path = std::move(path)};
  Result<std::string> bytes = ReadDataFile(storage, file.path);
  if (bytes.status().code() == Code::kNotFound) {
    return InvalidArgument(file.path + ": expected a .npy file, found none");
  }
  RETURN_IF_ERROR(bytes.status());
  file.bytes = *std::move(bytes);
  ASSIGN_OR_RETURN(file.array, ParseNpy(file.path, file.bytes));
  return file;
}

// Reads samples, height, width and channels from the shape.
Status TakeShape(const NpyFile& file, RawSamples& raw) {
  std::vector<uint64_t> shape = file.array.shape;
  if (shape.size() == 2) shape = {shape[0], 1, shape[1], 1};
  if (shape.size() == 3) shape.push_back(1);
  bool sound = shape.size() == 4 && shape[0] <= kMaxDataSamples;
  uint64_t features = 1;
  for (size_t i = 0; sound && i < shape.size(); ++i) {
    sound = shape[i] >= 1;
    if (i > 0) sound = sound && shape[i] <= kMaxFeatures / features;
    if (i > 0) features *= shape[i];
  }
  if (!sound) {
    return file.Malformed(
        file.array.shape_offset,
        fmt::format("a shape (samples, features), (samples, height, width) or "
                    "(samples, height, width, channels) of 1 to {} samples and "
                    "at most {} features",
                    kMaxDataSamples, kMaxFeatures),
        file.ShapeText());
  }
  raw.samples = static_cast<uint32_t>(shape[0]);
  raw.height = static_cast<uint32_t>(shape[1]);
  raw.width = static_cast<uint32_t>(shape[2]);
  raw.channels = static_cast<uint32_t>(shape[3]);
  return OkStatus();
}

Status TakeFeatures(const NpyFile& file, RawSamples& raw) {
  const NpyArray& array = file.array;
  if (array.type != NpyType::kU1 && array.type != NpyType::kF4) {
    return file.Malformed(array.type_offset, "features of type |u1 or <f4",
                          NpyTypeName(array.type));
  }
  RETURN_IF_ERROR(TakeShape(file, raw));
  if (array.type == NpyType::kU1) {
    raw.pixels.resize(array.elements);
    std::memcpy(raw.pixels.data(), file.bytes.data() + array.data_offset,
                array.elements);
    return OkStatus();
  }
  raw.values.resize(array.elements);
  std::memcpy(raw.values.data(), file.bytes.data() + array.data_offset,
              array.elements * sizeof(float));
  for (uint64_t i = 0; i < array.elements; ++i) {
    if (std::isfinite(raw.values[i])) continue;
    return file.Malformed(file.OffsetOf(i), "a finite number",
                          fmt::format("{}", raw.values[i]));
  }
  return OkStatus();
}

int64_t LabelAt(const NpyFile& file, uint64_t sample) {
  switch (file.array.type) {
    case NpyType::kU1:
      return file.At<uint8_t>(sample);
    case NpyType::kI4:
      return file.At<int32_t>(sample);
    case NpyType::kI8:
      return file.At<int64_t>(sample);
    case NpyType::kF4:
      break;
  }
  return -1;
}

Status TakeLabels(const NpyFile& file, uint32_t classes, RawSamples& raw) {
  const NpyArray& array = file.array;
  if (array.type == NpyType::kF4) {
    return file.Malformed(array.type_offset, "labels of type |u1, <i4 or <i8",
                          NpyTypeName(array.type));
  }
  const std::vector<uint64_t>& shape = array.shape;
  const bool column = shape.size() == 2 && shape[1] == 1;
  if ((shape.size() != 1 && !column) || shape[0] != raw.samples) {
    return file.Malformed(array.shape_offset,
                          fmt::format("a shape ({0}) or ({0}, 1), a label for "
                                      "each sample of features",
                                      raw.samples),
                          file.ShapeText());
  }
  raw.labels.reserve(raw.samples);
  for (uint32_t sample = 0; sample < raw.samples; ++sample) {
    const int64_t label = LabelAt(file, sample);
    if (label < 0 || label >= classes) {
      return file.Malformed(file.OffsetOf(sample),
                            fmt::format("a label from 0 to {}", classes - 1),
                            std::to_string(label));
    }
    raw.labels.push_back(static_cast<uint8_t>(label));
  }
  return OkStatus();
}

}  // namespace

Result<RawSamples> ReadNpy(Storage& storage, const NpySource& source,
                           DataPart part) {
  const char* const name = part == DataPart::kTrain ? "train" : "test";
  RawSamples raw;
  {
    ASSIGN_OR_RETURN(const NpyFile features,
                     ReadNpyFile(storage, fmt::format("{}/x_{}.npy",
                                                      source.directory, name)));
    RETURN_IF_ERROR(TakeFeatures(features, raw));
  }
  ASSIGN_OR_RETURN(
      const NpyFile labels,
      ReadNpyFile(storage, fmt::format("{}/y_{}.npy", source.directory, name)));
  RETURN_IF_ERROR(TakeLabels(labels, source.classes, raw));
  return raw;
}

}  // namespace gauntlet
