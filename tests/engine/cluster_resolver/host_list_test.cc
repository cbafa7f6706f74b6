#include "engine/cluster/resolver/host_list.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct GoodList {
  std::string text;
  std::string first;
  uint64_t hosts = 0;
};

TEST(HostListTest, ReturnsTheFirstHostAndTheNumberOfHosts) {
  const std::vector<GoodList> cases = {
      {"vm", "vm", 1},
      {"a,b,c", "a", 3},
      {"host[01-03,7]", "host01", 4},
      {"host[7,01-03]", "host7", 4},
      {"host[5]", "host5", 1},
      {"login,rack[0-1]n[08-10].example", "login", 7},
      {"rack[0-1]n[08-10].example,login", "rack0n08.example", 7},
      {"10.0.0.[4-5]", "10.0.0.4", 2},
      {"n[1-1000000]", "n1", 1'000'000},
      {"n[000-999]m[0000-9999]", "n000m0000", 10'000'000},
  };
  for (const auto& [text, first, hosts] : cases) {
    const Result<HostListHead> head = ReadHostList(text);
    ASSERT_TRUE(head.ok()) << text << ": " << head.status().ToString();
    EXPECT_EQ(head->first, first) << text;
    EXPECT_EQ(head->hosts, hosts) << text;
  }
}

TEST(HostListTest, MillionHostsByNameAreReadToo) {
  std::string text = "h0";
  for (int i = 1; i < 100'000; ++i) text += ",h" + std::to_string(i);
  const Result<HostListHead> head = ReadHostList(text);
  ASSERT_TRUE(head.ok()) << head.status().ToString();
  EXPECT_EQ(head->hosts, 100'000u);
}

// 2^20 hosts times 2^44 overflows 64 bits to zero.
TEST(HostListTest, OverflowingNumberOfHosts_IsRefused) {
  std::string text = "a[0-1048575]b[0-549755813887";
  for (int i = 1; i < 32; ++i) text += ",0-549755813887";
  EXPECT_THAT(ReadHostList(text + "]").status().message(),
              HasSubstr("too many hosts"));
}

TEST(HostListTest, RefusalIsOneLineWithTheFoundText) {
  const std::string long_name(300, 'h');
  const std::vector<std::string> cases = {
      "",
      ",",
      "a,",
      ",a",
      "a,,b",
      "a[",
      "a]",
      "a[]",
      "a[1",
      "a1]",
      "a[1-2]]",
      "a[[1-2]]",
      "a[1,[2-3]]",
      "a[1-]",
      "a[-1]",
      "a[1--2]",
      "a[3-1]",
      "a[1-2-3]",
      "a[,1]",
      "a[1,]",
      "a[x-y]",
      "a[+1-2]",
      "a[1 2]",
      "a b",
      "a/b",
      "a\nb",
      "$(reboot)",
      "a[1-99999999]",
      "a[1-9999999999999999999999]",
      "a[0-9999]b[0-9999]",
      "a[1-10000000],b",
      long_name,
      std::string(2 << 20, 'a'),
  };
  for (const std::string& text : cases) {
    const Result<HostListHead> head = ReadHostList(text);
    ASSERT_FALSE(head.ok()) << text.substr(0, 80);
    EXPECT_EQ(head.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(head.status().message(), HasSubstr("host list: "));
    EXPECT_THAT(head.status().message(), HasSubstr("found"));
    EXPECT_THAT(head.status().message(), Not(HasSubstr("\n")));
    EXPECT_LT(head.status().message().size(), 300u);
  }
}

}  // namespace
}  // namespace gauntlet
