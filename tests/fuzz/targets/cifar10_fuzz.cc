// Input: the test batch.
#include "engine/data/cifar10.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/world/memory_storage.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {

void FuzzCifar10(std::string_view input) {
  MemoryStorage storage = ReadOnlyFiles();
  storage.SetBytes("/d/test_batch.bin", std::string(input));
  const Result<RawSamples> raw =
      ReadCifar10(storage, "/d", DataPart::kValidation);
  if (!raw.ok()) {
    CHECK(raw.status().code() == Code::kInvalidArgument,
          raw.status().ToString());
    return CheckErrorLine(raw.status().message());
  }
  CHECK(raw->labels.size() == raw->samples, "a sample without a label");
  CHECK(raw->labels.size() + raw->pixels.size() == input.size(),
        "other samples than the file has");
  for (const uint8_t label : raw->labels) {
    CHECK(label < kImageClasses, "a label outside");
  }
}

std::vector<std::string> Cifar10Seeds() {
  return {CifarSample(1, 'a'), CifarSample(0, 'a') + CifarSample(9, '\xff')};
}

}  // namespace gauntlet
