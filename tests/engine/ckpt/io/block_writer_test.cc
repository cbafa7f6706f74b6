#include "engine/ckpt/io/block_writer.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

TEST(BlockSizeTest, IsAQuarterInWholeGranulesUpToAMebibyte) {
  EXPECT_EQ(BlockSize(0), 4096u);
  EXPECT_EQ(BlockSize(4 * 4096), 4096u);
  EXPECT_EQ(BlockSize(4 * 4096 + 1), 2 * 4096u);
  EXPECT_EQ(BlockSize(uint64_t{64} << 20), uint64_t{1} << 20);
}

TEST(BlockWriterTest, WritesAllPartsAndHitsThePointBeforeEachBlock) {
  MemoryStorage storage;
  TestWorld test(storage);
  const std::string a(5000, 'a');
  const std::string b(15000, 'b');
  const std::vector<std::span<const std::byte>> parts = {
      std::as_bytes(std::span(a)), {}, std::as_bytes(std::span(b))};
  const auto written = WriteInBlocks(
      test.world, "/file", parts,
      {.write_point = Point::kShardWrite, .sync_point = Point::kShardSync});
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  EXPECT_EQ(storage.Bytes("/file"), a + b);
  EXPECT_EQ(written->digest, DigestOf(a + b));
  EXPECT_EQ(test.faults.hits.size(), 3u + 1u);
}

class ContextLog final : public FaultPoints {
 public:
  Status Hit(Point, const PointContext& context) override {
    contexts.push_back(context);
    return OkStatus();
  }
  bool Planted(PlantedBug) const override { return false; }
  std::vector<PointContext> contexts;
};

TEST(BlockWriterTest, NumbersTheBlocksOfAFile) {
  MemoryStorage storage;
  TestWorld test(storage);
  ContextLog log;
  const World& base = test.world;
  World world{base.clock, base.storage, base.network, base.tasks,
              base.host,  log,          base.events,  base.entropy};
  ASSERT_TRUE(WriteInBlocks(world, "/file", std::string(20000, 'x'),
                            {.write_point = Point::kShardWrite,
                             .sync_point = Point::kShardSync})
                  .ok());
  ASSERT_EQ(log.contexts.size(), 3u + 1u);
  for (const uint64_t block : {0, 1, 2}) {
    EXPECT_EQ(log.contexts[block].block, block);
    EXPECT_EQ(log.contexts[block].offset, block * 8192);
  }
  EXPECT_EQ(log.contexts[3].block, 0u) << "at the sync";
}

TEST(BlockWriterTest, StopsWithTheStatusOfThePoint) {
  MemoryStorage storage;
  TestWorld test(storage);
  test.faults.script = [](Point, size_t hit) {
    return hit == 1 ? ResourceExhausted("full") : OkStatus();
  };
  const auto written =
      WriteInBlocks(test.world, "/file", std::string(20000, 'x'),
                    {.write_point = Point::kShardWrite, .sync_point = {}});
  EXPECT_EQ(written.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(storage.Bytes("/file").size(), 8192u);
}

}  // namespace
}  // namespace gauntlet
