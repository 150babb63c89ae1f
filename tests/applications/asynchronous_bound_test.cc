// SPDX-License-Identifier: Apache-2.0
#include <applications/discretization/transport_terms.h>
#include <applications/nonlinear/implicit_system.h>
#include <applications/run/parameters.h>
#include <solvers/matrix/analysis.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace leopard
{
  namespace
  {
    /** The matrices of a parameter file's problem, at its initial values. */
    struct BoundCase
    {
      explicit BoundCase(const std::string &settings)
      {
        const auto file = std::filesystem::temp_directory_path() / ("leopard_bound_" + std::to_string(::getpid()) + ".prm");
        std::ofstream(file) << "set Problem = turing\nsubsection Turing\n set gamma = 300\n set Initial value u = 0.9 + 0.3*cos(pi*x)*cos(2*pi*y)\n"
                               " set Initial value v = 0.9 - 0.2*cos(pi*x)\nend\n"
                            << settings;
        parameters = std::make_unique<Parameters>(file.string(), std::vector<std::string>(), MPI_COMM_WORLD);
        std::filesystem::remove(file);
        discretization = std::make_unique<Discretization<2>>(parameters->mesh, parameters->discretization, *parameters->problem, MPI_COMM_WORLD);
        discretization->triangulation.refine_global(parameters->mesh.global_refinements);
        discretization->distribute_unknowns();
        discretization->interpolate_initial_values(u);
        discretization->assemble(system, 0.);
        implicit = std::make_unique<ImplicitSystem>(system, *parameters->problem);
        if (parameters->problem->transport() == nullptr)
          return;
        transport = discretization->make_transport_terms();
        implicit->set_transport(*transport);
      }

      /** max_i sum_{j != i} |J_ij| / J_ii for the mass factor a, from the matrix itself. */
      double dominance(double a)
      {
        implicit->set_mass_factor(a);
        implicit->linearize(u);
        const CrsMatrix<double> matrix = local_matrix(implicit->jacobian()).matrix;
        double                  worst  = 0.;
        for (int row = 0; row < matrix.n_rows; ++row)
          {
            double diagonal = 0., rest = 0.;
            for (int p = matrix.row_offsets[row]; p < matrix.row_offsets[row + 1]; ++p)
              (matrix.columns[p] == row ? diagonal : rest) += matrix.columns[p] == row ? matrix.values[p] : std::abs(matrix.values[p]);
            worst = std::max(worst, diagonal > 0. ? rest / diagonal : std::numeric_limits<double>::infinity());
          }
        return worst;
      }

      std::unique_ptr<Parameters>        parameters;
      std::unique_ptr<Discretization<2>> discretization;
      SemiDiscreteSystem                 system;
      std::unique_ptr<TransportTerms>    transport; ///< null if the problem has none
      std::unique_ptr<ImplicitSystem>    implicit;
      HostVector                         u;
    };

    const std::vector<std::string> discretizations = {
      "subsection Discretization\n set Method = finite differences\nend\nsubsection Mesh\n set Global refinements = 4\nend\n",
      "subsection Mesh\n set Global refinements = 4\nend\n",
      "subsection Mesh\n set Domain = ball\n set Global refinements = 2\nend\n", // cells that are no rectangles: positive entries off the diagonal
      "subsection Discretization\n set Degree = 2\nend\nsubsection Mesh\n set Global refinements = 3\nend\n"};

    TEST(AsynchronousBound, IsWhereTheRowsBecomeDominant)
    {
      for (const std::string &settings : discretizations)
        {
          BoundCase    c(settings);
          const double a = c.implicit->dominant_mass_factor(c.u);
          ASSERT_GT(a, 0.);
          EXPECT_LT(c.dominance(1.0001 * a), 1.) << settings;
          EXPECT_GE(c.dominance(0.9999 * a), 1.) << settings;
        }
    }

    /** Fails if the sums are of another L: of the one before the step size changed, or of J. */
    TEST(ImplicitSystem, RoundingIsThatOfL)
    {
      for (const std::string &settings : discretizations)
        {
          BoundCase     c(settings);
          const double *k = local_values(c.system.stiffness), *m = local_values(c.system.mass);
          for (const double a : {0., 1e4, 10.})
            {
              c.dominance(a);
              const CrsMatrix<double> pattern = local_matrix(c.system.stiffness).matrix;
              double                  squares = 0.;
              for (int i = 0; i < pattern.n_rows; ++i)
                {
                  double sum = 0.;
                  for (int p = pattern.row_offsets[i]; p < pattern.row_offsets[i + 1]; ++p)
                    sum += std::abs(k[p] + a * m[p]);
                  if (c.system.lumped_mass.begin()[i] != 0.)
                    squares += std::pow(sum * c.u.begin()[i], 2.);
                }
              const double expected = std::numeric_limits<double>::epsilon() * std::sqrt(squares);
              EXPECT_NEAR(c.implicit->rounding(c.u) / expected, 1., 1e-12) << settings << a;
            }
        }
    }

    const std::string transport_entries =
      "subsection Turing\n set Cross-diffusion u = v: -0.4*u*(1 + x), u: 0.2*v^2\n set Cross-diffusion v = u: 0.3*v + t\n"
      " set Advection u = 4*y, 1 + x\n set Advection v = {}\nend\n";

    std::string with_transport(const std::string &advection_of_v)
    {
      std::string text = transport_entries;
      return text.replace(text.find("{}"), 2, advection_of_v);
    }

    TEST(AsynchronousBound, HasTransportInIt)
    {
      for (const std::string &settings : discretizations)
        {
          BoundCase    c(settings + with_transport("u, 30"));
          const double a = c.implicit->dominant_mass_factor(c.u);
          EXPECT_GT(std::abs(a / BoundCase(settings).implicit->dominant_mass_factor(c.u) - 1.), 1e-3) << settings;
          EXPECT_LT(c.dominance(1.0001 * a), 1.) << settings;
          EXPECT_GE(c.dominance(0.9999 * a), 1.) << settings;
        }
    }

    TEST(TransportTerms, DerivativeIsThatOfTheRatesAndMassIsConserved)
    {
      std::vector<std::string> all = discretizations;
      all.push_back(discretizations[1] + "subsection Mesh\n set Periodic = x, y\nend\n");
      all.push_back(discretizations[0] + "subsection Turing\n set Boundary values u = 0: 1 + y\nend\n");
      for (const std::string &settings : all)
        {
          // of a velocity that depends on species the added diffusion is not differentiated; a higher degree has none
          BoundCase    c(settings + with_transport(settings.find("Degree = 2") == std::string::npos ? "1000*y, x" : "u, v"));
          HostVector   direction(c.u), there(c.u), high(c.u), low(c.u), product(c.u);
          const double epsilon = 1e-6, t = 0.2, length = 1.3;
          for (unsigned int i = 0; i < direction.locally_owned_size(); ++i)
            direction.begin()[i] = c.system.lumped_mass.begin()[i] == 0. ? 0. : std::sin(7. * i) + 0.5;
          HostMatrix derivative;
          derivative.reinit(c.system.stiffness);
          ASSERT_TRUE(c.transport->derivative(c.u, t, length, derivative));
          derivative.vmult(product, direction);
          for (const double sign : {1., -1.})
            {
              there = c.u;
              there.add(sign * epsilon, direction);
              c.transport->rates(there, t, length, sign > 0. ? high : low);
            }
          high.add(-1., low);
          high *= 0.5 / epsilon;
          low = high;
          low.add(-1., product);
          EXPECT_GT(product.linfty_norm(), 0.1) << settings;
          EXPECT_LT(low.linfty_norm(), 1e-7 * product.linfty_norm()) << settings;
          if (settings.find("Boundary values") != std::string::npos)
            continue;
          double sum = 0.;
          c.transport->rates(c.u, t, length, high);
          for (const double rate : high)
            sum += rate;
          EXPECT_LT(std::abs(sum), 1e-12 * high.l1_norm()) << settings;
        }
    }

    TEST(AsynchronousBound, EveryScheduleConvergesWithinIt)
    {
      for (const std::string &settings : discretizations)
        {
          BoundCase c(settings);
          c.dominance(1.01 * c.implicit->dominant_mass_factor(c.u));
          EXPECT_LT(estimate_spectral_radius_abs(local_matrix(c.implicit->jacobian()).matrix), 1.) << settings;
        }
      // and it is not far from the truth: with a much larger step the radius is above 1
      BoundCase c(discretizations[0]);
      c.dominance(0.5 * c.implicit->dominant_mass_factor(c.u));
      EXPECT_GT(estimate_spectral_radius_abs(local_matrix(c.implicit->jacobian()).matrix), 1.);
    }

    TEST(AsynchronousBound, OfTheFivePointStencilIsThatOfTheKinetics)
    {
      BoundCase c(discretizations[0]);
      double    expected = 0.;
      for (unsigned int i = 0; i < c.u.locally_owned_size(); i += 2)
        {
          const double u = c.u.begin()[i], v = c.u.begin()[i + 1];
          expected = std::max({expected, 300. * (-1. + 2. * u * v + u * u), 300. * (-u * u + 2. * u * v)});
        }
      EXPECT_NEAR(c.implicit->dominant_mass_factor(c.u), expected, 1e-6 * expected);
    }

    TEST(AsynchronousBound, ConsistentMassHasNone)
    {
      BoundCase c("subsection Discretization\n set Mass matrix = consistent\nend\nsubsection Mesh\n set Global refinements = 3\nend\n");
      EXPECT_TRUE(std::isinf(c.implicit->dominant_mass_factor(c.u)));
    }

    TEST(AsynchronousBound, WithoutImplicitReactionEveryStepWillDo)
    {
      BoundCase            c(discretizations[0]);
      const ImplicitSystem explicit_reaction(c.system, *c.parameters->problem, ReactionTreatment::explicit_);
      EXPECT_EQ(explicit_reaction.dominant_mass_factor(c.u), 0.);
    }
  } // namespace
} // namespace leopard
