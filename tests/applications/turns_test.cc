// SPDX-License-Identifier: Apache-2.0
// Threads that work in turns.
#include <applications/base/turns.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace leopard
{
  namespace
  {
    void sleep(double milliseconds)
    {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
    }
  } // namespace

  TEST(Turns, OneWorksAtATimeAndOthersWhereItIsTheirTurn)
  {
    std::atomic<int>  working{0}, beside{0}, most_beside{0};
    std::vector<bool> has_run(6, false);
    in_turns(6, [&](int i) {
      EXPECT_TRUE(takes_turns());
      has_run[i] = true;
      for (int round = 0; round < 5; ++round)
        {
          EXPECT_EQ(++working, 1);
          sleep(0.5);
          --working;
          const TurnOfOthers turn;
          const int          now = ++beside;
          for (int before = most_beside; before < now && !most_beside.compare_exchange_weak(before, now);)
            ;
          sleep(2.);
          --beside;
        }
    });
    EXPECT_EQ(has_run, std::vector<bool>(6, true));
    EXPECT_GT(most_beside, 1);
    EXPECT_FALSE(takes_turns());
  }

  TEST(Turns, WhoCameFirstIsNext)
  {
    std::vector<int> order;
    in_turns(4, [&](int i) {
      for (int round = 0; round < 5; ++round)
        {
          sleep(order.empty() ? 200. : 20.); // meanwhile all others come to wait, also on a busy machine
          order.push_back(i);
          const TurnOfOthers turn; // over at once: who gives it up stands behind those that wait
        }
    });
    ASSERT_EQ(order.size(), 20);
    for (std::size_t i = 4; i < 16; ++i)
      EXPECT_EQ(order[i], order[i - 4]) << "turn " << i;
  }

  TEST(Turns, FailuresAreThrownWhenAllHaveEnded)
  {
    std::atomic<int> n_ended{0};
    EXPECT_THROW(in_turns(3,
                          [&](int i) {
                            if (i == 1)
                              throw std::runtime_error("one");
                            const TurnOfOthers turn;
                            sleep(5.);
                            ++n_ended;
                          }),
                 std::runtime_error);
    EXPECT_EQ(n_ended, 2);
    in_turns(2, [](int) {}); // the turn of the one that failed is over
  }

  TEST(Turns, OneAloneIsTheCallingThread)
  {
    const auto here = std::this_thread::get_id();
    in_turns(1, [&](int i) {
      EXPECT_EQ(i, 0);
      EXPECT_EQ(std::this_thread::get_id(), here);
      EXPECT_FALSE(takes_turns());
      const TurnOfOthers turn;
    });
  }
} // namespace leopard
