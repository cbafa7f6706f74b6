// Replaces the variable parts of names and messages, so that findings with the
// same cause look alike.
#ifndef GAUNTLET_HARNESS_TRAINER_TEXT_NAME_PATTERN_H_
#define GAUNTLET_HARNESS_TRAINER_TEXT_NAME_PATTERN_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns a pattern of fnmatch(3) that matches only this name.
std::string ExactPattern(std::string_view name);

// Returns a pattern of fnmatch(3) in which "*" replaces numbers, UUIDs, and
// each word with digits from its first digit on: "ckpt-20/model.pt" ->
// "ckpt-*/model.pt"; "tmp8f3a_1k2" -> "tmp*_*". Escapes the pattern's special
// characters in the rest.
std::string NamePattern(std::string_view path);

// Returns the NamePattern of a temporary file's name, without "/", in which "*"
// also replaces random characters: ".tmpdNQpis" -> ".tmp*". Random characters
// can be the last 8 (Python's tempfile) or the last 6 (mkstemp(3)) of a name,
// or of a part that ends before a ".". They count as random if they follow the
// prefix "tmp", or if they have a letter after a digit or a capital after a
// small letter.
std::string TemporaryNamePattern(std::string_view name);

// Returns the class of a Python exception, "json.decoder.JSONDecodeError" for
// "json.decoder.JSONDecodeError: Expecting value"; "" if the line is no
// exception.
std::string ExceptionClass(std::string_view line);

// Returns the message without numbers and paths: "[Errno 2] No such file:
// '/a/b'" -> "[Errno #] No such file: '<path>'". A number includes its sign,
// fraction and exponent: "loss -1.5e-07" -> "loss #".
std::string MessagePattern(std::string_view message);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_TEXT_NAME_PATTERN_H_
