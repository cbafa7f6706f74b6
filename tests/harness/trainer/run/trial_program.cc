// The command `trial` without the rest of gauntlet.
#include <string>

#include "harness/trainer/run/trial_run.h"

int main(int argc, char** argv) {
  return argc == 3 ? gauntlet::RunTrialProcess(std::string(argv[2])) : 2;
}
