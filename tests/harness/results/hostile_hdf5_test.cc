// HDF5 files that are truncated or changed. libhdf5 may crash on them, but this
// program may not. Texts of variable length are left out: with a changed heap,
// libhdf5 runs until the time limit of its process, half a minute.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/results/hdf5_writer.h"
#include "tests/harness/results/two_results.h"

namespace gauntlet {
namespace {

std::string SoundFile() {
  return Hdf5([](hid_t file) {
    WriteFloats(file, "w", {2, 2}, {1, 2, 3, 4});
    WriteChunkedFloats(file, "z", {20}, std::vector<float>(20, 0.5));
  });
}

void ExpectNoHarm(const ScratchDirectory& scratch, const std::string& bytes,
                  size_t place) {
  std::ofstream(scratch / "a.h5", std::ios::binary) << bytes;
  const auto digest = DigestOfResult(scratch.path(), {});
  EXPECT_TRUE(digest.ok()) << "at " << place << digest.status().ToString();
}

// Each file needs a process, so only some hundred of the offsets are tried.
constexpr size_t kTries = 150;

TEST(HostileHdf5, DoesNoHarm_WhereverItIsCut) {
  const ScratchDirectory scratch;
  const std::string sound = SoundFile();
  const size_t step = sound.size() / kTries + 1;
  for (size_t size = 0; size < sound.size(); size += step)
    ExpectNoHarm(scratch, sound.substr(0, size), size);
}

TEST(HostileHdf5, DoesNoHarm_WhicheverByteIsChanged) {
  const ScratchDirectory scratch;
  const std::string sound = SoundFile();
  size_t tries = 0;
  for (size_t at = 0; at < sound.size() && tries < 2 * kTries; ++at) {
    if (sound[at] == '\0' && at % 16 != 0) continue;
    ++tries;
    std::string changed = sound;
    changed[at] = static_cast<char>(~changed[at]);
    ExpectNoHarm(scratch, changed, at);
  }
}

}  // namespace
}  // namespace gauntlet
