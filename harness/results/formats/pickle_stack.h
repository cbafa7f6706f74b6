// The bytes, stack and memo of a pickle that is read; the opcodes are in
// pickle.cc.
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

// Operations return false if they cannot be done; error() then says why.
class PickleStack {
 public:
  explicit PickleStack(std::string_view bytes) : bytes_(bytes) {}

  size_t offset() const { return at_; }
  size_t values() const { return pickle_.values.size(); }
  const char* error() const { return error_; }
  bool Fail(const char* reason);
  // Checks that one value is left, which is the pickle's.
  bool Finish();
  Pickle Take();

  // Next bytes of the pickle; nullopt: they end. A number is little-endian.
  std::optional<uint64_t> TakeNumber(size_t bytes);
  // Bytes behind their count, which takes so many bytes itself.
  std::optional<std::string_view> TakeCounted(size_t count_bytes);
  std::optional<std::string_view> TakeLine();

  bool Push(PickleValue value);
  bool PushText(PickleKind kind, std::optional<std::string_view> text);
  bool PushInteger(int64_t value);
  bool PushUnsigned(size_t bytes);
  bool PushBool(bool value);
  bool PushFloat();
  // Digits of an integer in two's complement, little-endian.
  bool PushLong(std::optional<std::string_view> digits);
  bool PushGlobal(std::optional<std::string_view> module,
                  std::optional<std::string_view> name);
  bool PushStackGlobal();
  // A container of the last values, or of those above the mark.
  bool PushItems(PickleKind kind, size_t count);
  bool PushToMark(PickleKind kind);

  bool Mark();
  bool Drop();
  bool Duplicate();
  std::optional<std::vector<PickleId>> PopToMark();
  // The last values; nullopt: there is none below them.
  std::optional<std::vector<PickleId>> PopItems(size_t count);

  bool Put(std::optional<uint64_t> key);
  bool Memoize();
  bool Get(std::optional<uint64_t> key);

  // Replaces a callee and its arguments by the call. An OrderedDict becomes a
  // dict, and bytes become bytes, which protocol 2 encodes as Latin-1; all
  // other callees stay names.
  bool Call();
  bool CallWithKeywords();
  bool Build();
  // Puts items into the container on top of the stack. An object, whose class
  // is not known, gets them as a state of that kind.
  bool Extend(PickleKind kind, std::optional<std::vector<PickleId>> items);

 private:
  PickleId Add(PickleValue value);
  PickleId Pop();
  // Bytes of _codecs.encode(text, "latin1").
  std::optional<std::string> BytesOfCall(PickleId callee,
                                         PickleId arguments) const;
  // Values above the last mark.
  size_t Above() const;

  const std::string_view bytes_;
  size_t at_ = 0;
  Pickle pickle_;
  std::vector<PickleId> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::map<uint64_t, PickleId> memo_;
  size_t copied_ = 0;  // bytes, by calls
  const char* error_ = "";
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_PICKLE_STACK_H_
