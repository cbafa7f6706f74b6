#include "harness/trainer/python/python_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using Words = std::vector<std::string>;

struct ParseCase {
  Words command;
  Words flags;
  std::string kind;
  std::string target;
  Words arguments;
};

TEST(PythonCommandTest, FindsProgramBehindFlags) {
  const std::vector<ParseCase> cases = {
      {{"python", "a.py", "-m", "x"}, {}, "script", "a.py", {"-m", "x"}},
      {{"/v/bin/python3.11", "-uB", "a.py"}, {"-uB"}, "script", "a.py", {}},
      {{"python3", "-m", "a.b", "-c"}, {}, "module", "a.b", {"-c"}},
      {{"python3", "-Wd", "-X", "dev", "-um", "a"},
       {"-W", "d", "-X", "dev", "-u"},
       "module",
       "a",
       {}},
      {{"python3", "-IW", "error", "-cpass", "b"},
       {"-IW", "error"},
       "code",
       "pass",
       {"b"}},
      {{"python3", "--check-hash-based-pycs", "never", "a.py"},
       {"--check-hash-based-pycs", "never"},
       "script",
       "a.py",
       {}},
  };
  for (const ParseCase& one : cases) {
    const auto parsed = ParsePythonCommand(one.command);
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    EXPECT_EQ(parsed->interpreter, one.command.front());
    EXPECT_EQ(parsed->flags, one.flags);
    EXPECT_EQ(parsed->kind, one.kind);
    EXPECT_EQ(parsed->target, one.target);
    EXPECT_EQ(parsed->arguments, one.arguments);
  }
}

TEST(PythonCommandTest, RefusesUnsupportedCommands) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{}, "not a Python command"},
      {{"torchrun", "a.py"}, "not a Python command"},
      {{"/bin/pythonic", "a.py"}, "not a Python command"},
      {{"python3"}, "Python has no program to run"},
      {{"python3", "-u"}, "Python has no program to run"},
      {{"python3", "-i", "a.py"}, "Python's -i is not supported"},
      {{"python3", "-"}, "Python's - is not supported"},
      {{"python3", "--version"}, "Python's --version is not supported"},
      {{"python3", "-m"}, "Python's -m is not supported"},
  };
  for (const auto& [command, reason] : cases) {
    const auto parsed = ParsePythonCommand(command);
    EXPECT_EQ(parsed.status().code(), Code::kFailedPrecondition);
    EXPECT_EQ(parsed.status().message(), reason);
  }
}

}  // namespace
}  // namespace gauntlet
