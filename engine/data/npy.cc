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

// Reads rows, height, width and channels from the shape.
Status TakeRowShape(const NpyFile& file, RawRows& raw) {
  std::vector<uint64_t> shape = file.array.shape;
  if (shape.size() == 2) shape = {shape[0], 1, shape[1], 1};
  if (shape.size() == 3) shape.push_back(1);
  bool sound = shape.size() == 4 && shape[0] <= kMaxDataRows;
  uint64_t features = 1;
  for (size_t i = 0; sound && i < shape.size(); ++i) {
    sound = shape[i] >= 1;
    if (i > 0) sound = sound && shape[i] <= kMaxFeatures / features;
    if (i > 0) features *= shape[i];
  }
  if (!sound) {
    return file.Malformed(
        file.array.shape_offset,
        fmt::format("a shape (rows, features), (rows, height, width) or (rows, "
                    "height, width, channels) of 1 to {} rows and at most {} "
                    "features",
                    kMaxDataRows, kMaxFeatures),
        file.ShapeText());
  }
  raw.rows = static_cast<uint32_t>(shape[0]);
  raw.height = static_cast<uint32_t>(shape[1]);
  raw.width = static_cast<uint32_t>(shape[2]);
  raw.channels = static_cast<uint32_t>(shape[3]);
  return OkStatus();
}

Status TakeFeatures(const NpyFile& file, RawRows& raw) {
  const NpyArray& array = file.array;
  if (array.type != NpyType::kU1 && array.type != NpyType::kF4) {
    return file.Malformed(array.type_offset, "features of type |u1 or <f4",
                          NpyTypeName(array.type));
  }
  RETURN_IF_ERROR(TakeRowShape(file, raw));
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

int64_t LabelAt(const NpyFile& file, uint64_t row) {
  switch (file.array.type) {
    case NpyType::kU1:
      return file.At<uint8_t>(row);
    case NpyType::kI4:
      return file.At<int32_t>(row);
    case NpyType::kI8:
      return file.At<int64_t>(row);
    case NpyType::kF4:
      break;
  }
  return -1;
}

Status TakeLabels(const NpyFile& file, uint32_t classes, RawRows& raw) {
  const NpyArray& array = file.array;
  if (array.type == NpyType::kF4) {
    return file.Malformed(array.type_offset, "labels of type |u1, <i4 or <i8",
                          NpyTypeName(array.type));
  }
  const std::vector<uint64_t>& shape = array.shape;
  const bool column = shape.size() == 2 && shape[1] == 1;
  if ((shape.size() != 1 && !column) || shape[0] != raw.rows) {
    return file.Malformed(array.shape_offset,
                          fmt::format("a shape ({0}) or ({0}, 1), a label for "
                                      "each row of features",
                                      raw.rows),
                          file.ShapeText());
  }
  raw.labels.reserve(raw.rows);
  for (uint32_t row = 0; row < raw.rows; ++row) {
    const int64_t label = LabelAt(file, row);
    if (label < 0 || label >= classes) {
      return file.Malformed(file.OffsetOf(row),
                            fmt::format("a label from 0 to {}", classes - 1),
                            std::to_string(label));
    }
    raw.labels.push_back(static_cast<uint8_t>(label));
  }
  return OkStatus();
}

}  // namespace

Result<RawRows> ReadNpy(Storage& storage, const NpySource& source,
                        DataPart part) {
  const char* const name = part == DataPart::kTrain ? "train" : "test";
  RawRows raw;
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
