// One reader of outside bytes, as a fuzzer drives it.
//
// A target is a function that takes any bytes and stops the program (CHECK) if
// what the reader promises does not hold: that it comes back at all, that an
// error is one clear line, and that what it accepts can be written and read
// again without a change. It keeps nothing between calls.
#ifndef GAUNTLET_TESTS_FUZZ_FUZZ_TARGET_H_
#define GAUNTLET_TESTS_FUZZ_FUZZ_TARGET_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

struct FuzzTarget {
  std::string_view name;  // also of its folder in corpus/
  void (*run)(std::string_view input);
  // Sound inputs of the present formats, made by their writers.
  std::vector<std::string> (*seeds)();
  std::string_view dictionary;  // a file in dictionaries/; "" for none
};

std::span<const FuzzTarget> AllFuzzTargets();
// Null if there is none of that name.
const FuzzTarget* FindFuzzTarget(std::string_view name);

struct FuzzInput {
  std::string name;  // its file's, or "seed-3"
  std::string bytes;
};
// The target's seeds and the files of its folder in the corpus: those whose
// name ends in .hex hold hex digits, line ends between them.
std::vector<FuzzInput> InputsOf(const FuzzTarget& target);

// CHECKs that it is not empty, not long, and on one line that is safe to print.
void CheckErrorLine(std::string_view message);
// CHECKs that they are equal; `what` names them.
void CheckSameText(std::string_view first, std::string_view second,
                   std::string_view what);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_FUZZ_FUZZ_TARGET_H_
