// A reader of untrusted bytes, as a fuzzer drives it.
//
// A target is a function that takes any bytes, passes them to the reader, and
// stops the program (CHECK) if the reader breaks a promise. The reader must
// return. Its errors must be one clear line. Input that it accepts must be the
// same after it is written and read again. A target keeps no state between
// calls.
#ifndef GAUNTLET_TESTS_FUZZ_FUZZ_TARGET_H_
#define GAUNTLET_TESTS_FUZZ_FUZZ_TARGET_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

struct FuzzTarget {
  std::string_view name;  // also names its folder in corpus/
  void (*run)(std::string_view input);
  // Returns valid inputs of the current formats, made by their writers.
  std::vector<std::string> (*seeds)();
  std::string_view dictionary;  // a file in dictionaries/; "" for none
};

std::span<const FuzzTarget> AllFuzzTargets();
// Returns null if there is no target of that name.
const FuzzTarget* FindFuzzTarget(std::string_view name);

struct FuzzInput {
  std::string name;  // name of its file, or "seed-3"
  std::string bytes;
};
// Returns the target's seeds and the files of its folder in the corpus. Files
// whose name ends in .hex hold hex digits, separated by line ends.
std::vector<FuzzInput> InputsOf(const FuzzTarget& target);

// CHECKs that the message is not empty, not too long, and one line that is safe
// to print.
void CheckErrorLine(std::string_view message);
// CHECKs that the texts are equal; `what` names them.
void CheckSameText(std::string_view first, std::string_view second,
                   std::string_view what);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_FUZZ_FUZZ_TARGET_H_
