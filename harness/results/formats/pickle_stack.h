// The bytes, stack and memo of a pickle while it is read. pickle.cc has the
// opcodes.
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_PICKLE_STACK_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_PICKLE_STACK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/results/formats/pickle.h"

namespace gauntlet {

// Operations return false on failure; error() then has the reason.
class PickleStack {
 public:
  explicit PickleStack(std::string_view bytes) : bytes_(bytes) {}

  size_t offset() const { return at_; }
  size_t values() const { return pickle_.values.size(); }
  const char* error() const { return error_; }
  bool Fail(const char* reason);
  // Checks that exactly one value is left: the result of the pickle.
  bool Finish();
  Pickle Take();

  // Takes the next bytes of the pickle; nullopt if there are too few. Numbers
  // are little-endian.
  std::optional<uint64_t> TakeNumber(size_t bytes);
  // Takes bytes that follow their count, which has `count_bytes` bytes.
  std::optional<std::string_view> TakeCounted(size_t count_bytes);
  std::optional<std::string_view> TakeLine();

  bool Push(PickleValue value);
  bool PushText(PickleKind kind, std::optional<std::string_view> text);
  bool PushInteger(int64_t value);
  bool PushUnsigned(size_t bytes);
  bool PushBool(bool value);
  bool PushFloat();
  // Pushes an integer: its digits in two's complement, little-endian.
  bool PushLong(std::optional<std::string_view> digits);
  bool PushGlobal(std::optional<std::string_view> module,
                  std::optional<std::string_view> name);
  bool PushStackGlobal();
  // Replace the last `count` values, or those above the mark, by a container of
  // them.
  bool PushItems(PickleKind kind, size_t count);
  bool PushToMark(PickleKind kind);

  bool Mark();
  bool Drop();
  bool Duplicate();
  std::optional<std::vector<PickleId>> PopToMark();
  // Pops the last values; nullopt if there are too few above the mark.
  std::optional<std::vector<PickleId>> PopItems(size_t count);

  bool Put(std::optional<uint64_t> key);
  bool Memoize();
  bool Get(std::optional<uint64_t> key);

  // Pops a callee and its arguments, and pushes the result of the call. Only
  // two calls are executed: OrderedDict() pushes an empty dict, and
  // _codecs.encode(text, "latin1"), by which protocol 2 stores bytes, pushes
  // the bytes. Any other call pushes a kCall value.
  bool Call();
  bool CallWithKeywords();
  bool Build();
  // Puts items into the container on top of the stack. An object of an unknown
  // class gets the items as a state of kind `kind`.
  bool Extend(PickleKind kind, std::optional<std::vector<PickleId>> items);

 private:
  PickleId Add(PickleValue value);
  PickleId Pop();
  // Returns the bytes of _codecs.encode(text, "latin1").
  std::optional<std::string> BytesOfCall(PickleId callee,
                                         PickleId arguments) const;
  // Returns the number of values above the last mark.
  size_t Above() const;

  const std::string_view bytes_;
  size_t at_ = 0;
  Pickle pickle_;
  std::vector<PickleId> stack_;
  std::vector<size_t> marks_;  // height of the stack at each mark
  std::map<uint64_t, PickleId> memo_;
  size_t copied_ = 0;  // bytes that calls have copied
  const char* error_ = "";
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_PICKLE_STACK_H_
