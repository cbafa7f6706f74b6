// Result files as training programs write them, as bytes.
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

// Returns a safetensors file: the length of the JSON header, the header, the
// data.
std::string Safetensors(std::string_view header, std::string_view data);
// Returns a file with one float32 tensor `fc.weight`.
std::string SafetensorsOf(const std::vector<float>& values,
                          std::string_view shape);

struct ZipMember {
  std::string name;
  std::string bytes;
  bool is_deflated = false;
};
// Returns a zip archive. `time` is that of all members, in MS-DOS format.
std::string Zip(const std::vector<ZipMember>& members, uint32_t time = 0);

// Each function returns opcodes, as torch.save writes them in a pickle, that
// produce the value. Items, callees and arguments are opcodes too.
namespace pickle {
std::string Text(std::string_view text);
std::string Integer(int32_t value);
std::string Float(double value);
std::string Tuple(const std::vector<std::string>& items);
std::string List(const std::vector<std::string>& items);
// `items` alternates keys and values.
std::string Dict(const std::vector<std::string>& items);
std::string Global(std::string_view module, std::string_view name);
std::string Call(std::string_view callee, std::string_view arguments);
std::string Whole(std::string_view value);  // adds PROTO and STOP
}  // namespace pickle

struct TorchTensor {
  std::string storage_class = "FloatStorage";
  std::string key = "0";
  int elements = 0;  // in the storage
  int offset = 0;
  std::vector<int> shape;
  std::vector<int> strides;
};
std::string PickledTensor(const TorchTensor& tensor);

// Returns an archive of torch.save: its pickle, and storages under the keys
// "0", "1".
std::string TorchFile(std::string_view value,
                      const std::vector<std::string>& storages,
                      std::string_view directory = "archive");

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_RESULTS_RESULT_FILES_H_
