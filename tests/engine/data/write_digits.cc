// write_digits DIR SIDE TRAIN VALIDATION: writes the generated digits as the
// four files of MNIST, for programs other than this one.
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "engine/data/digits.h"
#include "tests/engine/data/data_files.h"

namespace gauntlet {
namespace {

void Write(const std::string& path, const std::string& head,
           const std::vector<uint8_t>& body) {
  std::ofstream out(path, std::ios::binary);
  out << head << std::string(body.begin(), body.end());
}

void WritePart(const std::string& stem, const DigitsSpec& spec) {
  const RawSamples raw = DrawDigits(spec);
  Write(stem + "-images-idx3-ubyte",
        BigEndian(0x803) + BigEndian(raw.samples) + BigEndian(raw.height) +
            BigEndian(raw.width),
        raw.pixels);
  Write(stem + "-labels-idx1-ubyte", BigEndian(0x801) + BigEndian(raw.samples),
        raw.labels);
}

int Main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: write_digits DIR SIDE TRAIN VALIDATION\n";
    return 2;
  }
  const std::string directory = argv[1];
  const auto number = [argv](int i) {
    return static_cast<uint32_t>(std::stoul(argv[i]));
  };
  WritePart(
      directory + "/train",
      {.split = DataPart::kTrain, .samples = number(3), .side = number(2)});
  WritePart(directory + "/t10k", {.split = DataPart::kValidation,
                                  .samples = number(4),
                                  .side = number(2)});
  return 0;
}

}  // namespace
}  // namespace gauntlet

int main(int argc, char** argv) { return gauntlet::Main(argc, argv); }
