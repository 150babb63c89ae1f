// SPDX-License-Identifier: Apache-2.0
#include "mode_transform.h"

#include <applications/reaction_diffusion/grid/line_modes.h>

#include <fftw3.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>

namespace leopard::reaction_diffusion
{
  namespace
  {
    double normalization_of(const NodeGrid &grid)
    {
      double result = 1.;
      for (int d = 0; d < 3; ++d)
        result /= grid.periodic[d] ? grid.n[d] : grid.n[d] > 1 ? 2. * (grid.n[d] - 1) : 1.;
      return result;
    }

    /** FFTW makes and deletes plans in one thread at a time; it uses them in any number. */
    std::mutex &planning()
    {
      static std::mutex mutex;
      return mutex;
    }
  } // namespace

  /** The lines of one direction, in bundles that one call of FFTW transforms. */
  class ModeTransform::Lines
  {
  public:
    /** @param n_ nodes of a line, @param stride_ between them, @param n_all nodes of a field. */
    Lines(int n_, long stride_, long n_all, bool periodic)
      : n(n_)
      , stride(stride_)
      , n_groups(n_all / (n_ * stride_))
    {
      for (const int back : {0, 1})
        {
          const fftw_r2r_kind kind = !periodic ? FFTW_REDFT00 : back == 0 ? FFTW_R2HC : FFTW_HC2R;
          whole[back]              = plan(width(), kind);
          if (n_lines() % width() != 0)
            rest[back] = plan(static_cast<int>(n_lines() % width()), kind);
        }
    }
    ~Lines()
    {
      const std::lock_guard<std::mutex> lock(planning());
      for (const fftw_plan one : {whole[0], whole[1], rest[0], rest[1]})
        if (one != nullptr)
          fftw_destroy_plan(one);
    }
    Lines(const Lines &)            = delete;
    Lines &operator=(const Lines &) = delete;

    long nodes_a_bundle() const { return static_cast<long>(n) * width(); }
    /** Bundles in n_fields fields. */
    long n_bundles(int n_fields) const { return bundles_a_group() * (stride == 1 ? n_fields : n_groups * n_fields); }

    void transform(double *f, long bundle, bool back) const
    {
      const long group = bundle / bundles_a_group(), first = bundle % bundles_a_group() * width();
      double    *begin = f + group * n * stride * (stride == 1 ? n_groups : 1) + first * distance();
      fftw_execute_r2r((first + width() <= n_lines() ? whole : rest)[back ? 1 : 0], begin, begin);
    }

  private:
    // lines that lie side by side: those of a plane, or where a line's nodes do so themselves those of a field
    long n_lines() const { return stride == 1 ? n_groups : stride; }
    long distance() const { return stride == 1 ? n : 1; }
    int  width() const { return static_cast<int>(std::min(8l, n_lines())); }
    long bundles_a_group() const { return (n_lines() + width() - 1) / width(); }

    fftw_plan plan(int n_together, fftw_r2r_kind kind) const
    {
      const auto          size = static_cast<std::size_t>((n - 1) * stride + (n_together - 1) * distance() + 1);
      std::vector<double> workspace(size);
      const auto          s = static_cast<int>(stride), d = static_cast<int>(distance());

      const std::lock_guard<std::mutex> lock(planning());
      const fftw_plan                   result =
        fftw_plan_many_r2r(1, &n, n_together, workspace.data(), nullptr, s, d, workspace.data(), nullptr, s, d, &kind, FFTW_MEASURE | FFTW_UNALIGNED);
      if (result == nullptr)
        throw std::runtime_error("FFTW has no transform of " + std::to_string(n) + " values");
      return result;
    }

    const int  n;
    const long stride, n_groups;
    fftw_plan  whole[2] = {}, rest[2] = {}; ///< to the modes and back: of width() lines, and of those that are left
  };

  ModeTransform::ModeTransform(const NodeGrid &grid, std::shared_ptr<ThreadPool> pool_)
    : eigenvalue(mode_eigenvalues(grid))
    , pool(std::move(pool_))
    , normalization(normalization_of(grid))
  {
    long stride = 1;
    for (int d = 0; d < 3; ++d)
      {
        if (grid.n[d] > 1)
          lines.push_back(std::make_unique<Lines>(grid.n[d], stride, grid.n_nodes(), grid.periodic[d]));
        stride *= grid.n[d];
      }
  }

  ModeTransform::~ModeTransform() = default;

  void ModeTransform::to_modes(double *f, int n_fields) const
  {
    transform(f, n_fields, false);
  }

  void ModeTransform::from_modes(double *f, int n_fields) const
  {
    transform(f, n_fields, true);
  }

  void ModeTransform::transform(double *f, int n_fields, bool back) const
  {
    for (const auto &direction : lines)
      parallel_for(*pool, direction->n_bundles(n_fields), std::max(1l, nodes_a_part / direction->nodes_a_bundle()), [&](long begin, long end) {
        for (long bundle = begin; bundle < end; ++bundle)
          direction->transform(f, bundle, back);
      });
    if (back)
      parallel_for(*pool, n_fields * static_cast<long>(eigenvalue.size()), 10000, [&](long begin, long end) {
        for (long i = begin; i < end; ++i)
          f[i] *= normalization;
      });
  }
} // namespace leopard::reaction_diffusion
