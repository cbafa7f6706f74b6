// Runs every target on its seeds, its corpus, and simple mutations of both:
// truncated, with changed bytes, with repeated pieces. Runs in every build.
#include <algorithm>
#include <ostream>
#include <set>

#include <gtest/gtest.h>

#include "chaos/sim/scheduler/random_stream.h"
#include "tests/fuzz/fuzz_target.h"

namespace gauntlet {

void PrintTo(const FuzzTarget& target, std::ostream* out) {
  *out << target.name;
}

namespace {

class FuzzCorpus : public testing::TestWithParam<FuzzTarget> {
 protected:
  std::vector<FuzzInput> Inputs() const { return InputsOf(GetParam()); }
  void Run(const std::string& input) const { GetParam().run(input); }
};

TEST_P(FuzzCorpus, EveryInputKeepsItsPromises) {
  std::set<std::string> names;
  for (const FuzzInput& input : Inputs()) {
    SCOPED_TRACE(input.name);
    EXPECT_TRUE(names.insert(input.name).second);
    Run(input.bytes);
  }
  EXPECT_GE(names.size(), 1u);
}

TEST_P(FuzzCorpus, EveryCutKeepsItsPromises) {
  constexpr size_t kCuts = 100;  // per input, evenly spread
  for (const FuzzInput& input : Inputs()) {
    const size_t stride = input.bytes.size() / kCuts + 1;
    for (size_t size = 0; size < input.bytes.size(); size += stride) {
      Run(input.bytes.substr(0, size));
    }
  }
}

std::string Mutated(std::string bytes, RandomStream& stream) {
  const size_t edits = 1 + stream.Below(4);
  for (size_t i = 0; i < edits && !bytes.empty(); ++i) {
    const size_t at = stream.Below(bytes.size());
    const size_t length =
        1 + stream.Below(std::min<size_t>(bytes.size() - at, 32));
    switch (stream.Below(4)) {
      case 0:
        bytes[at] = static_cast<char>(stream.Below(256));
        break;
      case 1:
        bytes.erase(at, length);
        break;
      case 2:
        bytes.insert(at, bytes.substr(at, length));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << stream.Below(8)));
        break;
    }
  }
  return bytes;
}

TEST_P(FuzzCorpus, ChangedInputsKeepTheirPromises) {
  constexpr int kChanges = 200;  // in total
  RandomStream stream(1, GetParam().name);
  const std::vector<FuzzInput> inputs = Inputs();
  for (int i = 0; i < kChanges; ++i) {
    Run(Mutated(inputs[stream.Below(inputs.size())].bytes, stream));
  }
}

TEST_P(FuzzCorpus, DeepNestingKeepsItsPromises) {
  // Number of levels. A recursive reader would overflow a stack of 8 MiB.
  constexpr size_t kDepth = 300'000;
  for (const std::string_view opening : {"[", "{\"a\":", "- ", "(", "{a: "}) {
    std::string deep;
    for (size_t i = 0; i < kDepth; ++i) deep += opening;
    Run(deep);
    for (const FuzzInput& input : Inputs()) {
      // Inserts the nesting as the first value, and gives the old value the new
      // key "x".
      const size_t colon = input.bytes.find(':');
      if (colon == std::string::npos) continue;
      std::string nested = input.bytes;
      nested.insert(colon + 1, std::string(kDepth, '[') +
                                   std::string(kDepth, ']') + ",\"x\":");
      Run(nested);
      break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzCorpus,
                         testing::ValuesIn(AllFuzzTargets().begin(),
                                           AllFuzzTargets().end()),
                         [](const auto& instance) {
                           return std::string(instance.param.name);
                         });

}  // namespace
}  // namespace gauntlet
