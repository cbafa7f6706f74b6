#include "harness/trainer/text/name_pattern.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace gauntlet {
namespace {

bool IsDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool IsWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool IsHexDigit(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}
bool IsLower(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}
bool IsUpper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}

// Texts of a UUID, with x for a hexadecimal digit.
constexpr std::array<std::string_view, 2> kUuids = {
    "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};

// Returns the length of the UUID that the text begins with; 0: none.
size_t UuidLength(std::string_view text) {
  for (const std::string_view uuid : kUuids) {
    const bool is_uuid =
        text.size() >= uuid.size() &&
        std::equal(uuid.begin(), uuid.end(), text.begin(), [](char x, char c) {
          return x == '-' ? c == '-' : IsHexDigit(c);
        });
    const bool ends = text.size() == uuid.size() ||
                      (is_uuid && !IsWordPart(text[uuid.size()]));
    if (is_uuid && ends) return uuid.size();
  }
  return 0;
}

bool EndsInUuid(std::string_view text) {
  return std::ranges::any_of(kUuids, [&](std::string_view uuid) {
    return text.size() >= uuid.size() &&
           UuidLength(text.substr(text.size() - uuid.size())) == uuid.size();
  });
}

// Returns true iff the text has a letter after a digit, or an upper-case letter
// after a lower-case one. Ordinary words have neither, even with a number at
// the end.
bool LooksRandom(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    const char before = text[i - 1];
    if (IsDigit(before) && IsWordPart(text[i]) && !IsDigit(text[i]))
      return true;
    if (IsLower(before) && IsUpper(text[i])) return true;
  }
  return false;
}

// Random end of the names that a function such as mkstemp(3) makes: its length,
// and the characters that it may have.
struct RandomEnd {
  size_t length;
  bool (*is_part)(char c);
};
constexpr std::array<RandomEnd, 2> kRandomEnds = {
    RandomEnd{8, [](char c) { return IsDigit(c) || IsLower(c) || c == '_'; }},
    RandomEnd{6, IsWordPart}};  // Python's tempfile; mkstemp

// Returns the number of random characters that the text ends with.
size_t RandomLength(std::string_view text) {
  constexpr std::string_view kDefaultPrefix = "tmp";
  if (EndsInUuid(text)) return 0;
  const auto fits = [&](const RandomEnd& end) {
    return text.size() >= end.length &&
           std::ranges::all_of(text.substr(text.size() - end.length),
                               end.is_part);
  };
  for (const RandomEnd& end : kRandomEnds) {
    if (fits(end) && text.size() == kDefaultPrefix.size() + end.length &&
        text.starts_with(kDefaultPrefix)) {
      return end.length;
    }
  }
  for (const RandomEnd& end : kRandomEnds) {
    if (fits(end) && LooksRandom(text.substr(text.size() - end.length)))
      return end.length;
  }
  return 0;
}

}  // namespace

std::string ExactPattern(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos)
      pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string NamePattern(std::string_view path) {
  std::string pattern;
  for (size_t i = 0; i < path.size();) {
    if (!IsWordPart(path[i])) {
      pattern += ExactPattern(path.substr(i++, 1));
      continue;
    }
    if (const size_t uuid = UuidLength(path.substr(i)); uuid > 0) {
      pattern += '*';
      i += uuid;
      continue;
    }
    size_t end = i;
    size_t digit = std::string_view::npos;
    for (; end < path.size() && IsWordPart(path[end]); ++end) {
      if (IsDigit(path[end]) && digit == std::string_view::npos) digit = end;
    }
    // Keeps the letters before the first digit: "step20" becomes "step*".
    pattern +=
        path.substr(i, (digit == std::string_view::npos ? end : digit) - i);
    if (digit != std::string_view::npos) pattern += '*';
    i = end;
  }
  return pattern;
}

std::string TemporaryNamePattern(std::string_view name) {
  std::string numbered;
  while (true) {
    const size_t dot = name.find('.');
    const std::string_view part = name.substr(0, dot);
    const size_t random = RandomLength(part);
    numbered += part.substr(0, part.size() - random);
    // Puts a digit in place of the random characters. NamePattern then replaces
    // the digit by "*".
    if (random > 0) numbered += '0';
    if (dot == std::string_view::npos) return NamePattern(numbered);
    numbered += '.';
    name.remove_prefix(dot + 1);
  }
}

std::string ExceptionClass(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(": "));
  const bool is_name = std::ranges::all_of(
      name, [](char c) { return IsWordPart(c) || c == '.' || c == '_'; });
  const bool is_exception = name.ends_with("Error") ||
                            name.ends_with("Exception") ||
                            name.ends_with("Interrupt");
  return is_name && is_exception ? std::string(name) : "";
}

namespace {

bool IsDigitAt(std::string_view text, size_t i) {
  return i < text.size() && IsDigit(text[i]);
}

// Returns the index after the number that begins with the digit at `i`. Letters
// of numbers such as "0x1f" and "1.5e-07" belong to it.
size_t EndOfNumber(std::string_view text, size_t i) {
  for (; i < text.size(); ++i) {
    const char before = text[i - 1];
    const bool has_exponent_sign =
        (text[i] == '-' || text[i] == '+') && (before == 'e' || before == 'E');
    const bool continues =
        (text[i] == '.' || has_exponent_sign) && IsDigitAt(text, i + 1);
    if (!IsWordPart(text[i]) && !continues) break;
  }
  return i;
}

}  // namespace

std::string MessagePattern(std::string_view message) {
  std::string pattern;
  for (size_t i = 0; i < message.size();) {
    if (message[i] == '/') {
      while (i < message.size() &&
             (IsWordPart(message[i]) ||
              std::string_view("/._-{}").find(message[i]) !=
                  std::string_view::npos)) {
        ++i;
      }
      pattern += "<path>";
    } else if (IsDigit(message[i])) {
      i = EndOfNumber(message, i + 1);
      pattern += '#';
    } else if (message[i] == '-' && IsDigitAt(message, i + 1) &&
               (i == 0 || !IsWordPart(message[i - 1]))) {
      ++i;  // the sign of a number
    } else {
      pattern += message[i++];
    }
  }
  return pattern;
}

}  // namespace gauntlet
