#include "engine/large_array.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

// Returns the VmFlags of the mapping that holds an address (proc(5), smaps),
// with "hg" if huge pages were requested; "" if the system does not tell.
std::string FlagsOfMapping(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream smaps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) ==
        2) {
      inside = begin <= wanted && wanted < end;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line.substr(8) + " ";
    }
  }
  return "";
}

TEST(LargeArray, HoldsDefaultElements) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{3} << 20}) {
    const std::vector<float> array = MakeLargeArray<float>(size);
    EXPECT_EQ(array.size(), size);
    EXPECT_TRUE(
        std::ranges::all_of(array, [](float value) { return value == 0.0f; }));
  }
}

TEST(LargeArray, RequestsHugePages_IfItIsLarge) {
  const auto large = MakeLargeArray<std::byte>(size_t{64} << 20);
  const std::string flags = FlagsOfMapping(large.data() + large.size() / 2);
  const std::ifstream known("/sys/kernel/mm/transparent_hugepage/enabled");
  if (flags.empty() || !known) GTEST_SKIP() << "no huge pages to ask for";
  EXPECT_NE(flags.find(" hg "), flags.npos) << flags;
  const auto small = MakeLargeArray<std::byte>(size_t{1} << 20);
  const std::string others = FlagsOfMapping(small.data());
  EXPECT_EQ(others.find(" hg "), others.npos) << others;
}

}  // namespace
}  // namespace gauntlet
