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
  const Result<RawRows> raw = ReadCifar10(storage, "/d", DataPart::kValidation);
  if (!raw.ok()) {
    CHECK(raw.status().code() == Code::kInvalidArgument,
          raw.status().ToString());
    return CheckErrorLine(raw.status().message());
  }
  CHECK(raw->labels.size() == raw->rows, "a row without a label");
  CHECK(raw->labels.size() + raw->pixels.size() == input.size(),
        "other rows than the file has");
  for (const uint8_t label : raw->labels) {
    CHECK(label < kImageClasses, "a label outside");
  }
}

std::vector<std::string> Cifar10Seeds() {
  return {CifarRow(1, 'a'), CifarRow(0, 'a') + CifarRow(9, '\xff')};
}

}  // namespace gauntlet
