// Pinned counts of the record mutation test: {caught, tried} of each
// group of mutations, by harmless fault, over the scenarios below.
//
// The test fails if a cell gets worse. `record_mutations --pinned` prints the
// rows anew.
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
    "smoke/backup-is-deleted-at-the-end.yaml",
    "smoke/chief-dies-before-the-acknowledgement.yaml",
    "smoke/crash-before-the-rename.yaml",
    "smoke/crash-while-rejecting-after-nan.yaml",
    "smoke/falls-back-to-the-last-finite-checkpoint.yaml",
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
    {"loss noticed late", {{{17, 20}, {17, 20}, {17, 20}, {17, 20}, {17, 20}, {17, 20}, {17, 20}}}},
    {"notice unheeded", {{{25, 25}, {25, 25}, {25, 25}, {25, 25}, {25, 25}, {25, 25}, {25, 25}}}},
    {"exit added", {{{85, 90}, {85, 90}, {85, 90}, {85, 90}, {85, 90}, {85, 90}, {85, 90}}}},
    {"tail cut", {{{29, 29}, {29, 29}, {29, 29}, {29, 29}, {29, 29}, {29, 29}, {29, 29}}}},
    {"stale resume", {{{8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}}}},
    {"cold start", {{{22, 22}, {22, 22}, {22, 22}, {22, 22}, {22, 22}, {22, 22}, {22, 22}}}},
    {"false rejection", {{{8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}, {8, 8}}}},
    {"save added", {{{3, 30}, {3, 30}, {3, 30}, {3, 30}, {3, 30}, {3, 30}, {3, 30}}}},
    {"sample twice", {{{28, 30}, {28, 30}, {28, 30}, {28, 30}, {28, 30}, {28, 30}, {28, 30}}}},
    {"workers exchanged", {{{28, 30}, {28, 30}, {28, 30}, {28, 30}, {28, 30}, {28, 30}, {28, 30}}}},
    {"event dropped", {{{201, 449}, {204, 451}, {204, 451}, {204, 451}, {204, 451}, {204, 451}, {204, 451}}}},
    {"event twice", {{{92, 455}, {92, 457}, {92, 457}, {92, 457}, {92, 457}, {92, 457}, {92, 457}}}},
    {"all late", {{{435, 459}, {436, 460}, {436, 460}, {436, 460}, {437, 461}, {437, 461}, {437, 461}}}},
    {"one late", {{{459, 459}, {461, 461}, {461, 461}, {461, 461}, {461, 461}, {461, 461}, {461, 461}}}},
    {"events swapped", {{{18, 68}, {18, 68}, {18, 68}, {18, 68}, {5, 68}, {18, 68}, {19, 68}}}},
    {"digest", {{{227, 227}, {227, 227}, {227, 227}, {227, 227}, {227, 227}, {227, 227}, {227, 227}}}},
    {"loss", {{{90, 92}, {90, 92}, {90, 92}, {90, 92}, {90, 92}, {90, 92}, {90, 92}}}},
    {"step", {{{147, 280}, {147, 282}, {147, 282}, {147, 282}, {147, 282}, {147, 282}, {147, 282}}}},
    {"epoch", {{{90, 175}, {90, 177}, {90, 177}, {90, 177}, {90, 177}, {90, 177}, {90, 177}}}},
    {"position", {{{0, 55}, {0, 55}, {0, 55}, {0, 55}, {0, 55}, {0, 55}, {0, 55}}}},
    {"phase", {{{85, 99}, {85, 99}, {85, 99}, {85, 99}, {85, 99}, {85, 99}, {85, 99}}}},
    {"samples", {{{26, 30}, {26, 30}, {26, 30}, {26, 30}, {26, 30}, {26, 30}, {26, 30}}}},
    {"path", {{{0, 201}, {0, 203}, {0, 203}, {0, 203}, {0, 203}, {0, 203}, {0, 203}}}},
    {"generation", {{{48, 302}, {48, 302}, {48, 302}, {48, 302}, {48, 302}, {48, 302}, {48, 302}}}},
    {"count", {{{157, 212}, {157, 212}, {157, 212}, {157, 212}, {152, 212}, {157, 212}, {157, 212}}}},
    {"checkpoint missing", {{{30, 57}, {30, 57}, {30, 57}, {30, 57}, {30, 57}, {30, 57}, {30, 57}}}},
    {"directory changed", {{{82, 175}, {82, 175}, {82, 175}, {82, 175}, {82, 175}, {82, 175}, {82, 175}}}},
    {"launcher's account", {{{182, 255}, {182, 255}, {182, 255}, {182, 255}, {182, 255}, {182, 255}, {182, 255}}}},
    {"process left", {{{30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}, {30, 30}}}},
    {"no end", {{{60, 60}, {60, 60}, {60, 60}, {60, 60}, {60, 60}, {60, 60}, {60, 60}}}},
}};
// clang-format on

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_MUTATION_PINNED_CELLS_H_
