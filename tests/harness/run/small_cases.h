// Cases of a job that takes a few milliseconds.
#ifndef GAUNTLET_TESTS_HARNESS_RUN_SMALL_CASES_H_
#define GAUNTLET_TESTS_HARNESS_RUN_SMALL_CASES_H_

#include <string>
#include <vector>

#include "engine/check.h"
#include "harness/scenario/scenario.h"
#include <fmt/format.h>

namespace gauntlet {

// Two workers, 6 steps per epoch, 12 in all, a save every 4. `rest` completes
// the scenario: faults, expect …
inline std::string SmallScenario(const std::string& rest,
                                 const std::string& name = "c") {
  return "schema: gauntlet/v2\nname: " + name + R"(
preset: tiny
job:
  data: {kind: digits, samples: 96, validation_samples: 32, side: 7}
  batch: 4
  replicas: 4
  epochs: 2
cluster: {workers: 2}
checkpoint: {every: {steps: 4}, keep: 2}
)" + rest;
}

// Returns the case of SmallScenario, with seed 7.
inline Case SmallCase(const std::string& rest, const std::string& name = "c") {
  const std::string text = SmallScenario("seed: 7\n" + rest, name);
  const LoadedFile loaded = LoadScenarios(text, name + ".yaml");
  CHECK(loaded.errors.empty(), RenderErrors(loaded, name + ".yaml", text));
  return loaded.cases.at(0);
}

// Two workers and few steps, with a save every `every` steps: small enough to
// examine everything that the run writes to a disk.
inline std::string SaveScenario(int every) {
  return fmt::format(R"(schema: gauntlet/v2
name: save
preset: tiny
job:
  data: {{kind: digits, samples: 32, validation_samples: 16, side: 7}}
  batch: 4
  epochs: 3
cluster:
  workers: 2
  restart: {{policy: whole-job, max: 5, backoff: 50ms}}
checkpoint: {{every: {{steps: {}}}, keep: 2}}
expect: {{outcome: completes}}
)",
                     every);
}

inline Case SaveCase(int every) {
  return LoadScenarios(SaveScenario(every), "save.yaml").cases.at(0);
}

inline Case CleanCase(const std::string& name = "c") {
  return SmallCase("expect: {outcome: completes}\n", name);
}

inline Case CrashCase(const std::string& name = "c") {
  return SmallCase(R"(faults:
  - id: crash
    at: {worker: 1, step: 6, point: step.begin}
    do: crash
expect: {outcome: recovers, restarts: {exactly: 1}, resumed_from: {step: 4}}
)",
                   name);
}

// Returns an inconclusive case: its crash never fires.
inline Case IdleCase(const std::string& name = "c") {
  return SmallCase(R"(faults:
  - id: crash
    at: {worker: 1, point: ckpt.load, occurrence: 1, incarnation: any}
    do: crash
expect: {outcome: completes}
)",
                   name);
}

// Returns a case that fails: one expectation is not met.
inline Case WrongCase(const std::string& name = "c") {
  return SmallCase("expect: {outcome: completes, exit_code: 3}\n", name);
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_RUN_SMALL_CASES_H_
