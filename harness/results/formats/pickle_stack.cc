#include "harness/results/formats/pickle_stack.h"

#include <bit>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr const char* kBytesEnd = "the bytes end";
constexpr size_t kMaxName = 1000;
// Executed calls may copy as many bytes as the pickle has, plus this number.
constexpr size_t kMaxCopied = size_t{64} << 20;
constexpr const char* kTooShort = "the stack is too short";

// Converts UTF-8 to Latin-1, one byte per character; nullopt if a character is
// above U+00FF. In UTF-8, U+0080 to U+00FF are two bytes, of which the first is
// 0xc2 or 0xc3.
std::optional<std::string> Latin1Of(std::string_view utf8) {
  std::string bytes;
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<uint8_t>(utf8[i]);
    if (byte < 0x80) {
      bytes.push_back(utf8[i]);
      continue;
    }
    if ((byte != 0xc2 && byte != 0xc3) || i + 1 == utf8.size())
      return std::nullopt;
    const auto next = static_cast<uint8_t>(utf8[++i]);
    bytes.push_back(static_cast<char>((byte & 3) << 6 | (next & 0x3f)));
  }
  return bytes;
}

}  // namespace

bool PickleStack::Fail(const char* reason) {
  error_ = reason;
  return false;
}

bool PickleStack::Finish() {
  if (stack_.size() != 1 || !marks_.empty())
    return Fail("the stack has other than one value");
  pickle_.root = stack_.back();
  return true;
}

Pickle PickleStack::Take() { return std::move(pickle_); }

bool PickleStack::Mark() {
  marks_.push_back(stack_.size());
  return true;
}

bool PickleStack::Drop() {
  if (Above() > 0) {
    Pop();
    return true;
  }
  if (marks_.empty()) return Fail(kTooShort);
  marks_.pop_back();
  return true;
}

bool PickleStack::Duplicate() {
  if (Above() == 0) return Fail(kTooShort);
  stack_.push_back(stack_.back());
  return true;
}

std::optional<uint64_t> PickleStack::TakeNumber(size_t bytes) {
  if (bytes_.size() - at_ < bytes) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;)
    value = value << 8 | static_cast<uint8_t>(bytes_[at_ + i]);
  at_ += bytes;
  return value;
}

std::optional<std::string_view> PickleStack::TakeCounted(size_t count_bytes) {
  const std::optional<uint64_t> count = TakeNumber(count_bytes);
  if (!count || *count > bytes_.size() - at_) return std::nullopt;
  const std::string_view taken = bytes_.substr(at_, *count);
  at_ += *count;
  return taken;
}

std::optional<std::string_view> PickleStack::TakeLine() {
  const size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

bool PickleStack::Push(PickleValue value) {
  pickle_.values.push_back(std::move(value));
  stack_.push_back(static_cast<PickleId>(pickle_.values.size() - 1));
  return true;
}

PickleId PickleStack::Add(PickleValue value) {
  pickle_.values.push_back(std::move(value));
  return static_cast<PickleId>(pickle_.values.size() - 1);
}

size_t PickleStack::Above() const {
  return stack_.size() - (marks_.empty() ? 0 : marks_.back());
}

PickleId PickleStack::Pop() {
  const PickleId id = stack_.back();
  stack_.pop_back();
  return id;
}

std::optional<std::vector<PickleId>> PickleStack::PopToMark() {
  if (marks_.empty()) return std::nullopt;
  const auto begin = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
  std::vector<PickleId> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

bool PickleStack::PushItems(PickleKind kind, size_t count) {
  if (Above() < count) return Fail(kTooShort);
  std::vector<PickleId> items(stack_.end() - static_cast<ptrdiff_t>(count),
                              stack_.end());
  stack_.resize(stack_.size() - count);
  return Push({.kind = kind, .text = {}, .items = std::move(items)});
}

bool PickleStack::PushToMark(PickleKind kind) {
  auto items = PopToMark();
  if (!items) return Fail("no mark");
  if (kind == PickleKind::kDict && items->size() % 2 != 0)
    return Fail("a key without a value");
  return Push({.kind = kind, .text = {}, .items = *std::move(items)});
}

bool PickleStack::PushText(PickleKind kind,
                           std::optional<std::string_view> text) {
  if (!text) return Fail(kBytesEnd);
  return Push({.kind = kind, .text = std::string(*text), .items = {}});
}

bool PickleStack::PushInteger(int64_t value) {
  return Push({.kind = PickleKind::kInteger,
               .integer = value,
               .text = {},
               .items = {}});
}

bool PickleStack::PushUnsigned(size_t bytes) {
  const auto value = TakeNumber(bytes);
  if (!value) return Fail(kBytesEnd);
  return PushInteger(static_cast<int64_t>(*value));
}

bool PickleStack::PushBool(bool value) {
  return Push({.kind = PickleKind::kBool,
               .integer = value ? 1 : 0,
               .text = {},
               .items = {}});
}

bool PickleStack::PushFloat() {
  const auto bits = TakeNumber(8);
  if (!bits) return Fail(kBytesEnd);
  return Push({.kind = PickleKind::kFloat,
               .number = std::bit_cast<double>(__builtin_bswap64(*bits)),
               .text = {},
               .items = {}});
}

bool PickleStack::PushLong(std::optional<std::string_view> digits) {
  if (!digits) return Fail(kBytesEnd);
  if (digits->size() <= sizeof(int64_t)) {
    const bool is_negative =
        !digits->empty() && static_cast<uint8_t>(digits->back()) >= 0x80;
    uint64_t value = is_negative ? ~uint64_t{0} : 0;
    for (size_t i = digits->size(); i-- > 0;)
      value = value << 8 | static_cast<uint8_t>((*digits)[i]);
    return PushInteger(static_cast<int64_t>(value));
  }
  std::string text = "0x";
  for (size_t i = digits->size(); i-- > 0;)
    text += fmt::format("{:02x}", static_cast<uint8_t>((*digits)[i]));
  return PushText(PickleKind::kBigInteger, text);
}

bool PickleStack::PushGlobal(std::optional<std::string_view> module,
                             std::optional<std::string_view> name) {
  if (!module || !name) return Fail(kBytesEnd);
  // Limits the length: the memo can supply one text many times.
  if (module->size() > kMaxName || name->size() > kMaxName)
    return Fail("a global of a long name");
  return PushText(PickleKind::kGlobal, fmt::format("{} {}", *module, *name));
}

bool PickleStack::PushStackGlobal() {
  if (Above() < 2) return Fail(kTooShort);
  const PickleId name = Pop();
  const PickleId module = Pop();
  return PushGlobal(pickle_[module].text, pickle_[name].text);
}

bool PickleStack::Memoize() { return Put(memo_.size()); }

bool PickleStack::Put(std::optional<uint64_t> key) {
  if (!key) return Fail(kBytesEnd);
  if (Above() == 0) return Fail(kTooShort);
  memo_[*key] = stack_.back();
  return true;
}

bool PickleStack::Get(std::optional<uint64_t> key) {
  const auto found = key ? memo_.find(*key) : memo_.end();
  if (found == memo_.end()) return Fail("no such memo");
  stack_.push_back(found->second);
  return true;
}

bool PickleStack::Call() {
  if (Above() < 2) return Fail(kTooShort);
  const PickleId arguments = Pop();
  const PickleId callee = Pop();
  if (pickle_[callee].text == "collections OrderedDict" &&
      pickle_[arguments].kind == PickleKind::kTuple &&
      pickle_[arguments].items.empty()) {
    return PushItems(PickleKind::kDict, 0);
  }
  if (const auto bytes = BytesOfCall(callee, arguments)) {
    copied_ += bytes->size();
    if (copied_ > bytes_.size() + kMaxCopied) return Fail("too many bytes");
    return PushText(PickleKind::kBytes, *bytes);
  }
  return Push(
      {.kind = PickleKind::kCall, .text = {}, .items = {callee, arguments}});
}

std::optional<std::string> PickleStack::BytesOfCall(PickleId callee,
                                                    PickleId arguments) const {
  const std::vector<PickleId>& items = pickle_[arguments].items;
  if (pickle_[callee].text != "_codecs encode" || items.size() != 2 ||
      pickle_[items[1]].text != "latin1") {
    return std::nullopt;
  }
  return Latin1Of(pickle_[items[0]].text);
}

bool PickleStack::CallWithKeywords() {
  if (Above() < 3) return Fail(kTooShort);
  const PickleId keywords = Pop();
  if (!Call()) return false;
  pickle_.values[stack_.back()].states.push_back(keywords);
  return true;
}

bool PickleStack::Build() {
  if (Above() < 2) return Fail(kTooShort);
  const PickleId state = Pop();
  pickle_.values[stack_.back()].states.push_back(state);
  return true;
}

bool PickleStack::Extend(PickleKind kind,
                         std::optional<std::vector<PickleId>> items) {
  if (!items) return Fail("no mark");
  if (Above() == 0) return Fail(kTooShort);
  if (kind == PickleKind::kDict && items->size() % 2 != 0)
    return Fail("a key without a value");
  const PickleId target = stack_.back();
  std::vector<PickleId>* into = &pickle_.values[target].items;
  if (pickle_[target].kind == PickleKind::kCall) {
    const std::vector<PickleId>& states = pickle_[target].states;
    if (states.empty() || pickle_[states.back()].kind != kind) {
      const PickleId added = Add({.kind = kind, .text = {}, .items = {}});
      pickle_.values[target].states.push_back(added);
    }
    into = &pickle_.values[pickle_[target].states.back()].items;
  } else if (pickle_[target].kind != kind) {
    return Fail("items for a value that takes none");
  }
  into->insert(into->end(), items->begin(), items->end());
  return true;
}

std::optional<std::vector<PickleId>> PickleStack::PopItems(size_t count) {
  if (Above() < count + 1) return std::nullopt;
  std::vector<PickleId> items(stack_.end() - static_cast<ptrdiff_t>(count),
                              stack_.end());
  stack_.resize(stack_.size() - count);
  return items;
}

}  // namespace gauntlet
