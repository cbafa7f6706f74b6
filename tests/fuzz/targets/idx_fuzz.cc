// Input: storage format of the files, two bytes for the images' size, the
// images, the labels.
#include "engine/data/idx.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/world/memory_storage.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {
namespace {

constexpr char kPlain = 'p';
constexpr char kGzip = 'z';    // the input is in gzip format
constexpr char kPacked = 'P';  // the target compresses the input

std::string InputOf(char how, std::string_view images,
                    std::string_view labels) {
  std::string input = {how, static_cast<char>(images.size() >> 8 & 0xff),
                       static_cast<char>(images.size() & 0xff)};
  return input.append(images).append(labels);
}

std::string Images(uint32_t samples, uint32_t side) {
  return BigEndian(0x803) + BigEndian(samples) + BigEndian(side) +
         BigEndian(side) + std::string(size_t{samples} * side * side, '\7');
}

std::string Labels(uint32_t samples) {
  return BigEndian(0x801) + BigEndian(samples) + std::string(samples, '\3');
}

}  // namespace

void FuzzIdx(std::string_view input) {
  constexpr size_t kHead = 3;
  if (input.size() < kHead) return;
  const char how = input[0];
  const size_t split = static_cast<size_t>(static_cast<uint8_t>(input[1]) << 8 |
                                           static_cast<uint8_t>(input[2]));
  input.remove_prefix(kHead);
  std::string images(input.substr(0, split));
  std::string labels(input.substr(std::min(split, input.size())));
  if (how == kPacked) {
    images = Gzip(images);
    labels = Gzip(labels);
  }
  const std::string end = how == kGzip || how == kPacked ? ".gz" : "";
  MemoryStorage storage = ReadOnlyFiles();
  storage.SetBytes("/d/train-images-idx3-ubyte" + end, images);
  storage.SetBytes("/d/train-labels-idx1-ubyte" + end, labels);
  const Result<RawSamples> raw = ReadIdx(storage, "/d", DataPart::kTrain);
  if (!raw.ok()) {
    CHECK(raw.status().code() == Code::kInvalidArgument,
          raw.status().ToString());
    return CheckErrorLine(raw.status().message());
  }
  CHECK(raw->pixels.size() == size_t{raw->samples} * raw->height * raw->width,
        "other pixels than the sizes say");
  CHECK(raw->labels.size() == raw->samples, "a sample without a label");
  for (const uint8_t label : raw->labels) {
    CHECK(label < kImageClasses, "a label outside");
  }
}

std::vector<std::string> IdxSeeds() {
  return {InputOf(kPlain, Images(2, 3), Labels(2)),
          InputOf(kPacked, Images(2, 3), Labels(2)),
          InputOf(kGzip, Gzip(Images(1, 2)), Gzip(Labels(1)))};
}

}  // namespace gauntlet
