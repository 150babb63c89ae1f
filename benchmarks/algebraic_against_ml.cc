// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients with multigrid by smoothed aggregation, on a GPU or on host threads, against the same with
// Trilinos ML (deal.II's PreconditionAMG) on as many ranks, for matrices of finite elements: wall time from the
// matrix in host memory to a relative residual of 1e-10, set-up included.
//
//   algebraic_against_ml [--backend cuda] [--threads 0] [--pelt-mesh meshes/leopard_pelt.msh]
//   mpirun -np 16 algebraic_against_ml --ml
#include <solvers/base/stopwatch.h>
#include <solvers/dealii/own_rows.h>
#include <solvers/dealii/trilinos_matrix.h>
#include <solvers/device/device_vector.h>
#include <solvers/krylov/cg.h>
#include <solvers/multigrid/aggregation.h>
#include <solvers/multigrid/multigrid.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_renumbering.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_in.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/numerics/vector_tools.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace
{
  using namespace leopard;

  constexpr double tolerance = 1e-10;

  struct Arguments
  {
    bool        ml      = false;
    std::string backend = "automatic", pelt_mesh = "meshes/leopard_pelt.msh";
    int         n_threads = 0, repetitions = 5;
    int         pelt = 5, adaptive = 9, elastic = 60; ///< refinements; refinements; cells a side. 0: not
  };

  double right_hand_side(std::size_t row)
  {
    return 1. + std::sin(0.37 * static_cast<double>(row));
  }

  // ---- matrices

  struct ElementMatrix
  {
    std::string                    name;
    int                            n_components = 1; ///< unknowns a node, next to each other
    dealii::SparsityPattern        pattern;
    dealii::SparseMatrix<double>   A;
    std::vector<std::vector<bool>> constant_modes;
  };

  /** Laplace, or elasticity (lambda = mu = 1) where there is a component for each direction; zero on the boundary. */
  template <int dim>
  void assemble(ElementMatrix                    &result,
                const dealii::Triangulation<dim> &mesh,
                const dealii::Mapping<dim>       &mapping,
                const dealii::FiniteElement<dim> &element,
                const dealii::Quadrature<dim>    &quadrature)
  {
    dealii::DoFHandler<dim> dofs(mesh);
    dofs.distribute_dofs(element);
    const int components = static_cast<int>(element.n_components());
    result.n_components  = components;
    if (components > 1)
      dealii::DoFTools::extract_constant_modes(dofs, dealii::ComponentMask(components, true), result.constant_modes);
    dealii::AffineConstraints<double> constraints;
    dealii::DoFTools::make_hanging_node_constraints(dofs, constraints);
    for (const auto id : mesh.get_boundary_ids())
      dealii::VectorTools::interpolate_boundary_values(mapping, dofs, id, dealii::Functions::ZeroFunction<dim>(components), constraints);
    constraints.close();
    dealii::DynamicSparsityPattern pattern(dofs.n_dofs());
    dealii::DoFTools::make_sparsity_pattern(dofs, pattern, constraints, false);
    for (dealii::types::global_dof_index i = 0; i < dofs.n_dofs(); ++i)
      pattern.add(i, i);
    result.pattern.copy_from(pattern);
    result.A.reinit(result.pattern);

    dealii::FEValues<dim>                        values(mapping, element, quadrature, dealii::update_gradients | dealii::update_JxW_values);
    const unsigned int                           n = element.n_dofs_per_cell();
    dealii::FullMatrix<double>                   local(n, n);
    std::vector<dealii::types::global_dof_index> indices(n);
    for (const auto &cell : dofs.active_cell_iterators())
      {
        values.reinit(cell);
        local = 0.;
        for (const unsigned int q : values.quadrature_point_indices())
          for (unsigned int i = 0; i < n; ++i)
            for (unsigned int j = 0; j < n; ++j)
              {
                const unsigned int a = element.system_to_component_index(i).first, b = element.system_to_component_index(j).first;
                const auto         gi = values.shape_grad(i, q), gj = values.shape_grad(j, q);
                const double       divergences = components > 1 ? gi[a] * gj[b] + gi[b] * gj[a] : 0.;
                local(i, j) += (divergences + (a == b ? gi * gj : 0.)) * values.JxW(q);
              }
        cell->get_dof_indices(indices);
        constraints.distribute_local_to_global(local, indices, result.A);
      }
    for (dealii::types::global_dof_index i = 0; i < dofs.n_dofs(); ++i)
      if (!(result.A.diag_element(i) != 0.))
        result.A.set(i, i, 1.);
  }

  std::unique_ptr<ElementMatrix> pelt(const Arguments &arguments)
  {
    dealii::Triangulation<2> mesh;
    dealii::GridIn<2>        reader(mesh);
    std::ifstream            file(arguments.pelt_mesh);
    reader.read_msh(file);
    mesh.refine_global(arguments.pelt);
    auto                         result = std::make_unique<ElementMatrix>();
    const dealii::FE_SimplexP<2> element(1);
    const dealii::MappingFE<2>   mapping(element);
    result->name = "P1 on the leopard's pelt";
    assemble<2>(*result, mesh, mapping, element, dealii::QGaussSimplex<2>(1));
    return result;
  }

  std::unique_ptr<ElementMatrix> adaptive(const Arguments &arguments)
  {
    dealii::Triangulation<2> mesh;
    dealii::GridGenerator::hyper_cube(mesh);
    mesh.refine_global(arguments.adaptive - 3);
    for (int step = 0; step < 6; ++step) // along a circle
      {
        for (const auto &cell : mesh.active_cell_iterators())
          if (std::abs(cell->center().distance(dealii::Point<2>(0.4, 0.6)) - 0.3) < 0.5 * cell->diameter() + 0.1 / (1 << step))
            cell->set_refine_flag();
        mesh.execute_coarsening_and_refinement();
      }
    auto result  = std::make_unique<ElementMatrix>();
    result->name = "Q1 on an adaptive mesh with hanging nodes";
    assemble<2>(*result, mesh, dealii::MappingQ<2>(1), dealii::FE_Q<2>(1), dealii::QGauss<2>(2));
    return result;
  }

  std::unique_ptr<ElementMatrix> elastic(const Arguments &arguments)
  {
    dealii::Triangulation<3> mesh;
    dealii::GridGenerator::subdivided_hyper_cube(mesh, arguments.elastic);
    auto result  = std::make_unique<ElementMatrix>();
    result->name = "linear elasticity, Q1, in three dimensions";
    assemble<3>(*result, mesh, dealii::MappingQ<3>(1), dealii::FESystem<3>(dealii::FE_Q<3>(1), 3), dealii::QGauss<3>(2));
    return result;
  }

  // ---- ours

  void report(const std::string &what, std::vector<std::pair<double, double>> times, int iterations, double residual)
  {
    std::sort(times.begin(), times.end(), [](const auto &a, const auto &b) { return a.first + a.second < b.first + b.second; });
    const auto [set_up, solve] = times[times.size() / 2];
    std::printf("  %-52s %4d iterations  set-up %8.1f ms  solve %8.1f ms  in all %8.1f ms (%.1f .. %.1f)  residual %.1e\n",
                what.c_str(),
                iterations,
                1e3 * set_up,
                1e3 * solve,
                1e3 * (set_up + solve),
                1e3 * (times.front().first + times.front().second),
                1e3 * (times.back().first + times.back().second),
                residual);
    std::fflush(stdout);
  }

  void run_ours(const ElementMatrix &matrix, const Arguments &arguments)
  {
    const CrsMatrix<double> A = crs_matrix(matrix.A, "algebraic_against_ml");
    std::vector<double>     b(A.n_rows), x(A.n_rows), r(A.n_rows);
    for (int i = 0; i < A.n_rows; ++i)
      b[i] = right_hand_side(i);
    const Backend backend =
      arguments.backend == "cuda" || (arguments.backend == "automatic" && device::n_devices() > 0) ? Backend::cuda : Backend::host;
    for (const char *smoother : {"chebyshev", "async"})
      for (const int steps : {1, 2})
        {
          MultigridOptions options;
          options.backend         = backend;
          options.n_threads       = arguments.n_threads;
          options.smoother.method = smoother;
          options.pre_smoothing = options.post_smoothing = steps;
          AggregationOptions aggregation;
          aggregation.n_threads      = arguments.n_threads;
          aggregation.block_unknowns = matrix.n_components;
          CgOptions cg;
          cg.backend   = backend;
          cg.n_threads = arguments.n_threads;
          cg.tolerance = tolerance;
          std::vector<std::pair<double, double>> times;
          KrylovResult                           result;
          for (int repetition = -1; repetition < arguments.repetitions; ++repetition)
            {
              double     start     = now();
              const auto multigrid = std::make_shared<Multigrid<double>>(A, aggregation, options);
              const auto own       = multigrid->matrix_on_device();
              const auto M         = make_preconditioner(multigrid);
              const auto solver    = own.n_rows > 0 ? make_cg(own, cg, M) : make_cg(A, cg, M);
              if (backend == Backend::cuda)
                device::synchronize();
              const double set_up = now() - start;
              start               = now();
              std::fill(x.begin(), x.end(), 0.);
              if (backend == Backend::cuda) // with the copies of b and x
                {
                  const device::Array<double> device_x(x), device_b(b);
                  result = solver->solve(device_x.data(), device_b.data());
                  device::copy_to_host(x.data(), device_x.data(), x.size() * sizeof(double));
                }
              else
                result = solver->solve(x.data(), b.data());
              if (repetition >= 0)
                times.emplace_back(set_up, now() - start);
            }
          const std::vector<double> zero(b.size(), 0.);
          report(std::string("aggregation, V(") + std::to_string(steps) + "," + std::to_string(steps) + "), " + smoother + ", " + to_string(backend),
                 times,
                 result.n_iterations,
                 residual_norm(A, x.data(), b.data()) / residual_norm(A, zero.data(), b.data()));
        }
  }

  // ---- Trilinos ML

  HostMatrix distributed_matrix(const dealii::SparseMatrix<double> &A, MPI_Comm comm)
  {
    const unsigned int n_ranks = dealii::Utilities::MPI::n_mpi_processes(comm), rank = dealii::Utilities::MPI::this_mpi_process(comm);
    dealii::IndexSet   owned(A.m());
    owned.add_range(A.m() * rank / n_ranks, A.m() * (rank + 1) / n_ranks);
    dealii::DynamicSparsityPattern pattern(A.m(), A.m(), owned);
    for (const auto i : owned)
      for (auto entry = A.begin(i); entry != A.end(i); ++entry)
        pattern.add(i, entry->column());
    HostMatrix matrix;
    matrix.reinit(owned, owned, pattern, comm, false);
    for (const auto i : owned)
      for (auto entry = A.begin(i); entry != A.end(i); ++entry)
        matrix.set(i, entry->column(), entry->value());
    matrix.compress(dealii::VectorOperation::insert);
    return matrix;
  }

  void run_ml(const ElementMatrix &matrix, const Arguments &arguments, MPI_Comm comm)
  {
    const HostMatrix A      = distributed_matrix(matrix.A, comm);
    const bool       speaks = dealii::Utilities::MPI::this_mpi_process(comm) == 0;
    HostVector       x(A.locally_owned_range_indices(), comm), b(x), r(x);
    for (const auto i : A.locally_owned_range_indices())
      b(i) = right_hand_side(i);
    b.compress(dealii::VectorOperation::insert);
    for (const double threshold : {1e-4, 0.02})
      {
        dealii::TrilinosWrappers::PreconditionAMG::AdditionalData data;
        data.elliptic              = true;
        data.smoother_type         = "Chebyshev";
        data.smoother_sweeps       = 2;
        data.aggregation_threshold = threshold;
        if (matrix.n_components > 1)
          {
            data.constant_modes = matrix.constant_modes;
            for (auto &mode : data.constant_modes) // of the rank's own rows
              mode = std::vector<bool>(mode.begin() + A.local_range().first, mode.begin() + A.local_range().second);
          }
        std::vector<std::pair<double, double>> times;
        int                                    iterations = 0;
        for (int repetition = -1; repetition < arguments.repetitions; ++repetition)
          {
            x = 0.;
            MPI_Barrier(comm);
            const double                              start = now();
            dealii::TrilinosWrappers::PreconditionAMG amg;
            amg.initialize(A, data);
            MPI_Barrier(comm);
            const double          middle = now();
            dealii::SolverControl control(1000, tolerance * b.l2_norm());
            dealii::SolverCG<HostVector>(control).solve(A, x, b, amg);
            MPI_Barrier(comm);
            if (repetition >= 0)
              times.emplace_back(middle - start, now() - middle);
            iterations = static_cast<int>(control.last_step());
          }
        const double residual = A.residual(r, x, b) / b.l2_norm();
        char         name[80];
        std::snprintf(name, sizeof(name), "ML, Chebyshev, threshold %g", threshold);
        if (speaks)
          report(name, times, iterations, residual);
      }
  }
} // namespace

int main(int argc, char **argv)
{
  dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  Arguments                                arguments;
  CLI::App app("Smoothed aggregation against Trilinos ML on matrices of finite elements: time to a relative residual of 1e-10");
  app.add_flag("--ml", arguments.ml, "Trilinos ML, on all ranks");
  app.add_option("--backend", arguments.backend, "automatic, host or cuda")->check(CLI::IsMember({"automatic", "host", "cuda"}));
  app.add_option("--threads", arguments.n_threads, "of the host; 0: all")->check(CLI::NonNegativeNumber);
  app.add_option("--repetitions", arguments.repetitions, "of which the median is reported")->check(CLI::PositiveNumber);
  app.add_option("--pelt-mesh", arguments.pelt_mesh, "meshes/leopard_pelt.msh")->check(CLI::ExistingFile);
  app.add_option("--pelt", arguments.pelt, "refinements of the pelt's mesh; 0: not")->check(CLI::NonNegativeNumber);
  app.add_option("--adaptive", arguments.adaptive, "refinements of the square, at most; 0: not")->check(CLI::NonNegativeNumber);
  app.add_option("--elastic", arguments.elastic, "cells a side of the cube; 0: not")->check(CLI::NonNegativeNumber);
  CLI11_PARSE(app, argc, argv);
  const unsigned int n_ranks = dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  const bool         speaks  = dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0;
  if (!arguments.ml && n_ranks > 1)
    {
      if (speaks)
        std::fprintf(stderr, "algebraic_against_ml: without --ml this program uses a GPU or threads\n  expected: one rank, found %u\n", n_ranks);
      return 2;
    }
  const auto run = [&](int size, const auto &make) {
    if (size == 0)
      return;
    const std::unique_ptr<ElementMatrix> matrix = make(arguments);
    if (speaks)
      std::printf(
        "%s: %d rows, %d entries\n", matrix->name.c_str(), static_cast<int>(matrix->A.m()), static_cast<int>(matrix->A.n_nonzero_elements()));
    if (arguments.ml)
      run_ml(*matrix, arguments, MPI_COMM_WORLD);
    else
      run_ours(*matrix, arguments);
  };
  if (speaks)
    std::printf("%u rank(s)\n", n_ranks);
  run(arguments.pelt, pelt);
  run(arguments.adaptive, adaptive);
  run(arguments.elastic, elastic);
  return 0;
}
