#include <array>
#include <span>

#include "engine/data/dataset.h"
#include "engine/data/digits.h"
#include "engine/data/idx.h"
#include "engine/data/raw_rows.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct RawSplit {
  RawRows train;
  RawRows validation;
};

RawSplit DrawSplit(const DataSpec& spec) {
  const auto side = static_cast<uint32_t>(spec.side);
  return {.train = DrawDigits({.split = DigitsSplit::kTrain,
                               .rows = static_cast<uint32_t>(spec.samples),
                               .side = side}),
          .validation = DrawDigits(
              {.split = DigitsSplit::kValidation,
               .rows = static_cast<uint32_t>(spec.validation_samples),
               .side = side})};
}

Result<RawSplit> ReadSplit(Storage& storage, const std::string& directory) {
  RawSplit split;
  ASSIGN_OR_RETURN(split.train, ReadIdx(storage, directory, IdxSplit::kTrain));
  ASSIGN_OR_RETURN(split.validation,
                   ReadIdx(storage, directory, IdxSplit::kValidation));
  if (split.train.height == split.validation.height &&
      split.train.width == split.validation.width) {
    return split;
  }
  return InvalidArgument(fmt::format(
      "{}: expected validation images of {} x {} pixels as in training, found "
      "{} x {}",
      directory, split.train.height, split.train.width, split.validation.height,
      split.validation.width));
}

// The same rows give the same text, however they were stored.
std::string ContentText(const RawRows& raw) {
  return fmt::format("{}x{}x{} pixels {} labels {}\n", raw.rows, raw.height,
                     raw.width,
                     DigestOf(std::as_bytes(std::span(raw.pixels))).ToString(),
                     DigestOf(std::as_bytes(std::span(raw.labels))).ToString());
}

// The true quotient byte / 255, correctly rounded.
std::array<float, 256> FeatureOfByte() {
  std::array<float, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<float>(i) / 255.0f;
  }
  return table;
}

Dataset ToDataset(RawRows raw) {
  const std::array<float, 256> feature = FeatureOfByte();
  Dataset data{.rows = raw.rows,
               .height = raw.height,
               .width = raw.width,
               .classes = kImageClasses};
  data.features.reserve(raw.pixels.size());
  for (const uint8_t pixel : raw.pixels) {
    data.features.push_back(feature[pixel]);
  }
  data.labels = std::move(raw.labels);
  return data;
}

}  // namespace

Result<std::shared_ptr<const DataSplit>> LoadData(Storage& storage,
                                                  const DataSpec& spec) {
  RawSplit raw;
  if (spec.kind == DataKind::kIdx) {
    ASSIGN_OR_RETURN(raw, ReadSplit(storage, spec.path));
  } else {
    raw = DrawSplit(spec);
  }
  auto split = std::make_shared<DataSplit>();
  split->content =
      DigestOf(ContentText(raw.train) + ContentText(raw.validation));
  split->train = ToDataset(std::move(raw.train));
  split->validation = ToDataset(std::move(raw.validation));
  return std::shared_ptr<const DataSplit>(std::move(split));
}

}  // namespace gauntlet
