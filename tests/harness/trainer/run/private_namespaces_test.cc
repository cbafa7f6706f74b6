// Errors on systems that do not permit namespaces.
#include "harness/trainer/run/private_namespaces.h"

#include <algorithm>
#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/posix/descriptor.h"
#include "harness/run/files/temporary_directory.h"
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gauntlet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Returns the message of RunInNamespaces in a chroot of that directory; "" if
// no chroot is permitted here.
std::string MessageInChroot(const std::string& directory) {
  std::array<int, 2> ends = {};
  EXPECT_EQ(pipe(ends.data()), 0);
  const Descriptor message(ends[0]);
  Descriptor writer(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    const bool is_inside = (unshare(CLONE_NEWNS) == 0 ||
                            unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
                           chroot(directory.c_str()) == 0 && chdir("/") == 0;
    if (!is_inside) _exit(0);
    const Result<int> code =
        RunInNamespaces({}, NetworkAccess::kShared, [] { return 0; });
    const std::string text = code.ok() ? "it ran" : code.status().message();
    _exit(write(writer.get(), text.data(), text.size()) < 0 ? 1 : 0);
  }
  writer.Reset();
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  std::array<char, 1024> text = {};
  const ssize_t size = read(message.get(), text.data(), text.size());
  return {text.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

TEST(PrivateNamespacesTest, ChrootThatIsNoMountPoint_IsNamedWithTheRemedy) {
  const auto folder = TemporaryDirectory::Make("chroot-test");
  ASSERT_TRUE(folder.ok()) << folder.status().ToString();
  const std::string message = MessageInChroot((*folder)->path());
  if (message.empty()) GTEST_SKIP() << "no chroot is permitted here";
  EXPECT_THAT(message,
              AllOf(HasSubstr("/ is the directory of a chroot and not "
                              "a mount point"),
                    HasSubstr("(EINVAL;"), HasSubstr("mount --bind DIR DIR"),
                    Not(HasSubstr("not permitted"))));
}

}  // namespace
}  // namespace gauntlet
