#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/data/cifar10.h"
#include "engine/data/dataset.h"
#include "engine/data/digits.h"
#include "engine/data/idx.h"
#include "engine/data/npy.h"
#include "engine/data/raw_samples.h"
#include "engine/large_array.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

struct RawSplit {
  RawSamples train;
  RawSamples validation;
};

RawSplit DrawSplit(const DataSpec& spec) {
  const auto side = static_cast<uint32_t>(spec.side);
  return {.train = DrawDigits({.split = DataPart::kTrain,
                               .samples = static_cast<uint32_t>(spec.samples),
                               .side = side}),
          .validation = DrawDigits(
              {.split = DataPart::kValidation,
               .samples = static_cast<uint32_t>(spec.validation_samples),
               .side = side})};
}

std::string SizeText(const RawSamples& raw) {
  std::string text = fmt::format("{} x {}", raw.height, raw.width);
  if (raw.channels > 1) text += fmt::format(" x {}", raw.channels);
  return text;
}

Status CheckAlike(const std::string& path, const RawSplit& split) {
  const auto type_of = [](const RawSamples& raw) {
    return raw.values.empty() ? "bytes" : "floats";
  };
  if (SizeText(split.train) != SizeText(split.validation)) {
    return InvalidArgument(fmt::format(
        "{}: expected validation images of {} pixels as in training, found {}",
        path, SizeText(split.train), SizeText(split.validation)));
  }
  // Both parts must store the same type, as bytes are scaled to [0, 1] and
  // floats are not.
  if (type_of(split.train) == type_of(split.validation)) return OkStatus();
  return InvalidArgument(fmt::format(
      "{}: expected validation features stored as {} as in training, found {}",
      path, type_of(split.train), type_of(split.validation)));
}

Result<RawSplit> ReadSplit(Storage& storage, const DataSpec& spec) {
  const auto read = [&](DataPart part) -> Result<RawSamples> {
    const bool elsewhere =
        part == DataPart::kValidation && !spec.validation_path.empty();
    const std::string& path = elsewhere ? spec.validation_path : spec.path;
    if (spec.kind == DataKind::kCifar10) {
      return ReadCifar10(storage, path, part);
    }
    if (spec.kind == DataKind::kNpy) {
      return ReadNpy(
          storage,
          {.directory = path, .classes = static_cast<uint32_t>(spec.classes)},
          part);
    }
    return ReadIdx(storage, path, part);
  };
  RawSplit split;
  ASSIGN_OR_RETURN(split.train, read(DataPart::kTrain));
  ASSIGN_OR_RETURN(split.validation, read(DataPart::kValidation));
  RETURN_IF_ERROR(CheckAlike(spec.path, split));
  return split;
}

// Returns a text that is the same for the same samples, whatever the format of
// their files is. The text contains the number of samples in each file, as
// these determine which replica takes which samples.
std::string ContentText(const RawSamples& raw) {
  const auto digest_of = [](const auto& values) {
    return DigestOf(std::as_bytes(std::span(values))).ToString();
  };
  std::string text =
      fmt::format("{}x{}x{}", raw.samples, raw.height, raw.width);
  if (raw.channels > 1) text += fmt::format("x{}", raw.channels);
  text += raw.values.empty() ? " pixels " + digest_of(raw.pixels)
                             : " floats " + digest_of(raw.values);
  text += " labels " + digest_of(raw.labels);
  if (!raw.samples_of_files.empty()) {
    text += fmt::format(" files {}", fmt::join(raw.samples_of_files, "+"));
  }
  return text + "\n";
}

// Returns a table with the value byte / 255 for each byte, correctly rounded.
std::array<float, 256> FeatureOfByte() {
  std::array<float, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<float>(i) / 255.0f;
  }
  return table;
}

Dataset ToDataset(RawSamples raw, uint32_t classes) {
  const std::array<float, 256> feature = FeatureOfByte();
  Dataset data{.samples = raw.samples,
               .height = raw.height,
               .width = raw.width,
               .channels = raw.channels,
               .classes = classes,
               .divided_by = raw.values.empty() ? 255u : 1u};
  if (raw.pixels.empty()) {
    data.features = std::move(raw.values);
  } else {
    data.features = MakeLargeArray<float>(raw.pixels.size());
    std::ranges::transform(raw.pixels, data.features.begin(),
                           [&](uint8_t pixel) { return feature[pixel]; });
  }
  data.labels = std::move(raw.labels);
  data.samples_of_files = std::move(raw.samples_of_files);
  return data;
}

}  // namespace

std::optional<Dataset> DatasetWithoutFiles(const DataSpec& spec) {
  Dataset data{.classes = kImageClasses};
  if (spec.kind == DataKind::kDigits) {
    data.height = data.width = static_cast<uint32_t>(spec.side);
    return data;
  }
  if (spec.kind != DataKind::kCifar10) return std::nullopt;
  data.height = data.width = kCifar10Side;
  data.channels = kCifar10Channels;
  return data;
}

Result<std::shared_ptr<const DataSplit>> LoadData(Storage& storage,
                                                  const DataSpec& spec) {
  RawSplit raw;
  if (spec.kind == DataKind::kDigits) {
    raw = DrawSplit(spec);
  } else {
    ASSIGN_OR_RETURN(raw, ReadSplit(storage, spec));
  }
  const uint32_t classes = spec.kind == DataKind::kNpy
                               ? static_cast<uint32_t>(spec.classes)
                               : kImageClasses;
  auto split = std::make_shared<DataSplit>();
  split->content =
      DigestOf(ContentText(raw.train) + ContentText(raw.validation));
  split->train = ToDataset(std::move(raw.train), classes);
  split->validation = ToDataset(std::move(raw.validation), classes);
  return std::shared_ptr<const DataSplit>(std::move(split));
}

}  // namespace gauntlet
