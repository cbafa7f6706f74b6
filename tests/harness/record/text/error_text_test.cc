// Errors of workers, shortened for lists of events.
#include "harness/record/text/error_text.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(ErrorTextTest, ShortError_IsTheFirstSentenceWithNamesOfFiles) {
  const std::pair<std::string, std::string> kCases[] = {
      {"rank 0's shard: write /ckpt/step-000000010-g1.tmp/model.safetensors: "
       "disk full (needs 12.5 KiB). Make room, then run the same command",
       "rank 0's shard: write model.safetensors: disk full (needs 12.5 KiB)"},
      {"/ckpt/step-000000010-g1.tmp/MANIFEST.json: missing",
       "MANIFEST.json: missing"},
      {"create /ckpt/step-000000010-g1: EIO",
       "create /ckpt/step-000000010-g1: EIO"},
      {"open /data/a/train.npy: EACCES", "open /data/a/train.npy: EACCES"},
      {"lost rank 1 after 1.5 s. it left", "lost rank 1 after 1.5 s. it left"},
      {"", ""},
  };
  for (const auto& [error, text] : kCases) EXPECT_EQ(ShortError(error), text);
}

TEST(ErrorTextTest, WithoutDiskRoom_KeepsOtherBrackets) {
  EXPECT_EQ(WithoutDiskRoom("full (ENOSPC) (needs 1.0 KiB, /ckpt has 0.5 KiB "
                            "free) at step 5"),
            "full (ENOSPC) at step 5");
  EXPECT_EQ(WithoutDiskRoom("closed (by peer)"), "closed (by peer)");
  EXPECT_EQ(WithoutDiskRoom("cut (needs "), "cut (needs ");
}

}  // namespace
}  // namespace gauntlet
