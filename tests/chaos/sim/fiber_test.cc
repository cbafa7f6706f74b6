#include "chaos/sim/fiber.h"

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

}  // namespace
}  // namespace gauntlet
