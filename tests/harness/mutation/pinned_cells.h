// Pinned counts of the record mutation test over the scenarios below: {caught,
// tried}, with a row for each group of mutations and a column for each harmless
// fault (harmless_fault.h) that the records have.
//
// The test fails if a cell gets worse. `record_mutations --pinned` prints the
// current rows.
#ifndef GAUNTLET_TESTS_HARNESS_MUTATION_PINNED_CELLS_H_
#define GAUNTLET_TESTS_HARNESS_MUTATION_PINNED_CELLS_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace gauntlet {

struct PinnedCell {
  uint64_t caught = 0;
  uint64_t tried = 0;
};

struct PinnedRow {
  std::string_view group;
  std::array<PinnedCell, 7> cells;  // by harmless fault
};

inline constexpr std::array<std::string_view, 30> kPinnedScenarios = {
    "smoke/clean-run.yaml",
    "smoke/bit-flip-at-rest.yaml",
    "smoke/worker-hangs.yaml",
    "smoke/worker-dies-in-the-all-reduce.yaml",
    "smoke/preemption-of-one-worker.yaml",
    "checkpoint/backup-is-deleted-at-the-end.yaml",
    "checkpoint/chief-dies-before-the-acknowledgement.yaml",
    "checkpoint/crash-before-the-rename.yaml",
    "finite/crash-while-rejecting-after-nan.yaml",
    "finite/falls-back-to-the-last-finite-checkpoint.yaml",
    "smoke/uneven-hosting.yaml",
    "async/rejoin-beside-a-save.yaml",
    "async/slow-disk-makes-the-next-save-wait.yaml",
    "collective/worker-dies-between-devices.yaml",
    "elastic/worker-rejoins.yaml",
    "elastic/dies-again-as-it-rejoins.yaml",
    "elastic/two-three-two-workers.yaml",
    "gpu/device-fails-in-a-step.yaml",
    "gpu/device-hangs.yaml",
    "network/worker-is-cut-off-in-a-step.yaml",
    "network/late-commit-is-never-read.yaml",
    "network/claim-after-the-successors.yaml",
    "network/cut-healed-in-time.yaml",
    "preemption/notice-in-a-save.yaml",
    "preemption/notices-again-and-again.yaml",
    "regressions/rejected-and-then-gone.yaml",
    "regressions/two-saves-of-one-step.yaml",
    "storage/full-disk-slow-storage.yaml",
    "storage/full-disk-makes-room.yaml",
    "storage/power-cut-after-a-save.yaml",
};

// clang-format off
inline constexpr std::array<PinnedRow, 32> kPinnedCells = {{
    {"unexplained death", {{{9, 9}, {9, 9}, {9, 9}, {9, 9}, {9, 9}, {9, 9}, {9, 9}}}},
    {"unexplained loss", {{{4, 4}, {4, 4}, {4, 4}, {4, 4}, {4, 4}, {4, 4}, {4, 4}}}},
    {"loss noticed late", {{{20, 20}, {20, 20}, {20, 20}, {20, 20}, {20, 20}, {20, 20}, {20, 20}}}},
    {"notice unheeded", {{{25, 25}, {25, 25}, {25, 25}, {25, 25}, {25, 25}, {25, 25}, {25, 25}}}},
    {"exit added", {{{89, 90}, {89, 90}, {89, 90}, {89, 90}, {89, 90}, {89, 90}, {89, 90}}}},
    {"tail cut", {{{29, 29}, {29, 29}, {29, 29}, {29, 29}, {29, 29}, {29, 29}, {29, 29}}}},
    {"stale resume", {{{9, 9}, {9, 9}, {9, 9}, {9, 9}, {9, 9}, {9, 9}, {9, 9}}}},
    {"cold start", {{{22, 22}, {22, 22}, {22, 22}, {22, 22}, {22, 22}, {22, 22}, {22, 22}}}},
    {"false rejection", {{{9, 9}, {9, 9}, {9, 9}, {9, 9}, {9, 9}, {9, 9}, {9, 9}}}},
    {"save added", {{{30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}}}},
    {"sample twice", {{{30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}}}},
    {"workers exchanged", {{{30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}}}},
    {"event dropped", {{{491, 506}, {494, 508}, {494, 508}, {494, 508}, {494, 508}, {494, 508}, {494, 508}}}},
    {"event twice", {{{533, 535}, {535, 537}, {535, 537}, {535, 537}, {535, 537}, {535, 537}, {535, 537}}}},
    {"all late", {{{543, 543}, {544, 544}, {544, 544}, {544, 544}, {545, 545}, {545, 545}, {545, 545}}}},
    {"one late", {{{543, 543}, {545, 545}, {545, 545}, {545, 545}, {545, 545}, {545, 545}, {545, 545}}}},
    {"events swapped", {{{45, 51}, {44, 51}, {44, 51}, {44, 51}, {45, 51}, {45, 51}, {46, 51}}}},
    {"digest", {{{251, 251}, {251, 251}, {251, 251}, {251, 251}, {251, 251}, {251, 251}, {251, 251}}}},
    {"loss", {{{92, 92}, {92, 92}, {92, 92}, {92, 92}, {92, 92}, {92, 92}, {92, 92}}}},
    {"step", {{{270, 270}, {275, 275}, {275, 275}, {275, 275}, {275, 275}, {275, 275}, {275, 275}}}},
    {"epoch", {{{153, 153}, {153, 153}, {153, 153}, {153, 153}, {153, 153}, {153, 153}, {153, 153}}}},
    {"position", {{{55, 55}, {55, 55}, {55, 55}, {55, 55}, {55, 55}, {55, 55}, {55, 55}}}},
    {"phase", {{{99, 99}, {99, 99}, {99, 99}, {99, 99}, {99, 99}, {99, 99}, {99, 99}}}},
    {"samples", {{{30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}}}},
    {"path", {{{230, 230}, {232, 232}, {232, 232}, {232, 232}, {232, 232}, {232, 232}, {232, 232}}}},
    {"generation", {{{319, 320}, {319, 320}, {319, 320}, {319, 320}, {319, 320}, {319, 320}, {319, 320}}}},
    {"count", {{{240, 240}, {240, 240}, {240, 240}, {240, 240}, {240, 240}, {240, 240}, {240, 240}}}},
    {"checkpoint missing", {{{57, 57}, {57, 57}, {57, 57}, {57, 57}, {57, 57}, {57, 57}, {57, 57}}}},
    {"directory changed", {{{175, 175}, {175, 175}, {175, 175}, {175, 175}, {175, 175}, {175, 175}, {175, 175}}}},
    {"launcher's account", {{{252, 255}, {252, 255}, {252, 255}, {252, 255}, {252, 255}, {252, 255}, {252, 255}}}},
    {"process left", {{{30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}}}},
    {"no end", {{{60, 60}, {60, 60}, {60, 60}, {60, 60}, {60, 60}, {60, 60}, {60, 60}}}},
}};
// clang-format on

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_PINNED_CELLS_H_
