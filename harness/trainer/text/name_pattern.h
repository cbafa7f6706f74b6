// Names and messages with the parts that change from one run or step to the
// next replaced, so that findings of one cause look alike.
#ifndef GAUNTLET_HARNESS_TRAINER_TEXT_NAME_PATTERN_H_
#define GAUNTLET_HARNESS_TRAINER_TEXT_NAME_PATTERN_H_

#include <string>
#include <string_view>

namespace gauntlet {

// A pattern of fnmatch(3) that matches this name only.
std::string ExactPattern(std::string_view name);

// "ckpt-20/model.pt" -> "ckpt-*/model.pt"; "tmp8f3a_1k2" -> "tmp*": numbers,
// and words that mix letters and digits, are "*". What is left is a pattern of
// fnmatch(3), whose special characters in the name are escaped.
std::string NamePattern(std::string_view path);

// "json.decoder.JSONDecodeError" of "json.decoder.JSONDecodeError: Expecting
// value": the class of a Python exception. Empty: the line is none.
std::string ExceptionClass(std::string_view line);

// A message without numbers and paths: "[Errno 2] No such file: '/a/b'" ->
// "[Errno #] No such file: '<path>'".
std::string MessagePattern(std::string_view message);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_TEXT_NAME_PATTERN_H_
