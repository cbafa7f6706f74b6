#include "engine/gpu/digest_kernel.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/ckpt/state/state_digest.h"
#include "engine/gpu/emulated_device.h"

namespace gauntlet::gpu {
namespace {

// Returns a tensor of random bits in which every hundredth word is a NaN.
std::vector<uint32_t> WordsWithNans(size_t bytes) {
  std::mt19937 random(static_cast<unsigned>(bytes));
  std::vector<uint32_t> words(bytes / 4);
  for (uint32_t& word : words) {
    word = static_cast<uint32_t>(random());
    if (random() % 100 == 0) word = 0xffc12345u;
  }
  return words;
}

// Returns the digest of a state of one tensor, from block digests computed on
// the device.
Digest StateDigestByDevice(const TensorView& tensor,
                           const std::vector<uint64_t>& blocks) {
  std::string list;
  const auto put = [&](uint64_t value) {
    list.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(tensor.name.size());
  list += tensor.name;
  list += static_cast<char>(tensor.dtype);
  put(tensor.shape.size());
  for (const uint64_t size : tensor.shape) put(size);
  put(tensor.bytes.size());
  for (size_t i = 0; i < blocks.size(); i += 2) {
    put(blocks[i + 1]);
    put(blocks[i]);
  }
  return DigestOf(list);
}

TEST(DigestKernelTest, BlocksHaveTheDigestsOfAStateOnTheHost) {
  const DeviceApi& api = EmulatedDevice();
  DeviceText why;
  Device* const device = api.open(0, &why);
  for (const size_t bytes :
       {244, 256, 260, 1024, 1028, 1084, 1088, 1092, 2048, 5000, 65536,
        65536 + 244, 3 * 65536, 3 * 65536 + 64000}) {
    for (const DType dtype : {DType::kF32, DType::kU32}) {
      const std::vector<uint32_t> words = WordsWithNans(bytes);
      const TensorView tensor = {.name = "x",
                                 .dtype = dtype,
                                 .shape = {words.size()},
                                 .bytes = std::as_bytes(std::span(words))};
      std::vector<uint64_t> digests((bytes + kDigestBlockBytes - 1) /
                                    kDigestBlockBytes * 2);
      api.digest_blocks(device, {.words = words.data(),
                                 .bytes = bytes,
                                 .block_bytes = kDigestBlockBytes,
                                 .canonical_nans = dtype == DType::kF32,
                                 .digests = digests.data()});
      ASSERT_STREQ(api.failure(device), "");
      EXPECT_EQ(StateDigestByDevice(tensor, digests), StateDigest({{tensor}}))
          << bytes << " bytes";
    }
  }
  api.close(device);
}

}  // namespace
}  // namespace gauntlet::gpu
