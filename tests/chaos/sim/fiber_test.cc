#include "chaos/sim/fiber.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

struct Script {
  FiberContext* context = nullptr;
  std::vector<std::string> log;
};

TEST(FiberTest, AlternatesWithItsCaller) {
  FiberPool pool;
  Script script{.context = nullptr, .log = {}};
  auto context = pool.Take();
  script.context = context.get();
  context->Begin(
      [](void* argument) {
        auto& s = *static_cast<Script*>(argument);
        s.log.push_back("fiber 1");
        s.context->Suspend();
        s.log.push_back("fiber 2");
      },
      &script);
  EXPECT_TRUE(context->Resume());
  script.log.push_back("caller");
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log,
            (std::vector<std::string>{"fiber 1", "caller", "fiber 2"}));
}

TEST(FiberTest, AStackServesManyBodies) {
  FiberPool pool;
  int runs = 0;
  for (int i = 0; i < 100; ++i) {
    auto context = pool.Take();
    context->Begin([](void* argument) { ++*static_cast<int*>(argument); },
                   &runs);
    EXPECT_FALSE(context->Resume());
    pool.Put(std::move(context));
  }
  EXPECT_EQ(runs, 100);
}

void SuspendInCatch(void* argument) {
  auto& s = *static_cast<Script*>(argument);
  try {
    throw std::runtime_error(s.log.back());
  } catch (const std::runtime_error&) {
    s.context->Suspend();
    try {
      throw;
    } catch (const std::runtime_error& again) {
      s.log.push_back(std::string("caught ") + again.what());
    }
  }
}

TEST(FiberTest, ExceptionsInFlightBelongToTheirFiber) {
  FiberPool pool;
  Script one{.context = nullptr, .log = {"one"}};
  Script two{.context = nullptr, .log = {"two"}};
  auto first = pool.Take();
  auto second = pool.Take();
  one.context = first.get();
  two.context = second.get();
  first->Begin(SuspendInCatch, &one);
  second->Begin(SuspendInCatch, &two);
  EXPECT_TRUE(first->Resume());
  EXPECT_TRUE(second->Resume());
  EXPECT_FALSE(first->Resume());
  EXPECT_FALSE(second->Resume());
  EXPECT_EQ(one.log.back(), "caught one");
  EXPECT_EQ(two.log.back(), "caught two");
}

// Says that it goes.
struct Witness {
  Script& script;
  std::string name;
  ~Witness() { script.log.push_back(name); }
};

// Each frame holds a witness; the last one is abandoned.
void Descend(Script& script, int depth) {
  const Witness witness{script, std::to_string(depth)};
  if (depth < 3) {
    Descend(script, depth + 1);
    script.log.push_back("came back");
  }
  script.context->Suspend();
  if (depth == 3) script.context->Abandon();
}

TEST(FiberTest, AnAbandonedBodyIsDestroyedFromTheTopOfItsStack) {
  FiberPool pool;
  Script script{.context = nullptr, .log = {}};
  auto context = pool.Take();
  script.context = context.get();
  for (int round = 0; round < 100; ++round) {
    script.log.clear();
    context->Begin(
        [](void* argument) { Descend(*static_cast<Script*>(argument), 1); },
        &script);
    EXPECT_TRUE(context->Resume());
    EXPECT_TRUE(script.log.empty());
    EXPECT_FALSE(context->Resume());
    EXPECT_EQ(script.log, (std::vector<std::string>{"3", "2", "1"}));
  }
  pool.Put(std::move(context));
}

void AbandonInCatch(void* argument) {
  auto& s = *static_cast<Script*>(argument);
  try {
    const Witness outer{s, "outer"};
    try {
      throw std::runtime_error("one");
    } catch (const std::runtime_error&) {
      const Witness inner{s, "inner"};
      s.context->Suspend();
      s.context->Abandon();
    }
  } catch (const std::runtime_error&) {
    s.log.push_back("took it for an exception");
  } catch (...) {
    s.log.push_back("passed through");
    throw;
  }
}

TEST(FiberTest, AnAbandonedBodyMayHaveAnExceptionInFlight) {
  FiberPool pool;
  Script script{.context = nullptr, .log = {}};
  auto context = pool.Take();
  script.context = context.get();
  context->Begin(AbandonInCatch, &script);
  EXPECT_TRUE(context->Resume());
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log,
            (std::vector<std::string>{"inner", "outer", "passed through"}));
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  // What runs there next finds none of it.
  context->Begin(
      [](void* argument) {
        static_cast<Script*>(argument)->log.push_back(
            std::to_string(std::uncaught_exceptions()));
      },
      &script);
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log.back(), "0");
  script.log = {"again"};
  context->Begin(SuspendInCatch, &script);
  EXPECT_TRUE(context->Resume());
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log.back(), "caught again");
}

}  // namespace
}  // namespace gauntlet
