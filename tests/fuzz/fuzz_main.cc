// The libFuzzer program of all targets; --target=NAME selects one.
//
//   gauntlet_fuzz --list                                targets, dictionaries
//   gauntlet_fuzz --target=manifest --write-seeds=DIR   writes its inputs
//   gauntlet_fuzz --target=manifest [libFuzzer's flags] DIR
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"

namespace {

// A global, because libFuzzer's entry points take no argument of ours.
const gauntlet::FuzzTarget* target = nullptr;

std::string_view Flag(int argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(name)) return argument.substr(name.size());
  }
  return {};
}

[[noreturn]] void WriteSeeds(const std::string& directory) {
  for (const gauntlet::FuzzInput& input : gauntlet::InputsOf(*target)) {
    std::ofstream out(directory + "/" + input.name, std::ios::binary);
    out << input.bytes;
    out.close();
    if (!out.good()) {
      std::fprintf(stderr, "%s: cannot be written\n", directory.c_str());
      std::exit(2);
    }
  }
  std::exit(0);
}

[[noreturn]] void List() {
  for (const gauntlet::FuzzTarget& known : gauntlet::AllFuzzTargets()) {
    std::printf("%s %s\n", known.name.data(), known.dictionary.data());
  }
  std::exit(0);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc == 2 && std::string_view((*argv)[1]) == "--list") List();
  target = gauntlet::FindFuzzTarget(Flag(*argc, *argv, "--target="));
  if (target == nullptr) {
    std::fprintf(stderr, "expected --target= and one of --list\n");
    std::exit(2);
  }
  const std::string_view seeds = Flag(*argc, *argv, "--write-seeds=");
  if (!seeds.empty()) WriteSeeds(std::string(seeds));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
