// The command kRunVerb without the rest of gauntlet.
#include <string>

#include "harness/trainer/run/run_main.h"

int main(int argc, char** argv) {
  return argc == 3 ? gauntlet::TrainerRunMain(std::string(argv[2])) : 2;
}
