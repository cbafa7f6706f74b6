// Result files as training programs write them, in bytes.
#ifndef GAUNTLET_TESTS_HARNESS_RESULTS_RESULT_FILES_H_
#define GAUNTLET_TESTS_HARNESS_RESULTS_RESULT_FILES_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace gauntlet {

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// The header in JSON, with its length, and the data.
std::string Safetensors(std::string_view header, std::string_view data);
// One float32 tensor `fc.weight`.
std::string SafetensorsOf(const std::vector<float>& values,
                          std::string_view shape);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_RESULTS_RESULT_FILES_H_
