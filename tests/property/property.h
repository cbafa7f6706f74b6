// Properties whose counterexamples are files.
//
// A property is about values that have a text form. CheckProperty first tries
// its checked-in counterexamples, counterexamples/<name>/*. Then it tries
// values that RapidCheck generates (RC_PARAMS="max_success=100000 seed=7" for
// more). The simplest value that fails is written to a file. The test's message
// has the commands that try this file again and keep it.
#ifndef GAUNTLET_TESTS_PROPERTY_PROPERTY_H_
#define GAUNTLET_TESTS_PROPERTY_PROPERTY_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/status.h"

namespace gauntlet {

template <typename T>
struct Property {
  std::string_view name;  // also the folder of its counterexamples
  rc::Gen<T> any;
  std::function<std::string(const T&)> to_text;
  std::function<Result<T>(std::string_view)> from_text;
  // Returns the error in the value; "" if the property holds.
  std::function<std::string(const T&)> wrong;
};

// Sets a thousand cases, unless RC_PARAMS is set.
void ChooseNumberOfCases();

struct Counterexample {
  std::string path;
  std::string text;
};
// Returns the checked-in counterexamples, by name. If the variable
// GAUNTLET_COUNTEREXAMPLE names a file, returns only that file, and only if it
// is in the property's folder.
std::vector<Counterexample> CounterexamplesOf(std::string_view property);
// Returns true iff GAUNTLET_COUNTEREXAMPLE is set. Then no values are
// generated.
bool OnlyOneIsTried();
// Writes a new counterexample to a file next to the test program. Returns the
// message for users.
std::string KeepCounterexample(std::string_view property,
                               const std::string& text);

template <typename T>
void ReplayCounterexamples(const Property<T>& property) {
  const std::vector<Counterexample> all = CounterexamplesOf(property.name);
  if (OnlyOneIsTried() && all.empty()) {
    GTEST_SKIP() << "the counterexample is of another property";
  }
  for (const Counterexample& kept : all) {
    const Result<T> value = property.from_text(kept.text);
    ASSERT_TRUE(value.ok()) << kept.path << ": " << value.status().ToString();
    EXPECT_EQ(property.wrong(*value), "") << kept.path;
  }
}

template <typename T>
void CheckProperty(const Property<T>& property) {
  ReplayCounterexamples(property);
  if (OnlyOneIsTried()) return;
  ChooseNumberOfCases();
  // RapidCheck continues from each simpler value that fails, so the last value
  // that fails is the simplest.
  std::optional<T> failed;
  const bool holds = rc::check(std::string(property.name), [&] {
    const T value = *property.any;
    const std::string wrong = property.wrong(value);
    if (wrong.empty()) return;
    failed = value;
    RC_FAIL(wrong);
  });
  if (holds) return;
  ASSERT_TRUE(failed) << "RapidCheck gave up: too few values fit";
  FAIL() << property.wrong(*failed) << "\n"
         << KeepCounterexample(property.name, property.to_text(*failed));
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_PROPERTY_PROPERTY_H_
