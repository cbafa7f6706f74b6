// Parses the options of one command. Error messages state what was expected.
//
// CLI11 splits the arguments, matches options with their values and calls the
// readers. Flags adds one-line errors that state what was expected and what was
// found, and suggestions for mistyped names. It accepts old names and other
// tools' names, with a note. It also adds help pages for single groups, and
// rules for texts and paths. CLI11's validators (CLI::Range, CLI::IsMember) are
// not used, as their errors have another form. Its types and exceptions stay
// inside flags.cc.
#ifndef GAUNTLET_ENGINE_CLI_FLAGS_FLAGS_H_
#define GAUNTLET_ENGINE_CLI_FLAGS_FLAGS_H_

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/cli/flags/help_page.h"
#include "engine/cli/terminal/terminal_style.h"
#include "engine/status.h"
#include "engine/world/clock.h"

namespace gauntlet {

struct FlagSynonym;

struct FlagsHead {
  std::string command;  // "train"
  std::string summary;
  std::string examples;             // text at the end of the help page
  std::string usage = "[OPTIONS]";  // text after the command in the usage line
  // Advice at the end of the error about an unknown option or argument.
  std::string unknown_advice = "";
};

struct FlagText {
  std::string name;   // "--workers" or "-j,--jobs"
  std::string value;  // "N": the value's name in the help text
  std::string help;
  std::string old_name;  // accepted for one release, with a note; "": none
};

// The arguments after a command's name.
struct VerbArguments {
  std::span<const std::string> arguments;
  ColorChoice& color;               // written by --color
  std::vector<std::string>& notes;  // receives notes on old names and synonyms
};

struct PositionalCount {
  size_t least = 0;
  size_t most = 1;
};

// Reads a value's text; kInvalidArgument states what was expected.
using FlagReader = std::function<Status(const std::string&)>;

enum class FlagsOutcome : uint8_t { kParsed, kHelpWanted };

class Flags {
 public:
  // Adds --help, and --color, whose value is stored in `verb.color`.
  Flags(const FlagsHead& head, const VerbArguments& verb);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // Starts a group of the help page. Options added from now on belong to it.
  void Section(std::string title, GroupPage page = GroupPage::kFirst);
  // Adds `--name VALUE`, allowed once.
  void Value(const FlagText& text, FlagReader read);
  // Adds `--name VALUE`, allowed any number of times.
  void Values(const FlagText& text, std::vector<std::string>& values);
  void Switch(const FlagText& text, std::function<void()> set);
  // Adds arguments without a dash. Parse refuses more than `count.most`; the
  // command itself must refuse fewer than `count.least`. The usage line shows
  // whether the arguments are optional.
  void Positionals(const FlagText& text, const PositionalCount& count,
                   std::vector<std::string>& values);

  // kInvalidArgument, as one line: "unknown option '--worker'; did you mean
  // --workers?", "--workers: expected …, found …".
  Result<FlagsOutcome> Parse(std::span<const std::string> arguments);
  // Returns true iff the option with this long name was given.
  bool Given(const std::string& name) const;
  // Returns the help page, or only the group that --help=GROUP requests.
  std::string Help() const;

 private:
  struct Parser;
  Result<FlagsOutcome> ParseAll(std::span<const std::string> arguments);
  Status CheckHelpGroup();
  void AddName(const FlagText& text);
  bool HasOption(std::string_view name) const;
  const FlagSynonym* FindSynonym(std::string_view name) const;
  void Note(std::string note) const;
  // Returns the argument to parse instead of `argument`. Replaces an old name
  // or a synonym by our own name, and adds a note. For a synonym that is
  // dropped (SynonymUse::kDropped), adds a note and returns nullopt. Returns
  // any other argument unchanged. `value` is the next argument, or "" if that
  // is an option. kInvalidArgument: the synonym is refused, or it is dropped
  // but has a value.
  Result<std::optional<std::string>> WithOwnName(const std::string& argument,
                                                 std::string_view value) const;
  Result<std::vector<std::string>> WithOwnNames(
      std::span<const std::string> arguments) const;

  std::unique_ptr<Parser> parser_;
  std::vector<std::string>* notes_;
};

// Returns "; did you mean --workers?", with " or " between names that are
// equally similar; "" if no name is similar.
std::string DidYouMean(std::string_view mistyped,
                       const std::vector<std::string>& names);

// Returns "; did you mean planted-bugs?" for "bugs": the first name that
// contains `part`. Returns "" if there is none, or if `part` is shorter than
// three characters.
std::string DidYouMeanNameWith(std::string_view part,
                               const std::vector<std::string>& names);

// Returns "; did you mean data.yaml?" for a path that does not exist, with the
// similar names in its folder; "" if there are none.
std::string DidYouMeanFile(const std::string& path);

// Returns the text in quotes, for a message. Escapes control characters and
// invalid UTF-8, and cuts long text.
std::string Quoted(std::string_view text);

// Returns the error "expected …, found 'text'".
Status ExpectedValue(std::string_view expected, std::string_view found);

// Returns the error "expected one of a, b, found 'text'", with a suggestion if
// a name is similar and the text has more than three characters.
Status ExpectedOneOf(const std::vector<std::string>& names,
                     std::string_view found);

// Accepts any text that is not empty and does not look like an option.
Status CheckText(std::string_view text);
FlagReader ReadText(std::string& target);
FlagReader ReadText(std::optional<std::string>& target);

// Parses a whole number in decimal digits, in [low, high].
template <std::integral T>
Result<T> ParseWhole(const std::string& text, T low, T high) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && value >= low && value <= high) {
    return value;
  }
  return ExpectedValue("a whole number from " + std::to_string(low) + " to " +
                           std::to_string(high),
                       text);
}

// Returns a reader of a whole number in [low, high]. `Target` is an integer
// type or an optional of one.
template <typename Target, std::integral T>
FlagReader ReadWhole(Target& target, T low, T high) {
  return [&target, low, high](const std::string& text) -> Status {
    ASSIGN_OR_RETURN(target, ParseWhole<T>(text, low, high));
    return OkStatus();
  };
}

// Returns a reader of a time above 0, such as 60s.
FlagReader ReadTime(std::optional<Duration>& target);

template <typename T>
using NamedChoices = std::vector<std::pair<std::string, T>>;

// Returns a reader of one of the names; it stores the name's value in `target`.
// `Target` is T or an optional of T.
template <typename T, typename Target>
FlagReader ReadChoice(Target& target, NamedChoices<T> choices) {
  return [&target, choices](const std::string& text) -> Status {
    std::vector<std::string> names;
    for (const auto& [name, choice] : choices) {
      if (name == text) {
        target = choice;
        return OkStatus();
      }
      names.push_back(name);
    }
    return ExpectedOneOf(names, text);
  };
}
template <typename Target, typename T, size_t kCount>
FlagReader ReadChoice(
    Target& target,
    const std::array<std::pair<std::string_view, T>, kCount>& names) {
  return ReadChoice<T>(target, NamedChoices<T>(names.begin(), names.end()));
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_FLAGS_FLAGS_H_
