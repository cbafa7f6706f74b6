#include "engine/real/posix/high_descriptor.h"

#include <string_view>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gauntlet {
namespace {

TEST(HighDescriptorTest, CopyHasANumberFromTheLowestOn) {
  const Result<Descriptor> copy =
      DuplicateFrom(Descriptor(dup(STDIN_FILENO)), 40, "input");
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  EXPECT_GE(copy->get(), 40);
  EXPECT_EQ(fcntl(copy->get(), F_GETFD), FD_CLOEXEC);
}

TEST(HighDescriptorTest, LimitOfOpenFiles_IsNamed) {
  if (std::string_view(GAUNTLET_SANITIZE).find("undefined") !=
      std::string_view::npos) {
    GTEST_SKIP() << "UBSan needs a descriptor for its vptr check";
  }
  const Descriptor input(dup(STDIN_FILENO));
  rlimit former = {};
  getrlimit(RLIMIT_NOFILE, &former);
  const rlimit few = {.rlim_cur = 40, .rlim_max = former.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  const Result<Descriptor> copy = DuplicateFrom(input, 40, "input");
  setrlimit(RLIMIT_NOFILE, &former);
  EXPECT_EQ(copy.status().ToString(),
            "IO_ERROR: input: dup: Too many open files (ulimit -n)");
}

}  // namespace
}  // namespace gauntlet
