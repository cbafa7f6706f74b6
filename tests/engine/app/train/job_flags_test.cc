#include "engine/app/train/job_flags.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

std::string HintOn(DataKind kind, const std::string& path) {
  return DataPrefixHint({.kind = kind, .path = path});
}

TEST(DataPrefixHintTest, NamesTheKnownPrefixesForAnUnknownOne) {
  EXPECT_EQ(HintOn(DataKind::kIdx, "nope:x"),
            "; expected one of idx:, cifar10:, npy: before the folder, found "
            "'nope:'");
  EXPECT_EQ(HintOn(DataKind::kIdx, "mnist"), "");
  EXPECT_EQ(HintOn(DataKind::kIdx, "npy:x"), "");
  EXPECT_EQ(HintOn(DataKind::kIdx, "/data/a:1"), "");
  EXPECT_EQ(HintOn(DataKind::kNpy, "nope:x"), "");
}

}  // namespace
}  // namespace gauntlet
