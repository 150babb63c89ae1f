// SPDX-License-Identifier: Apache-2.0
#include "multigrid.h"

#include "../base/errors.h"
#include "coarse_solvers.h"
#include "multigrid_data.h"

#include <algorithm>
#include <cmath>

namespace leopard
{
  namespace
  {
    /** Unknowns below which a further level costs more than the dense inverse of this one. */
    int enough_levels(Backend backend)
    {
      return backend == Backend::cuda ? 1024 : 256;
    }

    /** Interior rows of a stencil whose diagonal makes all rows sum to zero have no solution, or many. */
    void check_not_singular(const CrsMatrix &coarsest)
    {
      for (int i = 0; i < coarsest.n_rows; ++i)
        {
          double sum = 0., absolute = 0.;
          for (int p = coarsest.row_offsets[i]; p < coarsest.row_offsets[i + 1]; ++p)
            {
              sum += coarsest.values[p];
              absolute += std::abs(coarsest.values[p]);
            }
          if (std::abs(sum) > 1e-12 * absolute)
            return;
        }
      throw InvalidInput(
        "multigrid: the rows of the stencil add up to zero on the coarsest level, the problem is singular\n  expected: values beyond "
        "the grid that are zero (Dirichlet), or stored matrices");
    }

    std::unique_ptr<Multigrid::Operations> make_operations(const std::vector<StencilGrid> &levels, const MultigridOptions &options)
    {
      return options.backend == Backend::cuda ? make_stencil_cuda_operations(levels, options) : make_stencil_host_operations(levels, options);
    }
  } // namespace

  int default_n_levels(const Stencil &finest, Backend backend)
  {
    const std::vector<StencilGrid> levels = stencil_levels(finest);
    int                            n      = static_cast<int>(levels.size());
    while (n > 1 && levels[levels.size() - n + 1].stencil.n_rows() <= enough_levels(backend))
      --n;
    return n;
  }

  std::string to_string(CycleType cycle)
  {
    return cycle == CycleType::v ? "V" : cycle == CycleType::w ? "W" : "F";
  }

  void MultigridOptions::validate() const
  {
    const auto require = [](bool holds, const std::string &option, const std::string &found, const std::string &expected) {
      if (!holds)
        throw InvalidInput("multigrid: " + option + " is " + found + "\n  expected: " + expected);
    };
    require(n_threads >= 0, "n_threads", std::to_string(n_threads), "a number >= 0, where 0 stands for all of the machine's");
    require(pre_smoothing >= 0, "pre_smoothing", std::to_string(pre_smoothing), "a number >= 0");
    require(post_smoothing >= 0, "post_smoothing", std::to_string(post_smoothing), "a number >= 0");
    require(pre_smoothing + post_smoothing >= 1, "the number of smoothing steps", "0", "at least one, before or after the coarse correction");
    require(coarse_solver == "dense" || coarse_solver == "direct", "coarse_solver", "'" + coarse_solver + "'", "dense or direct");
    require(max_dense >= 1, "max_dense", std::to_string(max_dense), "a number >= 1");
    require(max_direct >= 1, "max_direct", std::to_string(max_direct), "a number >= 1");
    smoother.validate();
    require(smoother.block_async.block_offsets.empty(), "block_offsets of the smoother", "given", "none: each level has its own blocks");
    require(smoother.block_async.local_iterations_per_block.empty(),
            "local_iterations_per_block of the smoother",
            "given",
            "none: each level has its own blocks");
    require(wait_for_ghosts || (find_method(smoother.method).has_blocks && smoother.block_async.schedule == Schedule::chaotic),
            "wait_for_ghosts",
            "false for a smoother that is not asynchronous",
            "true, or the smoother async in the chaotic schedule");
    require(wait_for_ghosts || backend != Backend::reference,
            "wait_for_ghosts",
            "false for the backend reference, whose results are reproducible",
            "true, or the backend host or cuda");
    require(find_method(smoother.method).runs_on(backend, as_smoother),
            "the smoother",
            smoother.method + ", which is sequential",
            "another one on the backend cuda, or the backend host");
  }

  Multigrid::Data::Data(std::unique_ptr<Operations> operations_, std::unique_ptr<CoarseSolver> coarse_, const MultigridOptions &options_)
    : options(options_)
    , operations(std::move(operations_))
    , coarse(std::move(coarse_))
  {
  }

  Multigrid::Multigrid(const MultigridHierarchy &hierarchy, const MultigridOptions &options, std::unique_ptr<CoarseSolver> coarse)
  {
    options.validate();
    hierarchy.validate();
    if (hierarchy.is_adaptive() && (options.cycle != CycleType::v || options.full_start))
      throw InvalidInput("multigrid: " + (options.full_start ? "a full multigrid start" : "a " + to_string(options.cycle) + "-cycle") +
                         " on an adaptive mesh with local smoothing\n  expected: the V-cycle, without full multigrid start");
    std::unique_ptr<Operations> operations = make_stored_operations(hierarchy, options);
    const bool                  own        = coarse == nullptr;
    if (own)
      coarse = make_coarse_solver(hierarchy.levels.front().matrix, operations->is_singular(), options);
    data                    = std::make_unique<Data>(std::move(operations), std::move(coarse), options);
    data->own_coarse_solver = own;
    data->matrices          = hierarchy.is_adaptive() ? "stored matrices, local smoothing" : "stored matrices";
  }

  Multigrid::Multigrid(const Stencil &finest, int n_levels, const MultigridOptions &options, std::unique_ptr<CoarseSolver> coarse)
  {
    options.validate();
    const std::vector<StencilGrid> levels   = stencil_levels(finest, n_levels == 0 ? default_n_levels(finest, options.backend) : n_levels);
    const CrsMatrix                coarsest = levels.front().stencil.to_crs();
    check_not_singular(coarsest);
    const bool own = coarse == nullptr;
    if (own)
      coarse = make_coarse_solver(coarsest, false, options);
    data                    = std::make_unique<Data>(make_operations(levels, options), std::move(coarse), options);
    data->own_coarse_solver = own;
    data->matrices          = "stencils";
  }

  Multigrid::Multigrid(std::unique_ptr<Operations> operations, const MultigridOptions &options, std::unique_ptr<CoarseSolver> coarse)
  {
    options.validate();
    if (operations == nullptr || coarse == nullptr)
      throw InvalidInput("multigrid: operations or a coarse solver of one's own are missing\n  expected: both");
    data                    = std::make_unique<Data>(std::move(operations), std::move(coarse), options);
    data->own_coarse_solver = false;
    data->matrices          = "operators";
  }

  Multigrid::~Multigrid()                     = default;
  Multigrid::Multigrid(Multigrid &&) noexcept = default;

  int Multigrid::n_rows() const
  {
    return data->operations->n_rows();
  }

  int Multigrid::n_columns() const
  {
    return data->operations->n_columns();
  }

  int Multigrid::n_levels() const
  {
    return data->operations->n_levels();
  }

  MemorySpace Multigrid::memory_space() const
  {
    return data->operations->memory_space();
  }

  bool Multigrid::is_singular() const
  {
    return data->operations->is_singular();
  }

  std::size_t Multigrid::memory() const
  {
    return data->operations->memory();
  }

  bool Multigrid::is_fixed_linear_map() const
  {
    bool result = data->coarse->is_fixed_linear_map() && data->options.wait_for_ghosts;
    for (int level = 1; level < n_levels(); ++level)
      result = result && data->operations->smoother(level).is_fixed_linear_map();
    return result;
  }

  void CoarseSolver::update(const CrsMatrix & /*A*/, bool /*singular*/)
  {
    throw InvalidInput("multigrid: the coarse solver '" + name() + "' takes no new values\n  expected: one that does, or a new Multigrid");
  }

  void Multigrid::Operations::update_values(const MultigridHierarchy & /*hierarchy*/)
  {
    throw InvalidInput("multigrid: these operators have no stored values to change\n  expected: stored matrices, or a new Multigrid");
  }

  void Multigrid::update_values(const MultigridHierarchy &hierarchy)
  {
    data->operations->update_values(hierarchy);
    data->coarse->update(hierarchy.levels.front().matrix, is_singular());
    data->forget_recorded();
  }

  void Multigrid::multiply(double *y, double *x)
  {
    data->operations->multiply(y, x);
  }

  bool Multigrid::is_symmetric_map() const
  {
    bool result = data->coarse->is_fixed_linear_map() && data->options.pre_smoothing == data->options.post_smoothing;
    for (int level = 1; level < n_levels(); ++level)
      result = result && data->operations->smoother(level).is_symmetric_map();
    return result;
  }

  void Multigrid::vmult(double *x, const double *b)
  {
    data->operations->set_right_hand_sides(b);
    data->operations->set_zero(data->finest());
    data->cycle();
    data->operations->get_solution(x);
  }

  void Multigrid::cycle(double *x, const double *b)
  {
    if (data->operations->is_adaptive())
      {
        data->iterate(x, b);
        return;
      }
    data->operations->set_right_hand_sides(b);
    data->operations->set_solution(x);
    data->cycle();
    data->operations->get_solution(x);
  }
} // namespace leopard
