// Writes JSON piece by piece and never changes the bytes of a piece: for
// formats in which every byte except the values is fixed.
#ifndef GAUNTLET_ENGINE_JOB_JSON_TEXT_H_
#define GAUNTLET_ENGINE_JOB_JSON_TEXT_H_

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace gauntlet {

class JsonText {
 public:
  JsonText& Raw(std::string_view text) {
    text_ += text;
    return *this;
  }
  // Appends the text in quotes, escaped where necessary.
  JsonText& String(std::string_view text);
  // As String, for text that needs no escapes.
  JsonText& PlainString(std::string_view text) {
    text_ += '"';
    text_ += text;
    text_ += '"';
    return *this;
  }
  JsonText& Number(std::integral auto number) {
    return Raw(std::to_string(number));
  }

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_JOB_JSON_TEXT_H_
