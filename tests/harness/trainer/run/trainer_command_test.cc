#include "harness/trainer/run/trainer_command.h"

#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(TrainerCommandTest, PlacesAreFilledWhereverTheyStand) {
  EXPECT_THAT(FillPlaces({"train", "--out={out}/a", "{port}", "{out}:{out}"},
                         {.out = "/o", .port = "7"}),
              ElementsAre("train", "--out=/o/a", "7", "/o:/o"));
  // Replaced text is not replaced again.
  EXPECT_EQ(FillPlaces("{out}", {.out = "/{out}/x", .port = ""}), "/{out}/x");
}

TEST(TrainerCommandTest, CommandNeedsProgramAndOut) {
  EXPECT_TRUE(CheckTrainerCommand({"train", "{out}"}).ok());
  EXPECT_THAT(CheckTrainerCommand({}).message(),
              HasSubstr("expected a command after --"));
  EXPECT_THAT(CheckTrainerCommand({"train", "a b"}).message(),
              HasSubstr("expected {out} in the command, where it takes the "
                        "directory that it writes to: found none in: train "
                        "'a b'"));
}

TEST(TrainerCommandTest, EnvironmentTakesChangesOnce) {
  setenv("GAUNTLET_TRAINER_TEST", "old", 1);
  const auto environment = EnvironmentWith({"GAUNTLET_TRAINER_TEST=new"});
  EXPECT_THAT(environment, Contains("GAUNTLET_TRAINER_TEST=new"));
  EXPECT_THAT(environment, Not(Contains("GAUNTLET_TRAINER_TEST=old")));
  EXPECT_THAT(environment, Contains(HasSubstr("PATH=")));
}

TEST(ArgumentsOfShellCommandTest, PlainCallOfPythonNeedsNoShell) {
  EXPECT_THAT(
      ArgumentsOfShellCommand("python3 -B train.py  --out {out} --resume"),
      testing::ElementsAre("python3", "-B", "train.py", "--out", "{out}",
                           "--resume"));
  for (const std::string command :
       {"python3 train.py $HOME", "python3 'a b'", "./train {out}",
        "A=1 python3 train.py", "python3 train.py > log", "cd {out}"}) {
    EXPECT_THAT(ArgumentsOfShellCommand(command),
                testing::ElementsAre("/bin/sh", "-c", command));
  }
}

}  // namespace
}  // namespace gauntlet
