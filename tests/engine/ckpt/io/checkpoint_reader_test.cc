#include "engine/ckpt/io/checkpoint_reader.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/io/block_writer.h"
#include "engine/ckpt/io/tensor_difference.h"
#include "engine/ckpt/state/state_digest.h"
#include "tests/engine/ckpt/test_world.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

const std::string kCheckpoint = "/store/step-000000001-g1";
constexpr int kShards = 3;

std::string PathOfShard(int index) {
  return kCheckpoint + "/" + ShardName(index, kShards);
}

Tensor Pattern(std::string name, DType dtype, uint64_t elements) {
  Tensor tensor{.name = std::move(name),
                .dtype = dtype,
                .shape = {elements},
                .bytes = std::vector<std::byte>(elements * DTypeBytes(dtype))};
  uint32_t state = 1;
  for (std::byte& byte : tensor.bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
  return tensor;
}

// Memory that a load may read tensors into, by name.
class Places {
 public:
  explicit Places(const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) {
      memory_[tensor.name].resize(tensor.bytes.size());
    }
  }
  TensorPlaces get() {
    return [this](const TensorView& tensor) -> std::span<std::byte> {
      const auto found = memory_.find(tensor.name);
      if (found == memory_.end()) return {};
      return found->second;
    };
  }
  const std::byte* at(const std::string& name) {
    return memory_.at(name).data();
  }

 private:
  std::map<std::string, std::vector<std::byte>> memory_;
};

// A checkpoint of three shards. Tensors are shorter and longer than a block,
// and none begins at a block.
class CheckpointReaderTest : public testing::Test {
 protected:
  CheckpointReaderTest()
      : shards_{{Pattern("long", DType::kF32, 3 * kMaxBlock / 4 + 5),
                 Pattern("number", DType::kU64, 1)},
                {Pattern("block", DType::kF32, kMaxBlock / 4),
                 Pattern("empty", DType::kF32, 0),
                 Pattern("short1", DType::kU32, 7),
                 Pattern("short2", DType::kF32, 1000)},
                {Pattern("last", DType::kI64, kMaxBlock / 8 + 1)}} {
    for (const auto& shard : shards_) {
      for (const Tensor& tensor : shard) views_.push_back(ViewOf(tensor));
    }
    std::ranges::sort(views_, {}, &TensorView::name);
    Write(StateDigest(views_));
  }

  void Write(const Digest& state_digest) {
    CheckpointStore store = OpenStore(test_.world);
    CHECK(store.ClaimGeneration(std::string(kJob)).ok(), "claim");
    const CheckpointHead head = {
        .step = 1, .state_digest = state_digest, .job_json = std::string(kJob)};
    const std::string save = store.BeginSave(head, 1).value().value();
    std::vector<ShardFile> files;
    for (int i = 0; i < kShards; ++i) {
      std::vector<TensorView> own;
      for (const Tensor& tensor : shards_[static_cast<size_t>(i)]) {
        own.push_back(ViewOf(tensor));
      }
      files.push_back(store.WriteShard(save, i, kShards, own).value());
    }
    CHECK(store.Commit(save, head, 1, files).ok(), "commit");
    storage_.reads().clear();
  }

  Result<LoadedCheckpoint> Read(const TensorPlaces& places = {}) {
    return ReadCheckpoint(test_.world, kCheckpoint, places);
  }

  // Returns the error of a load. Expects the same error with places, without
  // places, and if the checkpoint is only verified.
  Status ErrorOfRead() {
    Places places(shards_[1]);
    const Status without = Read().status();
    const Status with = Read(places.get()).status();
    EXPECT_EQ(with.ToString(), without.ToString());
    EXPECT_EQ(VerifyCheckpoint(test_.world, kCheckpoint).ToString(),
              with.ToString());
    return with;
  }

  MemoryStorage storage_;
  TestWorld test_{storage_};
  std::vector<std::vector<Tensor>> shards_;
  std::vector<TensorView> views_;
};

TEST_F(CheckpointReaderTest, ReadsTensorsIntoTheirPlaces) {
  for (const auto& shard : shards_) {
    Places places(shard);
    const auto loaded = Read(places.get());
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    EXPECT_THAT(CompareTensors(loaded->tensors, views_), IsEmpty());
    for (const Tensor& tensor : shard) {
      if (tensor.bytes.empty()) continue;
      const auto found =
          std::ranges::find(loaded->tensors, tensor.name, &TensorView::name);
      EXPECT_EQ(found->bytes.data(), places.at(tensor.name)) << tensor.name;
    }
  }
}

TEST_F(CheckpointReaderTest, AllocatesMemoryForTensorsWithoutAPlace) {
  const auto loaded = Read();
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_THAT(CompareTensors(loaded->tensors, views_), IsEmpty());
}

TEST_F(CheckpointReaderTest, ReadsEachByteOnce) {
  Places places(shards_[0]);
  ASSERT_TRUE(Read(places.get()).ok());
  EXPECT_EQ(storage_.reads().size(), kShards + 2u);
  for (const auto& [path, reads] : storage_.reads()) {
    size_t bytes = 0;
    for (const auto read : reads) bytes += read.size();
    EXPECT_EQ(bytes, storage_.Bytes(path).size()) << path;
  }
}

// The first block has the header, and all others are of the long tensor.
TEST_F(CheckpointReaderTest, BlockWithinATensorIsReadWithoutACopy) {
  Places places(shards_[0]);
  ASSERT_TRUE(Read(places.get()).ok());
  const Tensor& tensor = shards_[0].front();
  const std::span place(places.at(tensor.name), tensor.bytes.size());
  size_t bytes = 0;
  for (const auto read : storage_.reads().at(PathOfShard(0))) {
    if (IsWithin(read, place)) bytes += read.size();
  }
  EXPECT_EQ(bytes, storage_.Bytes(PathOfShard(0)).size() - kMaxBlock);
  EXPECT_GT(bytes, 2 * kMaxBlock);
}

// Returns the size of the memory from the lowest to the highest address read
// into.
size_t ExtentOf(std::span<const std::span<const std::byte>> reads) {
  const std::byte* begin = reads.front().data();
  const std::byte* end = begin;
  for (const auto read : reads) {
    begin = std::min(begin, read.data(), std::less<>());
    end = std::max(end, read.data() + read.size(), std::less<>());
  }
  return static_cast<size_t>(end - begin);
}

// The first shard has more than three blocks.
TEST_F(CheckpointReaderTest, VerificationReadsEachByteOnce_IntoOneBlock) {
  ASSERT_TRUE(VerifyCheckpoint(test_.world, kCheckpoint).ok());
  EXPECT_EQ(storage_.reads().size(), kShards + 2u);
  for (const auto& [path, reads] : storage_.reads()) {
    size_t bytes = 0;
    for (const auto read : reads) bytes += read.size();
    EXPECT_EQ(bytes, storage_.Bytes(path).size()) << path;
    EXPECT_LE(ExtentOf(reads), kMaxBlock) << path;
  }
}

TEST_F(CheckpointReaderTest, WrongStateDigestIsFound) {
  ASSERT_TRUE(OpenStore(test_.world).DeleteAll().ok());
  const Digest other = DigestOf(std::string_view("another state"));
  Write(other);
  EXPECT_EQ(ErrorOfRead().message(),
            fmt::format("state digest: expected {}, found {}", other.ToString(),
                        StateDigest(views_).ToString()));
}

// The header is parsed before the digest of the file is known. A damaged header
// must be reported in the same way as damaged data.
TEST_F(CheckpointReaderTest, EachBitFlipIsFoundByTheDigestOfTheFile) {
  std::string& file = storage_.Bytes(PathOfShard(1));
  const size_t header = file.find("    ");  // padding of the header
  std::vector<size_t> offsets = {header, kMaxBlock, file.size() - 1};
  for (size_t i = 0; i < 200; ++i) offsets.push_back(i);
  for (const size_t offset : offsets) {
    file[offset] = static_cast<char>(file[offset] ^ 1);
    const Status error = ErrorOfRead();
    EXPECT_EQ(error.code(), Code::kDataLoss);
    EXPECT_THAT(error.message(),
                StartsWith(ShardName(1, kShards) + ": expected xxh3_128 "))
        << offset;
    file[offset] = static_cast<char>(file[offset] ^ 1);
  }
  EXPECT_TRUE(Read().ok());
}

TEST_F(CheckpointReaderTest, FirstDamagedShardIsNamed) {
  for (const int shard : {1, 2}) storage_.Bytes(PathOfShard(shard)).back() ^= 1;
  EXPECT_THAT(ErrorOfRead().message(), StartsWith(ShardName(1, kShards)));
  storage_.Bytes(PathOfShard(1)).pop_back();
  const size_t size = storage_.Bytes(PathOfShard(1)).size();
  EXPECT_EQ(ErrorOfRead().message(),
            fmt::format("{}: expected {} bytes, found {}",
                        ShardName(1, kShards), size + 1, size));
}

TEST_F(CheckpointReaderTest, ReadErrorIsRetried_AndThenReturned) {
  int failures = 0;
  storage_.gate = [&](StorageCall operation, const std::string& path) {
    if (operation != StorageCall::kRead || path != PathOfShard(1)) {
      return OkStatus();
    }
    return failures-- > 0 ? IoError(path + ": read: no") : OkStatus();
  };
  Places places(shards_[1]);
  failures = 2;
  const auto loaded = Read(places.get());
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_THAT(CompareTensors(loaded->tensors, views_), IsEmpty());
  failures = 100;
  EXPECT_EQ(ErrorOfRead().ToString(),
            "IO_ERROR: " + PathOfShard(1) + ": read: no");
}

// The planted bug skips the check of the digest. The format is still checked.
TEST_F(CheckpointReaderTest, FileThatIsNoShardIsRefused) {
  test_.faults.planted = {PlantedBug::kTrustManifestBlindly};
  storage_.Bytes(PathOfShard(1))[8] = '[';
  EXPECT_EQ(
      ErrorOfRead().message(),
      ShardName(1, kShards) + ": header: expected JSON that starts with '{'");
  storage_.Bytes(PathOfShard(1)) = "short";
  EXPECT_EQ(ErrorOfRead().message(),
            ShardName(1, kShards) + ": expected at least 8 bytes, found 5");
  storage_.Bytes(PathOfShard(1)) = storage_.Bytes(PathOfShard(2));
  EXPECT_EQ(ErrorOfRead().message(),
            ShardName(1, kShards) + ": tensor last is not in the manifest");
}

}  // namespace
}  // namespace gauntlet
