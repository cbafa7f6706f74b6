#include "harness/trainer/trainer_command.h"

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
  // Filled-in text is not filled again.
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

}  // namespace
}  // namespace gauntlet
