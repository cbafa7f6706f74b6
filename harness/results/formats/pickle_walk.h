// Values of a pickled object, named by their places in the object.
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_PICKLE_WALK_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_PICKLE_WALK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/results/formats/pickle.h"
#include "harness/results/tensor_list.h"

namespace gauntlet {

class PickleWalk;

// Objects that a framework's pickles have in addition to those of Python and
// NumPy.
class PickledObjects {
 public:
  virtual ~PickledObjects() = default;
  // Adds the values of an object; false if the object is unknown.
  virtual Result<bool> Add(const std::string& name, const PickleValue& object,
                           PickleWalk& walk) = 0;
};

// Adds the values of a pickle to a list. Numbers of one type in a Python list
// become one array. Of an unknown object, adds the callee, the arguments and
// the state.
class PickleWalk {
 public:
  // All arguments must outlive this object. Visits at most `visits` values, as
  // a few bytes can refer to one value along 2^30 paths.
  PickleWalk(const Pickle& pickle, uint64_t visits, PickledObjects& objects,
             TensorList& list)
      : pickle_(pickle), visits_left_(visits), objects_(objects), list_(list) {}

  // kDataLoss: too many visits, or too deep nesting.
  Status AddValue(const std::string& name, PickleId id);

 private:
  Status AddAnyValue(const std::string& name, const PickleValue& value);
  Status AddItems(const std::string& name, const PickleValue& value);
  Status AddNumbers(const std::string& name, const std::vector<PickleId>& items,
                    PickleKind kind);
  // Adds the values of a set in sorted order, because their order in the pickle
  // depends on hashes.
  Status AddSet(const std::string& name, const PickleValue& value);
  Status AddDict(const std::string& name, const PickleValue& value);
  // Adds the attributes and items that an object received after it was created.
  Status AddStates(const std::string& name, const PickleValue& value);
  Status AddObject(const std::string& name, const PickleValue& object);
  std::string NameOfPair(const std::string& name, const PickleValue& key) const;

  const Pickle& pickle_;
  uint64_t visits_left_;
  PickledObjects& objects_;
  TensorList& list_;
  int depth_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_PICKLE_WALK_H_
