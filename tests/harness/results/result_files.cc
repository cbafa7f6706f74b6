#include "tests/harness/results/result_files.h"

#include <bit>

#include "engine/check.h"
#include "tests/engine/data/data_files.h"
#include <fmt/format.h>
#include <zlib.h>

namespace gauntlet {
std::string Safetensors(std::string_view header, std::string_view data) {
  return LittleEndian(header.size(), 8) + std::string(header) +
         std::string(data);
}

std::string SafetensorsOf(const std::vector<float>& values,
                          std::string_view shape) {
  return Safetensors(
      fmt::format(R"({{"__metadata__":{{"at":"12:00"}},"fc.weight":)"
                  R"({{"dtype":"F32","shape":{},"data_offsets":[0,{}]}}}})",
                  shape, 4 * values.size()),
      BytesOf(values));
}

}  // namespace gauntlet
