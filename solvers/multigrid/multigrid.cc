// SPDX-License-Identifier: Apache-2.0
#include "multigrid.h"

#include "../base/errors.h"
#include "../base/together_by_sums.h"
#include "../base/usable_resources.h"
#include "../matrix/row_sums.h"
#include "aggregation.h"
#include "coarse_solvers.h"
#include "device_aggregation.h"
#include "level_order.h"
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
    void check_not_singular(const CrsMatrix<double> &coarsest)
    {
      for (int i = 0; i < coarsest.n_rows; ++i)
        if (kind_of_row_sum(coarsest, i) != RowSum::zero)
          return;
      throw InvalidInput(
        "multigrid: the rows of the stencil add up to zero on the coarsest level, the problem is singular\n  expected: values beyond "
        "the grid that are zero (Dirichlet), or stored matrices");
    }

    template <typename Number>
    std::unique_ptr<MultigridOperations<Number>> make_operations(const std::vector<StencilGrid> &levels, const MultigridOptions &options)
    {
      return options.backend == Backend::cuda ? make_stencil_cuda_operations<Number>(levels, options)
                                              : make_stencil_host_operations<Number>(levels, options);
    }
  } // namespace

  int default_n_levels(const Stencil<double> &finest, Backend backend)
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
    require(n_threads >= 0, "n_threads", std::to_string(n_threads), std::string("a number >= 0, ") + meaning_of_no_threads);
    const char *steps = "a number >= 0, or -1 where it is to be chosen";
    require(pre_smoothing >= -1, "pre_smoothing", std::to_string(pre_smoothing), steps);
    require(post_smoothing >= -1, "post_smoothing", std::to_string(post_smoothing), steps);
    require(pre_smoothing != 0 || post_smoothing != 0, "the number of smoothing steps", "0", "at least one, before or after the coarse correction");
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
    require(!sixteen_bits || (backend == Backend::cuda && is_made_on_device(smoother)),
            "sixteen_bits",
            "true on the backend " + to_string(backend) + " with the smoother " + smoother.method,
            "false, or the backend cuda with a smoother that is made there");
    require(!sixteen_bits || smoother.block_async.storage == Storage::automatic,
            "sixteen_bits",
            "true for a smoother with the storage " + to_string(smoother.block_async.storage),
            "false, or the storage automatic");
    require(find_method(smoother.method).runs_on(backend, as_smoother),
            "the smoother",
            smoother.method + ", which is sequential",
            "another one on the backend cuda, or the backend host");
  }

  MultigridOptions MultigridOptions::with_steps(bool moves) const
  {
    MultigridOptions result = *this;
    const bool       both   = pre_smoothing != 0 && post_smoothing != 0; // tiles need two iterations a cycle to move
    for (int *steps : {&result.pre_smoothing, &result.post_smoothing})
      if (*steps < 0)
        *steps = moves && both ? 1 : 2;
    return result;
  }

  template <typename Number>
  MultigridData<Number>::MultigridData(std::unique_ptr<MultigridOperations<Number>> operations_,
                                       std::unique_ptr<CoarseSolver<Number>>        coarse_,
                                       const MultigridOptions                      &options_)
    : options(options_.with_steps(false))
    , operations(std::move(operations_))
    , coarse(std::move(coarse_))
  {
  }

  template <typename Number>
  void Multigrid<Number>::take(const MultigridHierarchy &hierarchy, const MultigridOptions &options, std::unique_ptr<CoarseSolver<Number>> coarse)
  {
    const RankSums *ranks = hierarchy.levels.empty() ? nullptr : hierarchy.finest_communication().get();
    together(
      [&] {
        options.validate();
        hierarchy.validate(!is_set_up_on_device(options));
        if (hierarchy.is_adaptive() && (options.cycle != CycleType::v || options.full_start))
          throw InvalidInput("multigrid: " + (options.full_start ? "a full multigrid start" : "a " + to_string(options.cycle) + "-cycle") +
                             " on an adaptive mesh with local smoothing\n  expected: the V-cycle, without full multigrid start");
      },
      ranks);
    const bool       moves                                  = blocks_move(hierarchy, options);
    const bool       at_once                                = moves && are_relaxed_at_once(options.smoother.block_async, options.backend);
    MultigridOptions decided                                = options;
    decided.smoother.moving_blocks                          = moves ? MovingBlocksChoice::yes : MovingBlocksChoice::no;
    std::unique_ptr<MultigridOperations<Number>> operations = make_stored_operations<Number>(hierarchy, decided);
    const bool                                   own        = coarse == nullptr;
    together(
      [&] {
        if (own)
          coarse = make_coarse_solver<Number>(hierarchy.levels.front().matrix, operations->is_singular(), options);
      },
      ranks);
    data                    = std::make_unique<MultigridData<Number>>(std::move(operations), std::move(coarse), options.with_steps(at_once));
    data->own_coarse_solver = own;
    data->blocks_move       = at_once;
    data->matrices          = hierarchy.is_adaptive() ? "stored matrices, local smoothing" : "stored matrices";
  }

  template <typename Number>
  Multigrid<Number>::Multigrid(const MultigridHierarchy &hierarchy, const MultigridOptions &options, std::unique_ptr<CoarseSolver<Number>> coarse)
  {
    take(hierarchy, options, std::move(coarse));
  }

  template <typename Number>
  Multigrid<Number>::Multigrid(const CrsMatrix<double> &A, const AggregationOptions &aggregation, const MultigridOptions &options)
  {
    options.validate();
    if (!is_aggregated_on_device(options) || !aggregation.fits_on_device())
      {
        const GalerkinProduct galerkin =
          options.backend == Backend::cuda ? device::galerkin_on_device(aggregation, A.n_entries()) : GalerkinProduct();
        take(aggregation_hierarchy(A, aggregation, galerkin), options, nullptr);
        if (is_aggregated_on_device(options))
          data->matrices += ", made on the host for nodes of more than " + std::to_string(AggregationOptions::most_on_device) +
                            " unknowns, or as many vectors near the null space";
        return;
      }
    if (options.smoother.moving_blocks == MovingBlocksChoice::yes)
      throw InvalidInput("multigrid smoother: blocks are to move, and aggregates have no coordinates\n  expected: blocks that stay");
    CrsMatrix<double>                            coarsest;
    std::unique_ptr<MultigridOperations<Number>> operations = make_aggregation_operations<Number>(A, aggregation, options, coarsest);
    std::unique_ptr<CoarseSolver<Number>>        coarse     = make_coarse_solver<Number>(coarsest, operations->is_singular(), options);
    data           = std::make_unique<MultigridData<Number>>(std::move(operations), std::move(coarse), options);
    data->matrices = "stored matrices";
  }

  template <typename Number>
  Multigrid<Number>::Multigrid(const Stencil<double>                &finest,
                               int                                   n_levels,
                               const MultigridOptions               &options,
                               std::unique_ptr<CoarseSolver<Number>> coarse)
  {
    options.validate();
    if (options.sixteen_bits)
      throw InvalidInput("multigrid: sixteen_bits is true for stencils, of which nothing is stored\n  expected: false, or stored matrices");
    std::vector<StencilGrid> levels   = stencil_levels(finest, n_levels == 0 ? default_n_levels(finest, options.backend) : n_levels);
    CrsMatrix<double>        coarsest = levels.front().stencil.to_crs();
    check_not_singular(coarsest);
    const bool own = coarse == nullptr, moves = smoother_moves(options.smoother, options.backend, finest.dim());
    if (own)
      coarse = make_coarse_solver<Number>(coarsest, false, options);
    data = std::make_unique<MultigridData<Number>>(make_operations<Number>(levels, options), std::move(coarse), options.with_steps(moves));
    data->own_coarse_solver = own;
    data->blocks_move       = moves;
    data->matrices          = "stencils";
    data->next_stencils     = levels;
    data->stencils          = std::move(levels);
    data->coarsest_stencil  = std::move(coarsest);
  }

  template <typename Number>
  Multigrid<Number>::Multigrid(std::unique_ptr<MultigridOperations<Number>> operations,
                               const MultigridOptions                      &options,
                               std::unique_ptr<CoarseSolver<Number>>        coarse)
  {
    options.validate();
    if (operations == nullptr || coarse == nullptr)
      throw InvalidInput("multigrid: operations or a coarse solver of one's own are missing\n  expected: both");
    data                    = std::make_unique<MultigridData<Number>>(std::move(operations), std::move(coarse), options);
    data->own_coarse_solver = false;
    data->matrices          = "operators";
  }

  template <typename Number>
  Multigrid<Number>::~Multigrid() = default;
  template <typename Number>
  Multigrid<Number>::Multigrid(Multigrid &&) noexcept = default;

  template <typename Number>
  int Multigrid<Number>::n_rows() const
  {
    return data->operations->n_rows();
  }

  template <typename Number>
  int Multigrid<Number>::n_columns() const
  {
    return data->operations->n_columns();
  }

  template <typename Number>
  int Multigrid<Number>::n_levels() const
  {
    return data->operations->n_levels();
  }

  template <typename Number>
  int Multigrid<Number>::n_unknowns(int level) const
  {
    return data->operations->n_unknowns(level);
  }

  template <typename Number>
  double Multigrid<Number>::operator_complexity() const
  {
    double sum = 0.;
    for (int level = 0; level < n_levels(); ++level)
      sum += data->operations->n_entries(level);
    return sum > 0. ? sum / data->operations->n_entries(n_levels() - 1) : 0.;
  }

  template <typename Number>
  const MultigridOptions &Multigrid<Number>::options() const
  {
    return data->options;
  }

  template <typename Number>
  MemorySpace Multigrid<Number>::memory_space() const
  {
    return data->operations->memory_space();
  }

  template <typename Number>
  bool Multigrid<Number>::is_singular() const
  {
    return data->operations->is_singular();
  }

  template <typename Number>
  std::size_t Multigrid<Number>::memory() const
  {
    return data->operations->memory();
  }

  template <typename Number>
  bool Multigrid<Number>::is_fixed_linear_map() const
  {
    bool result = data->coarse->is_fixed_linear_map() && data->options.wait_for_ghosts;
    for (int level = 1; level < n_levels(); ++level)
      result = result && data->operations->smoother(level).is_fixed_linear_map();
    return result;
  }

  template <typename Number>
  void CoarseSolver<Number>::update(const CrsMatrix<double> & /*A*/, bool /*singular*/)
  {
    throw InvalidInput("multigrid: the coarse solver '" + name() + "' takes no new values\n  expected: one that does, or a new Multigrid");
  }

  template <typename Number>
  void MultigridOperations<Number>::update_values(const MultigridHierarchy & /*hierarchy*/)
  {
    throw InvalidInput("multigrid: these operators have no stored values to change\n  expected: stored matrices, or a new Multigrid");
  }

  template <typename Number>
  void Multigrid<Number>::update_values(const MultigridHierarchy &hierarchy)
  {
    data->operations->update_values(hierarchy);
    data->coarse->update(hierarchy.levels.front().matrix, is_singular());
    data->forget_recorded();
  }

  template <typename Number>
  void MultigridOperations<Number>::update_stencils(const std::vector<StencilGrid> & /*levels*/)
  {
    throw InvalidInput("multigrid: these operators are no stencils\n  expected: a hierarchy of stored matrices, or a new Multigrid");
  }

  template <typename Number>
  void MultigridOperations<Number>::place_coarsest(Number * /*x*/, Number * /*b*/)
  {
    throw InvalidInput("multigrid: the coarsest level of these operators keeps its vectors\n  expected: stencils");
  }

  template <typename Number>
  bool Multigrid<Number>::update_values(const Stencil<double> &finest)
  {
    if (data->stencils.empty())
      throw InvalidInput("multigrid: a stencil is given to operators that are none\n  expected: a hierarchy of stored matrices, or a new Multigrid");
    if (!have_same_pattern(finest, data->stencils.back().stencil))
      return false;
    update_levels(data->next_stencils, finest);
    for (std::size_t l = 0; l < data->stencils.size(); ++l) // whether the diagonal of a level varies is a matter of values
      if (!have_same_pattern(data->next_stencils[l].stencil, data->stencils[l].stencil))
        return false;
    data->next_stencils.front().stencil.to_crs(data->coarsest_stencil);
    check_not_singular(data->coarsest_stencil);
    data->stencils.swap(data->next_stencils);
    data->operations->update_stencils(data->stencils);
    data->coarse->update(data->coarsest_stencil, false);
    data->forget_recorded();
    return true;
  }

  template <typename Number>
  device::DeviceCrs<double> Multigrid<Number>::matrix_on_device() const
  {
    return data->operations->matrix_on_device();
  }

  template <typename Number>
  void Multigrid<Number>::multiply(Number *y, Number *x)
  {
    data->operations->multiply(y, x);
  }

  template <typename Number>
  bool Multigrid<Number>::is_symmetric_map() const
  {
    bool result = data->coarse->is_fixed_linear_map() && data->options.pre_smoothing == data->options.post_smoothing;
    for (int level = 1; level < n_levels(); ++level)
      result = result && data->operations->smoother(level).is_symmetric_map();
    return result;
  }

  template <typename Number>
  bool Multigrid<Number>::has_mirrored_steps() const
  {
    return data->options.pre_smoothing == data->options.post_smoothing && !data->blocks_move;
  }

  template <typename Number>
  bool Multigrid<Number>::is_queued() const
  {
    return data->operations->is_queued() && data->coarse->is_queued() && !is_singular();
  }

  template <typename Number>
  Number *Multigrid<Number>::own_solution()
  {
    return data->operations->takes_own_vectors() ? data->operations->x(data->finest()) : nullptr;
  }

  template <typename Number>
  Number *Multigrid<Number>::own_right_hand_side()
  {
    return data->operations->takes_own_vectors() ? data->operations->b(data->finest()) : nullptr;
  }

  template <typename Number>
  const int *Multigrid<Number>::own_order() const
  {
    return data->operations->own_order();
  }

  template <typename Number>
  void Multigrid<Number>::vmult(Number *x, const Number *b)
  {
    data->operations->set_right_hand_sides(b);
    data->cycle_from_zero();
    data->operations->get_solution(x);
  }

  template <typename Number>
  void Multigrid<Number>::cycle(Number *x, const Number *b)
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

  namespace
  {
    template <typename Number>
    class MultigridPreconditioner : public Preconditioner<Number>
    {
    public:
      explicit MultigridPreconditioner(std::shared_ptr<Multigrid<Number>> multigrid_)
        : multigrid(std::move(multigrid_))
      {
      }

      std::string name() const override { return "multigrid"; }
      int         n_rows() const override { return multigrid->n_rows(); }
      MemorySpace memory_space() const override { return multigrid->memory_space(); }
      bool        is_fixed_linear_map() const override { return multigrid->is_fixed_linear_map(); }
      bool        is_symmetric_map() const override { return multigrid->is_symmetric_map(); }
      bool        is_queued() const override { return multigrid->is_queued(); }
      void        apply(Number *z, const Number *r) override { multigrid->vmult(z, r); }

    private:
      const std::shared_ptr<Multigrid<Number>> multigrid;
    };
  } // namespace

  template <typename Number>
  std::shared_ptr<Preconditioner<Number>> make_preconditioner(std::shared_ptr<Multigrid<Number>> multigrid)
  {
    if (multigrid == nullptr || multigrid->n_columns() != multigrid->n_rows())
      throw InvalidInput(std::string("a preconditioner is made of ") + (multigrid == nullptr ? "no multigrid" : "a multigrid with ghosts") +
                         "\n  expected: a multigrid of one rank");
    return std::make_shared<MultigridPreconditioner<Number>>(std::move(multigrid));
  }

#define INSTANTIATE(Number)                   \
  template class CoarseSolver<Number>;        \
  template class MultigridOperations<Number>; \
  template struct MultigridData<Number>;      \
  template class Multigrid<Number>;           \
  template std::shared_ptr<Preconditioner<Number>> make_preconditioner(std::shared_ptr<Multigrid<Number>> multigrid);
  LEOPARD_FOR_EACH_NUMBER(INSTANTIATE)
#undef INSTANTIATE
} // namespace leopard
