// `gauntlet doctor`: features of this machine, and what is skipped without
// them.
#ifndef GAUNTLET_HARNESS_CLI_HELP_DOCTOR_H_
#define GAUNTLET_HARNESS_CLI_HELP_DOCTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"

namespace gauntlet {

// kMissing: some features are skipped; kBroken: Gauntlet cannot work here.
enum class Health : uint8_t { kGood, kMissing, kBroken };

struct Probe {
  std::string name;  // "cpu", "disk"
  Health health = Health::kGood;
  std::string found;        // "8 cores, avx2, fma"
  std::string consequence;  // of the state found; empty: none
};

Probe ProbeCpu();
// Creates, syncs and removes small files in the current directory.
Probe ProbeDisk();
// Connects to this process over 127.0.0.1.
Probe ProbeLoopback();
Probe ProbeFaultLibrary();
// Probes the driver, the library next to the program, NCCL, and the devices
// that they provide.
std::vector<Probe> ProbeCuda();

std::string RenderProbes(const std::vector<Probe>& probes,
                         const TerminalStyle& style);
std::string ProbesToJson(const std::vector<Probe>& probes);

// Returns the exit code: 1 if something is broken, else 0.
int RunDoctor(const DoctorCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_HELP_DOCTOR_H_
