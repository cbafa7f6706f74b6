#include "engine/data/cifar10.h"

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "engine/data/source_file.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kImageSide = kCifar10Side;
constexpr size_t kChannels = kCifar10Channels;
constexpr size_t kPlane = kImageSide * kImageSide;
constexpr size_t kSampleBytes = 1 + kChannels * kPlane;

constexpr std::array<std::string_view, 5> kTrainFiles = {
    "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
    "data_batch_4.bin", "data_batch_5.bin"};
constexpr std::array<std::string_view, 1> kValidationFiles = {"test_batch.bin"};

std::span<const std::string_view> FilesOf(DataPart part) {
  if (part == DataPart::kTrain) return kTrainFiles;
  return kValidationFiles;
}

// Checks that the file contains whole samples, and at least one.
Status CheckSize(const std::string& path, uint64_t bytes) {
  if (bytes > 0 && bytes % kSampleBytes == 0) return OkStatus();
  return MalformedData(
      path, bytes / kSampleBytes * kSampleBytes,
      fmt::format("a sample of {} bytes (a label and 32 x 32 x 3 values)",
                  kSampleBytes),
      std::to_string(bytes % kSampleBytes));
}

Status AppendSamples(const std::string& path, std::string_view bytes,
                     RawSamples& raw) {
  RETURN_IF_ERROR(CheckSize(path, bytes.size()));
  const size_t samples = bytes.size() / kSampleBytes;
  raw.pixels.reserve(raw.pixels.size() + samples * kChannels * kPlane);
  for (size_t sample = 0; sample < samples; ++sample) {
    const size_t offset = sample * kSampleBytes;
    const auto at = [&](size_t i) {
      return static_cast<uint8_t>(bytes[offset + i]);
    };
    if (at(0) >= kImageClasses) {
      return MalformedData(path, offset,
                           fmt::format("a label below {}", kImageClasses),
                           std::to_string(at(0)));
    }
    raw.labels.push_back(at(0));
    for (size_t pixel = 0; pixel < kPlane; ++pixel) {
      for (size_t channel = 0; channel < kChannels; ++channel) {
        raw.pixels.push_back(at(1 + channel * kPlane + pixel));
      }
    }
  }
  raw.samples += static_cast<uint32_t>(samples);
  raw.samples_of_files.push_back(static_cast<uint32_t>(samples));
  return OkStatus();
}

}  // namespace

Result<RawSamples> ReadCifar10(Storage& storage, const std::string& directory,
                               DataPart part) {
  RawSamples raw{
      .height = kImageSide, .width = kImageSide, .channels = kChannels};
  for (const std::string_view name : FilesOf(part)) {
    const std::string path = fmt::format("{}/{}", directory, name);
    const Result<std::string> bytes = ReadDataFile(storage, path);
    if (bytes.status().code() == Code::kNotFound) {
      return InvalidArgument(path +
                             ": expected a file of CIFAR-10's binary version, "
                             "found none");
    }
    RETURN_IF_ERROR(bytes.status());
    RETURN_IF_ERROR(AppendSamples(path, *bytes, raw));
  }
  return raw;
}

}  // namespace gauntlet
