// Files that are truncated or changed anywhere: no crash, no hang, notes
// instead of errors, and memory use in proportion to the file.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "tests/engine/data/data_files.h"
#include "tests/harness/results/result_files.h"
#include "tests/harness/results/two_results.h"

namespace {

// Largest allocation of the program since this was set to 0.
std::atomic<size_t> largest_allocation = 0;

}  // namespace

// Not inlined, because g++ would report an inlined new and its delete as
// mismatched.
[[gnu::noinline]] void* operator new(size_t size) {
  size_t before = largest_allocation;
  while (before < size &&
         !largest_allocation.compare_exchange_weak(before, size)) {
  }
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(size_t size,
                                     const std::nothrow_t&) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace gauntlet {
namespace {

// Returns valid files, by name.
std::map<std::string, std::string> SoundFiles() {
  using namespace pickle;
  const std::string tensor =
      PickledTensor({.elements = 6, .shape = {3, 2}, .strides = {1, 3}});
  return {
      {"a.safetensors", SafetensorsOf({1, 2, 3}, "[3]")},
      {"a.npy", Npy("<f4", "(2, 3)", std::string(24, 'x'))},
      {"a.npz", Zip({{.name = "w.npy", .bytes = Npy("|u1", "(4,)", "data")},
                     {.name = "z.npy",
                      .bytes = Npy("|u1", "(9,)", "aaaaaaaaa"),
                      .is_deflated = true}})},
      {"a.pt",
       TorchFile(Dict({Text("model"), Dict({Text("w"), tensor}), Text("lr"),
                       Float(0.5), Text("steps"), List({Integer(1), "N"})}),
                 {BytesOf<float>({1, 2, 3, 4, 5, 6})})},
      {"a.keras", Zip({{.name = "metadata.json", .bytes = "{\"a\":[1,2.5]}"},
                       {.name = "config.json", .bytes = "{\"b\":null}"}})}};
}

class HostileFiles : public testing::TestWithParam<std::string> {
 protected:
  HostileFiles() { results_.Expected(name(), sound_); }

  const std::string& name() const { return GetParam(); }

  // Checks that no allocation is too large, and that the digest differs iff the
  // comparison finds a difference. A digest reads all values of a file.
  void ExpectNoHarm(const std::string& bytes, const std::string& what) {
    constexpr size_t kAlways = 4 << 20;
    constexpr size_t kTimes = 64;
    results_.Found(name(), bytes);
    largest_allocation = 0;
    const auto digest = DigestOfResult(results_.found(), {});
    const auto comparison =
        CompareResults(results_.found(), results_.expected(), {});
    EXPECT_LE(largest_allocation, kAlways + kTimes * bytes.size()) << what;
    ASSERT_TRUE(digest.ok()) << what << ": " << digest.status().ToString();
    ASSERT_TRUE(comparison.ok()) << comparison.status().ToString();
    EXPECT_EQ(comparison->IsEqual(),
              *digest == *DigestOfResult(results_.expected(), {}))
        << what;
  }

  const std::string sound_ = SoundFiles().at(GetParam());
  TwoResults results_;
};

TEST_P(HostileFiles, DoNoHarm_WhereverTheyAreCut) {
  EXPECT_NE(OpenedFile(name(), sound_).file.format, FileFormat::kBytes);
  for (size_t size = 0; size < sound_.size(); ++size) {
    ExpectNoHarm(sound_.substr(0, size), "cut at " + std::to_string(size));
  }
}

TEST_P(HostileFiles, DoNoHarm_WhicheverByteIsChanged) {
  for (size_t at = 0; at < sound_.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string changed = sound_;
      changed[at] = static_cast<char>(changed[at] ^ change);
      ExpectNoHarm(changed, "byte " + std::to_string(at) + " changed");
    }
  }
}

// Four bytes cover one length in most formats, or half of one.
TEST_P(HostileFiles, DoNoHarm_WhicheverLengthIsHuge) {
  for (size_t at = 0; at + 4 <= sound_.size(); ++at) {
    for (const uint32_t length : {0x7fffffffU, 0xffffffffU}) {
      std::string changed = sound_;
      changed.replace(at, 4, LittleEndian(length, 4));
      ExpectNoHarm(changed, "a length at " + std::to_string(at));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, HostileFiles,
                         testing::Values("a.safetensors", "a.npy", "a.npz",
                                         "a.pt", "a.keras"),
                         [](const auto& one) { return one.param.substr(2); });

}  // namespace
}  // namespace gauntlet
