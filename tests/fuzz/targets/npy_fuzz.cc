// Input: two bytes for the features' size, the features, the labels.
#include "engine/data/npy.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/world/memory_storage.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {
namespace {

std::string InputOf(const std::string& features, const std::string& labels) {
  return LittleEndian(features.size(), 2) + features + labels;
}

}  // namespace

void FuzzNpy(std::string_view input) {
  constexpr size_t kHead = 2;
  if (input.size() < kHead) return;
  const size_t split = static_cast<size_t>(static_cast<uint8_t>(input[0]) |
                                           static_cast<uint8_t>(input[1]) << 8);
  input.remove_prefix(kHead);
  MemoryStorage storage = ReadOnlyFiles();
  storage.SetBytes("/d/x_train.npy", std::string(input.substr(0, split)));
  storage.SetBytes("/d/y_train.npy",
                   std::string(input.substr(std::min(split, input.size()))));
  const Result<RawSamples> raw =
      ReadNpy(storage, {.directory = "/d"}, DataPart::kTrain);
  if (!raw.ok()) {
    CHECK(raw.status().code() == Code::kInvalidArgument,
          raw.status().ToString());
    return CheckErrorLine(raw.status().message());
  }
  const size_t values =
      size_t{raw->samples} * raw->height * raw->width * raw->channels;
  CHECK(raw->pixels.size() + raw->values.size() == values,
        "other values than the sizes say");
  CHECK(raw->labels.size() == raw->samples, "a sample without a label");
  for (const uint8_t label : raw->labels) {
    CHECK(label < kImageClasses, "a label outside");
  }
}

std::vector<std::string> NpySeeds() {
  const std::string two = "abcdefgh";
  const std::string v2 = "{'descr':'|u1','fortran_order':False,'shape':(2,4)}";
  return {
      InputOf(Npy("|u1", "(2, 2, 2)", two),
              Npy("|u1", "(2,)", std::string("\1\2", 2))),
      InputOf(Npy("<f4", "(2, 1, 1, 1)", two),
              Npy("<i4", "(2, 1)", LittleEndian(1, 4) + LittleEndian(2, 4))),
      InputOf(std::string("\x93NUMPY\x02\x00", 8) + LittleEndian(v2.size(), 4) +
                  v2 + two,
              Npy("<i8", "(2,)", LittleEndian(1, 8) + LittleEndian(2, 8)))};
}

}  // namespace gauntlet
