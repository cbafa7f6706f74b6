// Names of faults in a sentence.
#include "harness/record/text/named_faults.h"

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(NamedFaultsTest, AreJoinedAsInASentence) {
  const RecordFault a = {.id = "a"};
  const RecordFault b = {.id = "b"};
  const RecordFault c = {.id = "c"};
  EXPECT_EQ(NamedFaults({&a}), "fault a");
  EXPECT_EQ(NamedFaults({&a, &b}), "faults a and b");
  EXPECT_EQ(NamedFaults({&a, &b, &c}), "faults a, b and c");
}

}  // namespace
}  // namespace gauntlet
