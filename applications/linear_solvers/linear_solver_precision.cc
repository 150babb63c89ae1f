// SPDX-License-Identifier: Apache-2.0
#include "field_multigrid.h"
#include "implementation.h"

#include <applications/base/log.h>
#include <solvers/base/errors.h>
#include <solvers/base/norms.h>
#include <solvers/base/words.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/timer.h>

#include <Epetra_CrsMatrix.h>
#include <Epetra_Vector.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    /** Of the sizes of the entries on A's diagonal. */
    struct DiagonalRange
    {
      double smallest = std::numeric_limits<double>::infinity(), largest = 0.;

      /** Collective. */
      DiagonalRange(const HostMatrix &A, MPI_Comm comm)
      {
        Epetra_Vector diagonal(A.trilinos_matrix().RowMap());
        A.trilinos_matrix().ExtractDiagonalCopy(diagonal);
        for (int i = 0; i < diagonal.MyLength(); ++i)
          {
            largest  = std::max(largest, std::abs(diagonal[i]));
            smallest = std::min(smallest, std::abs(diagonal[i]));
          }
        largest  = Utilities::MPI::max(largest, comm);
        smallest = Utilities::MPI::min(smallest, comm);
      }

      /**
       * Whether they differ by the digits of single precision at most, and are in its range, as are ones beside them.
       */
      bool suits_single() const
      {
        constexpr double digits = 1e7, range = 1e35;
        return reached(largest, digits * smallest) && reached(largest, range) && reached(1. / range, smallest);
      }
    };
  } // namespace

  void LinearSolverParameters::choose_precision(const SolverTask &task)
  {
    const bool in_single = uses_multigrid() && precision != "double" && backend != "reference" && !task.may_be_indefinite;
    if (multigrid.precision == "automatic")
      multigrid.arithmetic =
        is_krylov() && (in_single || (uses_multigrid() && refines())) ? Arithmetic::single_precision : Arithmetic::double_precision;
    else
      multigrid.arithmetic = multigrid.precision == "single" ? Arithmetic::single_precision : Arithmetic::double_precision;
    const bool refines_by_itself = precision == "automatic" && method == "multigrid" && in_single && !multigrid.options.full_start;
    if (precision == "automatic")
      precision = refines_by_itself ? "mixed" : "double";
    chose_single = refines_by_itself || (multigrid.precision == "automatic" && multigrid.arithmetic == Arithmetic::single_precision);
  }

  void LinearSolverParameters::check_precision() const
  {
    const std::string is_mixed = "'Linear solver/Precision' is mixed";
    if (precision == "mixed" && !can_refine() && !corrects_blocks())
      throw Error(is_mixed + ", but the linear solver is " + (automatic ? choice() : name()) + "\n  expected: 'Linear solver/Method' = multigrid, " +
                  joined(method_names(as_solver), ", ", ", ") + ", or cg or gmres with the preconditioner none, " +
                  joined(method_names(as_preconditioner), ", ", ", ") + ", ilu, ic or multigrid; or the precision double" +
                  (has_smoother() ? " and 'Multigrid/Precision' = single, for cycles in single precision" : ""));
    if (refines() && method == "multigrid" && multigrid.options.full_start)
      throw Error(is_mixed + ", but 'Multigrid/Full multigrid start' is true\n  expected: false, as each correction begins from zero; or double");
    if (refines() && is_krylov() && uses_multigrid() && multigrid.arithmetic != Arithmetic::single_precision)
      throw Error(is_mixed + ", but 'Multigrid/Precision' is " + multigrid.precision +
                  ", and the cycles precondition in single precision\n  expected: automatic or single; or 'Linear solver/Precision' = double");
    if (uses_multigrid() && multigrid.options.sixteen_bits && backend == "cuda")
      check_sixteen_bits();
  }

  bool LinearSolverParameters::cannot_refine_on(MPI_Comm comm) const
  {
    return refines() && is_krylov() && Utilities::MPI::n_mpi_processes(comm) > 1 && (uses_multigrid() || backend == "cuda");
  }

  void LinearSolverParameters::check_precision_on(MPI_Comm comm) const
  {
    if (cannot_refine_on(comm))
      throw Error("'Linear solver/Precision' is mixed and the method " + method +
                  (uses_multigrid() ? " with the preconditioner multigrid" : " on the backend cuda") + ", but the program runs on " +
                  std::to_string(Utilities::MPI::n_mpi_processes(comm)) + " ranks\n  expected: one rank, " +
                  (uses_multigrid() ? "another preconditioner" : "the backend host") + ", another method, or the precision double");
  }

  void LinearSolverParameters::check_sixteen_bits() const
  {
    const std::string is_rounded = "'Multigrid/Level storage' is bfloat16, but ";
    const std::string single     = method == "multigrid" ? "'Linear solver/Precision' = mixed" : "'Multigrid/Precision' = single";
    if (cycle_arithmetic() != Arithmetic::single_precision)
      throw Error(is_rounded + "the cycles are in double precision\n  expected: exact, or " + single);
    if (multigrid.form == "stencil")
      throw Error(is_rounded + "'Multigrid/Form' is stencil, of which nothing is stored\n  expected: exact, or the form stored");
    if (!is_made_on_device(multigrid.options.smoother))
      throw Error(is_rounded + "'Multigrid/Smoother' is " + multigrid.options.smoother.method + "\n  expected: exact, or the smoother " +
                  joined(method_names(as_smoother, [](const Method &m) { return static_cast<bool>(m.make_on_device); }), ", ", " or "));
  }

  void LinearSolver::make_in_double(const std::string &why)
  {
    implementation.reset(); // the memory is needed for the new one
    parameters.precision            = "double";
    parameters.multigrid.arithmetic = Arithmetic::double_precision;
    parameters.chose_single         = false;

    parameters.multigrid.options.sixteen_bits = false;
    note                                      = (parameters.uses_multigrid() ? "multigrid" : parameters.name()) +
           " in double precision from now on, as single precision does not do: " + why.substr(0, why.find('\n'));
    make();
  }

  void LinearSolver::or_in_double(const std::function<void()> &set_up)
  {
    if (!parameters.goes_on_in_double())
      return set_up();
    if (const DiagonalRange range(A, comm); parameters.chose_single && !range.suits_single())
      return make_in_double(format("the entries on the diagonal are between %.1e and %.1e", range.smallest, range.largest));
    try
      {
        set_up();
      }
    catch (const NeedsDouble &error)
      {
        make_in_double("");
        note = error.what();
      }
    catch (const DeviceError &)
      {
        throw;
      }
    catch (const Error &error)
      {
        if (Utilities::MPI::n_mpi_processes(comm) > 1) // what fails on this rank may succeed on another one
          throw;
        make_in_double(error.what());
      }
  }

  LinearSolveResult LinearSolver::solve_or_in_double(HostVector &x, const HostVector &b, const LinearTarget &target)
  {
    first_guess = x;
    // the limit is one of both together; where single precision was not asked for the solve in double counts anew
    const bool        keeps_limit = parameters.refines() && parameters.is_krylov();
    std::string       why;
    LinearSolveResult result;
    try
      {
        result = solve_scaled(x, b, target);
        if (result.converged || target.relative_tolerance == 0. || result.at_rounding || // which is as much as double has
            (keeps_limit && result.n_iterations >= target.max_iterations))
          return result;
        why = format("after %d iterations the residual is %.3e", result.n_iterations, result.final_residual) +
              (result.ill_conditioned ? ", and the matrix is too ill-conditioned for it" : "");
      }
    catch (const FailureInSingle &failure)
      {
        if (keeps_limit && failure.n_iterations >= target.max_iterations)
          throw;
        result.n_iterations = failure.n_iterations;
        why                 = failure.what();
        x                   = first_guess;
      }
    catch (const ConvergenceFailure &failure)
      {
        why = failure.what();
        x   = first_guess;
      }
    const Timer timer;
    make_in_double(why);
    seconds += timer.wall_time();
    n_in_single = result.n_iterations;
    LinearTarget rest(target);
    if (keeps_limit)
      rest.max_iterations -= n_in_single;
    result = solve_scaled(x, b, rest);
    result.n_iterations += n_in_single;
    return result;
  }
} // namespace leopard
