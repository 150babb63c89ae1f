// SPDX-License-Identifier: Apache-2.0
#include "field_multigrid.h"

#include <applications/base/log.h>
#include <solvers/base/errors.h>
#include <solvers/dealii/index_sets.h>
#include <solvers/dealii/krylov_coarse_solver.h>
#include <solvers/distributed/mpi/gathered_coarse_solver.h>
#include <solvers/multigrid/hierarchy.h>
#include <solvers/relaxation/diagonal.h>

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    constexpr double stencil_tolerance = 1e-11; ///< see find_stencil()

    /** The rows and columns of one field. Entries keep their order. */
    LocalMatrix field_matrix(LocalMatrix all, const Field &field)
    {
      if (field.n_components == 1)
        return all;
      const types::global_dof_index C = field.n_components, c = field.component;
      LocalMatrix                   result;
      result.owned.set_size(all.owned.size() / C);
      if (all.owned.n_elements() > 0)
        result.owned.add_range(all.owned.nth_index_in_set(0) / C, all.owned.nth_index_in_set(0) / C + all.owned.n_elements() / C);
      result.ghosts.set_size(result.owned.size());
      const CrsMatrix<double> &from = all.matrix;
      std::vector<int>         number(from.n_columns, -1); // of the field's columns
      for (int i = 0; i < from.n_rows; ++i)
        if (i % field.n_components == field.component)
          number[i] = i / field.n_components;
      int n_ghosts = 0;
      for (types::global_dof_index g = 0; g < all.ghosts.n_elements(); ++g)
        if (all.ghosts.nth_index_in_set(g) % C == c)
          {
            result.ghosts.add_index(all.ghosts.nth_index_in_set(g) / C);
            number[from.n_rows + g] = from.n_rows / field.n_components + n_ghosts++;
          }
      result.ghosts.compress();

      CrsMatrix<double> &matrix = result.matrix;
      matrix.n_rows             = from.n_rows / field.n_components;
      matrix.n_columns          = matrix.n_rows + n_ghosts;
      for (int row = field.component; row < from.n_rows; row += field.n_components)
        {
          for (int p = from.row_offsets[row]; p < from.row_offsets[row + 1]; ++p)
            if (number[from.columns[p]] >= 0)
              {
                matrix.columns.push_back(number[from.columns[p]]);
                matrix.values.push_back(from.values[p]);
              }
          matrix.row_offsets.push_back(matrix.n_entries());
        }
      return result;
    }

    /** The pattern of A, where each value is the number of its entry. */
    LocalMatrix numbered(const HostMatrix &A)
    {
      LocalMatrix all = local_matrix(A);
      std::iota(all.matrix.values.begin(), all.matrix.values.end(), 0.);
      return all;
    }

    /** The numbers of the entries that without_zeros() leaves. */
    std::vector<int> entries_without_zeros(const CrsMatrix<double> &A)
    {
      std::vector<int> entries;
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] == i || A.values[p] != 0.)
            entries.push_back(p);
      return entries;
    }

    /** y = A^T x. */
    void multiply_transposed(const CrsMatrix<double> &A, const std::vector<double> &x, std::vector<double> &y)
    {
      std::fill(y.begin(), y.end(), 0.);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          y[A.columns[p]] += A.values[p] * x[i];
    }

    std::vector<double> diagonal_of(const CrsMatrix<double> &A)
    {
      std::vector<double> diagonal;
      for (const int entry : diagonal_entries(A))
        diagonal.push_back(A.values[entry]);
      return diagonal;
    }

    /** Says where a user finds what the library complains about. */
    template <typename Function>
    auto for_user(const Function &function)
    {
      try
        {
          return function();
        }
      catch (const InvalidInput &error)
        {
          throw Error(std::string(error.what()) + "\n  see section 'Multigrid' of the parameter file");
        }
    }
  } // namespace

  FieldMultigrid::FieldMultigrid(
    const LinearSolverParameters &parameters_, const HostMatrix &A_, const Field &field_, LevelSource &levels_, MPI_Comm comm_)
    : parameters(parameters_)
    , A(A_)
    , field(field_)
    , levels(levels_)
    , comm(comm_)
    , matrix(field_matrix(numbered(A_), field_))
    , entries(matrix.matrix.values.begin(), matrix.matrix.values.end())
    , diagonal(diagonal_entries(matrix.matrix))
    , nodes(levels_.nodes())
  {
    parameters.check_precision();
    copy_values();
    stiffness = matrix.matrix.values;
    update_form();
  }

  void FieldMultigrid::copy_values()
  {
    const double *from = local_values(A);
    for (std::size_t p = 0; p < entries.size(); ++p)
      matrix.matrix.values[p] = from[entries[p]];
  }

  bool FieldMultigrid::update_values()
  {
    copy_values();
    return update_form();
  }

  bool FieldMultigrid::update_form()
  {
    if (multigrid != nullptr)
      keep_definite(multigrid->n_levels());
    if (update_found())
      {
        set_form_of_stencil();
        if (for_user([&] { return multigrid->update_values(*found); }))
          return true;
        if (make_stencil_form())
          return false;
      }
    else if (!hierarchy && find_stencil_form() && make_stencil_form())
      return false;
    if (!hierarchy) // what is no stencil once seldom becomes one
      {
        make_hierarchy();
        keep_definite(static_cast<int>(hierarchy->levels.size()));
      }
    return update_stored_form();
  }

  double FieldMultigrid::beyond_stiffness(int row) const
  {
    double sum = 0.;
    for (int p = matrix.matrix.row_offsets[row]; p < matrix.matrix.row_offsets[row + 1]; ++p)
      sum += matrix.matrix.values[p] - stiffness[p];
    return sum;
  }

  void FieldMultigrid::keep_definite(int n_levels)
  {
    if (!parameters.is_krylov())
      return; // it is to solve, not to precondition
    double worst = 0.;
    for (int i = 0; i < matrix.matrix.n_rows; ++i)
      worst = std::max(worst, -beyond_stiffness(i) / stiffness[diagonal[i]]);
    // a negative eigenvalue -r of D^-1 A lets n sweeps of a smoother enlarge an error (1 + r)^n times, and r is largest
    // on the coarsest level that is smoothed
    constexpr double bearable = 0.1;
    if (Utilities::MPI::max(worst, comm) * std::pow(4., n_levels - 2) <= bearable)
      return;
    for (int i = 0; i < matrix.matrix.n_rows; ++i)
      if (const double beyond = beyond_stiffness(i); beyond < 0.)
        matrix.matrix.values[diagonal[i]] -= 2. * beyond;
  }

  bool FieldMultigrid::update_found()
  {
    return found && update_stencil(*found, matrix.matrix, stencil_tolerance, of_ranks);
  }

  void FieldMultigrid::set_form_of_stencil()
  {
    form = of_ranks.communication == nullptr ? "stencil" : "stencil on slabs of " + std::to_string(Utilities::MPI::n_mpi_processes(comm)) + " ranks";
    form += ", equal to the matrix" + (found->deviation == 0. ? "" : " up to " + format("%.1e", found->deviation));
    const SmootherOptions &smoother = parameters.multigrid.options.smoother;
    if (parameters.smoother().has_blocks &&
        (!smoother.any_block_size || smoother.block_shape != BlockShape::tiles || smoother.moving_blocks != MovingBlocksChoice::automatic))
      form += " (with tiles of its own: 'Linear solver/Block size', 'Multigrid/Block shape' and 'Multigrid/Blocks move' are for stored matrices)";
  }

  bool FieldMultigrid::refuse_stencil(const std::string &what, const std::string &why, const std::string &expected)
  {
    found.reset();
    if (parameters.multigrid.form == "stencil")
      throw Error("'Multigrid/Form' is stencil, but " + what + why + "\n  expected: " + expected + "; or the form stored or automatic");
    form = "stored matrices (no stencil: " + why + ")";
    return false;
  }

  bool FieldMultigrid::refuse_slabs(const std::string &why)
  {
    return refuse_stencil("",
                          "slabs of " + std::to_string(Utilities::MPI::n_mpi_processes(comm)) +
                            " ranks cannot do it: " + why.substr(0, why.find('\n')),
                          "one rank, or what slabs can do (doc/scaling.md)");
  }

  DistributedStencilOptions FieldMultigrid::options_of_slabs() const
  {
    DistributedStencilOptions options;
    options.multigrid = parameters.multigrid.options;
    if (options.multigrid.backend == Backend::host) // where 2^18 unknowns, which each rank would have, are much work
      options.gather_below = 1 << 14;
    if (const int n_levels = static_cast<int>(parameters.multigrid.n_levels); n_levels > 1) // of which the last one is gathered
      options.gather_below = std::max(options.gather_below, found->stencil.n_rows() >> std::min(31, found->stencil.dim() * (n_levels - 1)));
    return options;
  }

  std::string why_no_slabs(const LinearSolverParameters &parameters)
  {
    const MultigridParameters &wanted = parameters.multigrid;
    if (wanted.coarse_solver == "cg" || wanted.coarse_solver == "amg")
      return "'Multigrid/Coarse solver' is " + wanted.coarse_solver;
    if (wanted.n_levels == 1)
      return "'Multigrid/Levels' is 1";
    if (parameters.cycle_arithmetic() == Arithmetic::single_precision && !parameters.chose_single)
      return std::string(parameters.method == "multigrid" ? "'Linear solver/Precision' is mixed" : "'Multigrid/Precision' is single") +
             ", and its cycles are in double precision";
    try
      {
        DistributedStencilOptions options;
        options.multigrid = wanted.options;
        options.validate();
      }
    catch (const InvalidInput &error)
      {
        return error.what();
      }
    return "";
  }

  bool has_stored_levels(const LinearSolverParameters &parameters, unsigned int n_ranks)
  {
    const MultigridParameters &wanted = parameters.multigrid;
    return wanted.form == "stored" || wanted.options.sixteen_bits ||
           (n_ranks > 1 && wanted.form == "automatic" && (share_a_gpu(parameters.gpus) || !why_no_slabs(parameters).empty()));
  }

  bool FieldMultigrid::find_stencil_form()
  {
    const MultigridParameters &wanted  = parameters.multigrid;
    const int                  n_ranks = static_cast<int>(Utilities::MPI::n_mpi_processes(comm));
    if (wanted.form == "stored" || wanted.options.sixteen_bits)
      {
        form = wanted.options.sixteen_bits ? "stored matrices, rounded to 16 bits beside the diagonal" : "stored matrices";
        return false;
      }
    if (n_ranks > 1 && wanted.form == "automatic" && share_a_gpu(parameters.gpus))
      {
        form = "stored matrices (ranks share a GPU; a stencil where 'Multigrid/Form' is stencil)";
        return false;
      }
    if (n_ranks > 1)
      {
        if (const std::string why = why_no_slabs(parameters); !why.empty())
          return refuse_slabs(why);
        const OwnRange own = own_range(matrix.owned, comm);
        ghosts             = std::make_unique<GhostExchange<double>>(own, numbers_of(matrix.ghosts), comm);
        of_ranks           = {ghosts.get(), own.first()};
      }
    std::string why_not;
    found = find_stencil(matrix.matrix, nodes, levels.dimension(), &why_not, stencil_tolerance, of_ranks);
    if (!found)
      return refuse_stencil(
        "the matrix is not one: ", why_not, "a uniform mesh of a box, constant coefficients, and values prescribed on the whole boundary");
    if (const auto there = stencil_levels(found->stencil).size(); wanted.n_levels > there)
      return refuse_stencil("",
                            "its grid has " + std::to_string(there) + " levels down to one node, and 'Multigrid/Levels' is " +
                              std::to_string(wanted.n_levels),
                            "fewer levels");
    if (n_ranks == 1)
      return true;
    try
      {
        DistributedStencilMultigrid::own_planes(found->stencil, 0, n_ranks, options_of_slabs());
      }
    catch (const InvalidInput &error) // the same on all ranks
      {
        return refuse_slabs(error.what());
      }
    if (parameters.cycle_arithmetic() == Arithmetic::single_precision)
      throw NeedsDouble("multigrid in double precision, which stencils on several ranks have");
    return true;
  }

  bool FieldMultigrid::make_stencil_form()
  {
    const MultigridParameters &wanted = parameters.multigrid;
    set_form_of_stencil();
    multigrid.reset(); // the memory is needed for the new one
    if (of_ranks.communication != nullptr)
      try
        {
          multigrid = std::make_unique<PreconditionMultigrid>(*found, comm, static_cast<int>(wanted.n_levels), options_of_slabs(), field);
          return true;
        }
      catch (const InvalidInput &error) // of all ranks
        {
          return refuse_slabs(error.what());
        }
    return for_user([&] {
      std::unique_ptr<CoarseSolver<double>> coarse;
      int                                   n_levels = static_cast<int>(wanted.n_levels);
      if (wanted.coarse_solver == "cg" || wanted.coarse_solver == "amg")
        {
          const std::vector<StencilGrid> grids = stencil_levels(found->stencil, n_levels);
          MultigridLevel                 coarsest;
          coarsest.matrix = grids.front().stencil.to_crs();
          coarsest.dim    = levels.dimension();
          coarse          = coarse_solver(coarsest);
          n_levels        = static_cast<int>(grids.size());
        }
      multigrid = std::make_unique<PreconditionMultigrid>(*found, n_levels, wanted.options, std::move(coarse), field, parameters.cycle_arithmetic());
      return true;
    });
  }

  bool FieldMultigrid::update_stored_form()
  {
    const bool same_pattern = Utilities::MPI::min(take_values() ? 1 : 0, comm) == 1;
    return for_user([&] {
      if (takes_values && same_pattern)
        {
          multigrid->update_values(*hierarchy);
          return true;
        }
      multigrid.reset(); // the memory is needed for the new one
      MultigridOptions                      options = parameters.multigrid.options;
      std::unique_ptr<CoarseSolver<double>> coarse  = coarse_solver(hierarchy->levels.front());
      takes_values                                  = is_changed && !options.sixteen_bits; // which is made anew
      if (takes_values)
        options.smoother.block_async.storage = Storage::double_precision;
      multigrid = std::make_unique<PreconditionMultigrid>(*hierarchy, options, std::move(coarse), field, parameters.cycle_arithmetic());
      return false;
    });
  }

  void FieldMultigrid::make_hierarchy()
  {
    std::swap(matrix.matrix.values, stiffness);
    hierarchy = levels.hierarchy(field.component, matrix, parameters.multigrid.n_levels);
    std::swap(matrix.matrix.values, stiffness);
    finest         = hierarchy->finest_matrix();
    finest_entries = entries_without_zeros(finest);
    for (MultigridLevel &level : hierarchy->levels)
      {
        level.matrix              = without_zeros(level.matrix);
        level.interface           = without_zeros(level.interface);
        level.interface_transpose = without_zeros(level.interface_transpose);
        level_diagonals.push_back({diagonal_entries(level.matrix), diagonal_of(level.matrix), std::vector<double>(level.matrix.n_columns)});
      }
    if (hierarchy->is_adaptive())
      hierarchy->matrix = without_zeros(hierarchy->matrix);
    is_constrained.assign(finest.n_rows, false);
    for (const auto row : levels.constrained_unknowns(field.component))
      is_constrained[matrix.owned.index_within_set(row)] = true;
  }

  bool FieldMultigrid::take_finest_values()
  {
    CrsMatrix<double> &target       = hierarchy->is_adaptive() ? hierarchy->matrix : hierarchy->levels.back().matrix;
    bool               same_pattern = true;
    std::size_t        kept         = 0;
    for (int p = 0, n = finest.n_entries(); p < n; ++p)
      if (kept < finest_entries.size() && finest_entries[kept] == p)
        target.values[kept++] = finest.values[p];
      else
        same_pattern = same_pattern && finest.values[p] == 0.;
    if (!same_pattern)
      {
        target         = without_zeros(finest);
        finest_entries = entries_without_zeros(finest);
      }
    return same_pattern;
  }

  bool FieldMultigrid::take_values()
  {
    bool is_other = false;
    for (int i = 0; i < finest.n_rows; ++i)
      if (!is_constrained[i])
        for (int p = matrix.matrix.row_offsets[i], q = finest.row_offsets[i]; p < matrix.matrix.row_offsets[i + 1]; ++p, ++q)
          {
            finest.values[q] = matrix.matrix.values[p];
            is_other         = is_other || matrix.matrix.values[p] != stiffness[p];
          }
    const bool same_pattern = take_finest_values();
    is_changed              = is_changed || Utilities::MPI::max(is_other ? 1 : 0, comm) == 1;
    if (!is_changed)
      return same_pattern;
    if (hierarchy->is_adaptive())
      throw Error("multigrid on an adaptive mesh with a matrix that changes\n  expected: a linear problem, or a globally refined mesh");

    std::vector<double> &beyond = level_diagonals.back().beyond; // what the finest level has beyond K
    std::fill(beyond.begin(), beyond.end(), 0.);
    for (int i = 0; i < finest.n_rows; ++i)
      if (!is_constrained[i])
        beyond[i] = beyond_stiffness(i);
    for (std::size_t l = hierarchy->levels.size() - 1; l > 0; --l)
      restrict_beyond(l);
    return same_pattern;
  }

  void FieldMultigrid::restrict_beyond(std::size_t level)
  {
    const MultigridLevel &fine   = hierarchy->levels[level];
    CrsMatrix<double>    &coarse = hierarchy->levels[level - 1].matrix;
    std::vector<double>  &from   = level_diagonals[level].beyond;
    LevelDiagonal        &to     = level_diagonals[level - 1];
    if (fine.communication != nullptr)
      fine.communication->update_ghosts(from.data(), MemorySpace::host);
    if (fine.restriction.n_columns > 0)
      multiply(fine.restriction, from.data(), to.beyond.data());
    else
      multiply_transposed(fine.prolongation, from, to.beyond);
    for (int i = 0; i < coarse.n_rows; ++i)
      coarse.values[to.entries[i]] = to.stiffness[i] + to.beyond[i];
  }

  std::unique_ptr<CoarseSolver<double>> FieldMultigrid::coarse_solver(const MultigridLevel &level) const
  {
    const MultigridParameters &wanted = parameters.multigrid;
    if (wanted.coarse_solver == "cg" || wanted.coarse_solver == "amg")
      return make_krylov_coarse_solver(wanted.coarse_solver, level, wanted.options.backend, comm);
    if (Utilities::MPI::n_mpi_processes(comm) > 1)
      return std::make_unique<GatheredCoarseSolver>(level, wanted.options, comm);
    return nullptr;
  }

  std::string FieldMultigrid::description() const
  {
    const MultigridOptions options   = multigrid->options();
    const bool             in_single = parameters.cycle_arithmetic() == Arithmetic::single_precision;
    return std::string(to_string(options.cycle)) + "(" + std::to_string(options.pre_smoothing) + "," + std::to_string(options.post_smoothing) +
           ") multigrid" + (in_single ? " in single precision" : "") + ", smoother " + options.smoother.method +
           (parameters.smoother().has_blocks ? "-(" + std::to_string(options.smoother.block_async.local_iterations) + ")" : "") + ", " +
           std::to_string(multigrid->n_levels()) + (multigrid->n_levels() == 1 ? " level" : " levels");
  }

  std::string FieldMultigrid::details() const
  {
    return form + "\n" + multigrid->description();
  }

  FieldsMultigrid::FieldsMultigrid(
    const LinearSolverParameters &parameters, const HostMatrix &A_, unsigned int n_components, LevelSource &levels, MPI_Comm comm, Arithmetic vectors)
    : A(A_)
  {
    for (unsigned int c = 0; c < n_components; ++c)
      fields.push_back(std::make_unique<FieldMultigrid>(parameters, A, Field{static_cast<int>(c), static_cast<int>(n_components)}, levels, comm));
    if (n_components == 1)
      return;
    const BlockAsyncOptions &options = parameters.block_async;
    const int                n       = static_cast<int>(n_components);
    if (vectors == Arithmetic::double_precision)
      in_double = std::make_unique<FieldSweep<double>>(local_matrix(A), n, options.backend, options.n_threads, comm);
    else
      in_single = std::make_unique<FieldSweep<float>>(local_matrix(A), n, options.backend, options.n_threads, comm, scale());
  }

  void FieldsMultigrid::update_values()
  {
    for (const auto &field : fields)
      field->update_values();
    if (in_double != nullptr)
      in_double->update_values(local_values(A));
    if (in_single != nullptr)
      in_single->update_values(local_values(A), scale());
  }

  std::vector<double> FieldsMultigrid::scale() const
  {
    std::vector<double> result = weights();
    for (double &s : result)
      s = std::sqrt(s);
    return result;
  }

  std::vector<double> FieldsMultigrid::weights() const
  {
    std::vector<double> result;
    for (const auto &field : fields)
      result.push_back(field->preconditioner().weight());
    return result;
  }

  std::string FieldsMultigrid::description() const
  {
    return fields[0]->description() + (in_double != nullptr   ? " " + in_double->description()
                                       : in_single != nullptr ? " " + in_single->description()
                                                              : "");
  }

  bool FieldsMultigrid::is_symmetric_map() const
  {
    return (in_double == nullptr || in_double->is_symmetric()) && (in_single == nullptr || in_single->is_symmetric()) &&
           std::all_of(fields.begin(), fields.end(), [](const auto &f) { return f->preconditioner().is_symmetric_map(); });
  }

  bool FieldsMultigrid::is_fixed_linear_map() const
  {
    return std::all_of(fields.begin(), fields.end(), [](const auto &f) { return f->preconditioner().is_fixed_linear_map(); });
  }
} // namespace leopard
