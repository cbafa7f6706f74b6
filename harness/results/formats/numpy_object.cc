#include "harness/results/formats/numpy_object.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/utf8.h"

namespace gauntlet {
namespace {

// An array, as described by its pickle.
struct PickledArray {
  ElementType type;
  std::vector<uint64_t> shape;
  bool is_column_major = false;
  std::string bytes;
};

// Reads the calls by which NumPy pickles arrays.
class NumpyPickle {
 public:
  explicit NumpyPickle(const Pickle& pickle) : pickle_(pickle) {}

  std::optional<PickledArray> Find(const PickleValue& object) const {
    if (object.kind != PickleKind::kCall) return std::nullopt;
    const std::string& callee = pickle_[object.items[0]].text;
    if (!callee.starts_with("numpy")) return std::nullopt;
    if (callee.ends_with(".multiarray _reconstruct")) return ArrayOf(object);
    if (callee.ends_with(".multiarray scalar")) return ScalarOf(object);
    return std::nullopt;
  }

 private:
  const std::vector<PickleId>& ItemsOf(PickleId id) const {
    return pickle_[id].items;
  }

  // Reads an array's state: version, shape, type, True for column-major order,
  // bytes.
  std::optional<PickledArray> ArrayOf(const PickleValue& object) const {
    if (object.states.size() != 1) return std::nullopt;
    const std::vector<PickleId>& state = ItemsOf(object.states[0]);
    if (state.size() != 5) return std::nullopt;
    const auto type = TypeOf(pickle_[state[2]]);
    auto bytes = BytesOf(pickle_[state[4]]);
    if (!type || !bytes) return std::nullopt;
    PickledArray array{.type = *type,
                       .shape = {},
                       .is_column_major = pickle_[state[3]].integer != 0,
                       .bytes = *std::move(bytes)};
    for (const PickleId id : ItemsOf(state[1])) {
      if (pickle_[id].kind != PickleKind::kInteger || pickle_[id].integer < 0)
        return std::nullopt;
      array.shape.push_back(static_cast<uint64_t>(pickle_[id].integer));
    }
    return array;
  }

  std::optional<PickledArray> ScalarOf(const PickleValue& object) const {
    const std::vector<PickleId>& arguments = ItemsOf(object.items[1]);
    if (arguments.size() != 2) return std::nullopt;
    const auto type = TypeOf(pickle_[arguments[0]]);
    auto bytes = BytesOf(pickle_[arguments[1]]);
    if (!type || !bytes) return std::nullopt;
    return PickledArray{.type = *type, .shape = {}, .bytes = *std::move(bytes)};
  }

  // Reads a type: numpy.dtype("f8", …), with "<" in its state.
  std::optional<ElementType> TypeOf(const PickleValue& object) const {
    if (object.kind != PickleKind::kCall ||
        pickle_[object.items[0]].text != "numpy dtype" ||
        object.states.size() != 1) {
      return std::nullopt;
    }
    const std::vector<PickleId>& arguments = ItemsOf(object.items[1]);
    const std::vector<PickleId>& state = ItemsOf(object.states[0]);
    if (arguments.empty() || state.size() < 5) return std::nullopt;
    // In a structured type, this entry has the names of the fields. Such types
    // are not supported.
    if (pickle_[state[3]].kind != PickleKind::kNone) return std::nullopt;
    return FindNumpyType(pickle_[state[1]].text + pickle_[arguments[0]].text);
  }

  std::optional<std::string> BytesOf(const PickleValue& value) const {
    if (value.kind != PickleKind::kBytes) return std::nullopt;
    return value.text;
  }

  const Pickle& pickle_;
};

}  // namespace

std::optional<ElementType> FindNumpyType(std::string_view text) {
  if (text.size() < 3 || text[1] == 'O') return std::nullopt;
  const char order = text[0];
  const char letter = text[1];
  uint32_t bytes = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 2, end, bytes);
  if (error != std::errc() || bytes > kMaxNumpyElement) return std::nullopt;
  // For dates, the unit follows the size.
  const bool has_unit =
      stop != end && (letter == 'M' || letter == 'm') && *stop == '[';
  if (stop != end && !has_unit) return std::nullopt;
  constexpr std::array<std::pair<char, std::string_view>, 5> kLetters = {
      {{'f', "float"},
       {'i', "int"},
       {'u', "uint"},
       {'c', "complex"},
       {'b', "bool"}}};
  const auto* const found = std::ranges::find(
      kLetters, letter, [](const auto& one) { return one.first; });
  std::optional<ElementType> type;
  if (found != kLetters.end()) {
    std::string name(found->second);
    if (letter != 'b') name += std::to_string(8 * bytes);
    type = FindElementType(name);
    if (type && type->bytes != bytes) return std::nullopt;
  }
  if (letter == 'U') bytes *= 4;
  if (!type) {
    if (bytes == 0) return std::nullopt;
    return OpaqueType(EscapeBytes(text), bytes);
  }
  return order == '>' ? BigEndian(*type) : *type;
}

Result<bool> AddNumpyObject(const std::string& name, const Pickle& pickle,
                            const PickleValue& object, TensorList& list) {
  std::optional<PickledArray> array = NumpyPickle(pickle).Find(object);
  if (!array) return false;
  ASSIGN_OR_RETURN(const uint64_t size,
                   ByteCount(array->shape, array->type.bytes));
  if (size != array->bytes.size()) return false;
  RETURN_IF_ERROR(list.ClaimMemory(size));
  const StridedArray place{.element_bytes = array->type.bytes,
                           .shape = array->shape,
                           .strides = array->is_column_major
                                          ? ColumnMajorStrides(array->shape)
                                          : RowMajorStrides(array->shape)};
  ASSIGN_OR_RETURN(Bytes bytes,
                   RowMajor(BytesOfText(std::move(array->bytes)), place));
  RETURN_IF_ERROR(list.Add({.name = name,
                            .type = std::move(array->type),
                            .shape = std::move(array->shape),
                            .bytes = std::move(bytes)}));
  return true;
}

}  // namespace gauntlet
