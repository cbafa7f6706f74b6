// NumPy's element types, and NumPy arrays in pickles.
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_NUMPY_OBJECT_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_NUMPY_OBJECT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "harness/results/element_type.h"
#include "harness/results/formats/pickle.h"
#include "harness/results/tensor_list.h"

namespace gauntlet {

// Maximum bytes of an element.
inline constexpr uint32_t kMaxNumpyElement = uint32_t{64} << 10;

// Returns the element type of "<f4", "|u1", ">i8", "<U10" or "<M8[ns]"; nullopt
// for objects, structured types and anything else.
std::optional<ElementType> FindNumpyType(std::string_view text);

// Adds a pickled array or scalar of NumPy; false if the object is neither.
Result<bool> AddNumpyObject(const std::string& name, const Pickle& pickle,
                            const PickleValue& object, TensorList& list);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_NUMPY_OBJECT_H_
