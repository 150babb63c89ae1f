// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <solvers/base/backend.h>
#include <solvers/device/device.h>

#include <string>

namespace leopard::reaction_diffusion
{
  /** Where ranks compute, and how values travel between them. */
  struct Way
  {
    Backend backend;
    bool    staged = false; ///< GPUs: by messages, as between hosts, even where they can write into one another's memory
  };

  inline const auto all_ways = testing::Values(Way{Backend::host}, Way{Backend::cuda}, Way{Backend::cuda, true});

  inline std::string name_of_way(const testing::TestParamInfo<Way> &info)
  {
    return to_string(info.param.backend) + (info.param.staged ? "_staged" : "");
  }

  class WayTest : public testing::TestWithParam<Way>
  {
  protected:
    void SetUp() override
    {
      if (backend() == Backend::cuda && device::n_devices() == 0)
        GTEST_SKIP() << "no GPU";
    }
    static Backend backend() { return GetParam().backend; }
  };
} // namespace leopard::reaction_diffusion
