// Builds without libhdf5.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/results/two_results.h"

namespace gauntlet {
namespace {

TEST(Hdf5Absent, ComparesFilesAsBytes_WithNote) {
  const std::string mark = "\x89HDF\r\n\x1a\n";
  TwoResults results;
  results.Found("a.h5", mark + "1");
  results.Expected("a.h5", mark + "2");
  EXPECT_THAT(results.Differences(),
              testing::ElementsAre("a.h5: byte 9: 0x31 instead of 0x32; 1 of 9 "
                                   "bytes differ"));
  EXPECT_THAT(results.comparison().notes,
              testing::ElementsAre("a.h5: compared as bytes: this build cannot "
                                   "read HDF5: libhdf5 was not found"));
}

}  // namespace
}  // namespace gauntlet
