// SPDX-License-Identifier: Apache-2.0
// Krylov methods of a matrix that threads of a process share out: on the host, and on one GPU or several.
#include "refinement_test.h"

#include <solvers/distributed/gpus/krylov_of_parts.h>
#include <solvers/distributed/gpus/team_communication.h>
#include <solvers/krylov/krylov_over_ranks.h>
#include <solvers/matrix/own_columns.h>
#include <solvers/triangular/incomplete_preconditioner.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace leopard
{
  namespace
  {
    /** So many parts; on GPUs on the first ones, one each. */
    PartsOptions parts_of(int n_parts)
    {
      PartsOptions parts;
      parts.n_parts = n_parts;
      return parts;
    }

    /** So many, but on GPUs no more than there are: parts have one each, as their kernels wait for one another. */
    int at_most(int n_parts, Backend backend)
    {
      return backend == Backend::cuda ? std::min(n_parts, device::n_devices()) : n_parts;
    }

    KrylovOptions options_for(Backend backend, double tolerance = 1e-10)
    {
      KrylovOptions options;
      options.backend   = backend;
      options.n_threads = 4;
      options.tolerance = tolerance;
      return options;
    }

    template <typename Number>
    std::unique_ptr<KrylovSolver<Number>> make_of_parts(const std::string                    &method,
                                                        const CrsMatrix<Number>              &A,
                                                        const KrylovOptions                  &options,
                                                        const PartsOptions                   &parts,
                                                        const MakePartPreconditioner<Number> &make)
    {
      if (method == "CG")
        return make_cg<Number>(A, CgOptions{options}, parts, make);
      return make_fgmres<Number>(A, FgmresOptions{options, 40}, parts, make);
    }

    /** One iteration of a relaxation, or incomplete factors: all symmetric maps of symmetric matrices. */
    template <typename Number>
    PartPreconditioner<Number> make_named(const std::string &name, const CrsMatrix<Number> &A, Backend backend)
    {
      if (name == "none")
        return {};
      if (name == "ilu" || name == "ic")
        {
          IncompleteOptions options;
          options.factors.kind                 = name == "ic" ? FactorKind::ic : FactorKind::ilu;
          options.solves.block_async.backend   = backend;
          options.solves.block_async.n_threads = 1;
          const auto factors                   = make_incomplete_preconditioner<Number>(A, options);
          return {factors, [factors](const Number *values) { factors->update_values(values); }};
        }
      BlockAsyncOptions blocks;
      blocks.schedule   = Schedule::synchronous;
      blocks.block_size = 64;
      blocks.n_threads  = 1;
      blocks.storage    = Storage::double_precision; // of values that may change
      MethodOptions options;
      options.backend                                      = backend;
      options.block_async                                  = &blocks;
      const std::shared_ptr<Relaxation<Number>> relaxation = find_method(name, as_preconditioner).make(A, options);
      return {make_preconditioner<Number>(relaxation, 1), [relaxation](const Number *values) { relaxation->update_values(values); }};
    }

    template <typename Number>
    MakePartPreconditioner<Number> named(const std::string &name, Backend backend)
    {
      return [=](const CrsMatrix<Number> &own, const RowPart & /*part*/, int /*rank*/) { return make_named<Number>(name, own, backend); };
    }

    /** What parts have together as a preconditioner of one process: that of each applied to its rows. */
    class BlockJacobi : public Preconditioner<double>
    {
    public:
      BlockJacobi(const CrsMatrix<double> &A, int n_parts, const std::string &name)
        : n(A.n_rows)
        , parts(row_parts(A, part_offsets(A, contiguous_blocks(n, 1), Vector(n_parts, 1.)), OtherRows::needed))
      {
        for (const RowPart &part : parts)
          of_parts.push_back(make_named<double>(name, own_columns(rows_of(A, part)), Backend::host).preconditioner);
      }
      std::string name() const override { return "block Jacobi"; }
      int         n_rows() const override { return n; }
      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return true; }
      bool        is_symmetric_map() const override { return of_parts[0] == nullptr || of_parts[0]->is_symmetric_map(); }
      bool        is_queued() const override { return false; }
      void        apply(double *z, const double *r) override
      {
        for (std::size_t p = 0; p < parts.size(); ++p)
          if (of_parts[p] == nullptr)
            std::copy_n(r + parts[p].begin, parts[p].n_rows(), z + parts[p].begin);
          else
            of_parts[p]->apply(z + parts[p].begin, r + parts[p].begin);
      }

    private:
      const int                                            n;
      const std::vector<RowPart>                           parts;
      std::vector<std::shared_ptr<Preconditioner<double>>> of_parts;
    };

    /** Not symmetric: neighbours in one direction weigh more. */
    CrsMatrix<double> flow_matrix(int n)
    {
      CrsMatrix<double> A = five_point_matrix(n, n, 0.1);
      for (int i = 0; i < A.n_rows; ++i)
        for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
          if (A.columns[p] > i)
            A.values[p] *= 0.3;
      return A;
    }

    class KrylovOfParts : public BackendTest
    {
    };

    /** As one process with the same preconditioner does; and the residual that is said is the true one. */
    TEST_P(KrylovOfParts, TheyDoWhatOneDoes)
    {
      const std::pair<std::string, CrsMatrix<double>> cases[] = {{"CG", five_point_matrix(31, 40, 0.02)}, {"FGMRES", flow_matrix(33)}};
      for (const auto &[method, A] : cases)
        for (const std::string name : {"none", "jacobi", "async", method == "CG" ? "ic" : "ilu"})
          for (int n_parts = 1; n_parts <= at_most(4, GetParam()); ++n_parts)
            {
              SCOPED_TRACE(method + " with " + name + ", " + std::to_string(n_parts) + " parts");
              const Vector b       = random_vector(A.n_rows, 3);
              const auto   one     = make_krylov(method, A, options_for(Backend::host), 40, std::make_shared<BlockJacobi>(A, n_parts, name));
              const auto   several = make_of_parts(method, A, options_for(GetParam()), parts_of(n_parts), named<double>(name, GetParam()));
              const Solved wanted = solved(*one, b), found = solved(*several, b);
              expect_converged(A, found, b, 1e-10);
              EXPECT_LE(std::abs(found.result.n_iterations - wanted.result.n_iterations), 1);
              EXPECT_LT(largest_difference(found.x, wanted.x), 1e-7);
              EXPECT_NEAR(found.result.relative_residual, relative_residual(A, found.x, b), 1e-13);
              const Solved again = solved(*several, b, found.x); // from the solution: nothing is left to do
              EXPECT_EQ(again.result.n_iterations, 0);
              EXPECT_NE(several->name().find(" on " + std::to_string(n_parts)), std::string::npos);
            }
    }

    TEST_P(KrylovOfParts, NumbersOfEachType)
    {
      const int n_parts = at_most(3, GetParam());
      for_each_number([n_parts](auto number) {
        using Number                 = decltype(number);
        const double            goal = std::is_same_v<Number, double> ? 1e-10 : 1e-5;
        const CrsMatrix<double> A    = random_dominant_matrix(3000, 9, 1.2, 5); // each part needs values of all others
        const Vector            b    = random_vector(A.n_rows, 4);
        const auto              parts =
          make_of_parts("FGMRES", rounded_to<Number>(A), options_for(GetParam(), goal), parts_of(n_parts), named<Number>("jacobi", GetParam()));
        const Solved found = solved(*parts, b);
        EXPECT_TRUE(found.result.converged) << to_string(found.result.reason);
        EXPECT_LE(relative_residual(A, found.x, b), 2. * goal);
      });
    }

    TEST_P(KrylovOfParts, SharesAndBlocks)
    {
      if (at_most(3, GetParam()) < 3)
        GTEST_SKIP() << "fewer than three GPUs";
      const CrsMatrix<double> A     = five_point_matrix(30, 30, 0.1);
      const Vector            b     = random_vector(A.n_rows, 4);
      PartsOptions            parts = parts_of(3);
      parts.shares                  = {6., 1., 3.};
      parts.block_offsets           = {0, 100, 250, 560, 600, 610, 900};
      std::vector<std::pair<int, int>> seen(3);
      const auto                       make = [&](const CrsMatrix<double> &own, const RowPart &part, int rank) {
        EXPECT_EQ(own.n_rows, part.n_rows());
        EXPECT_EQ(own.n_columns, part.n_rows());
        seen[rank] = {part.begin, part.end};
        EXPECT_EQ(block_offsets_of(part, parts.block_offsets).front(), 0);
        EXPECT_EQ(block_offsets_of(part, parts.block_offsets).back(), part.n_rows());
        return make_named<double>("jacobi", own, GetParam());
      };
      expect_converged(A, solved(*make_of_parts<double>("CG", A, options_for(GetParam()), parts, make), b), b, 1e-10);
      EXPECT_EQ(seen, (std::vector<std::pair<int, int>>{{0, 560}, {560, 610}, {610, 900}}));
    }

    /** Preconditioners take new values, too, and are not made anew. */
    TEST_P(KrylovOfParts, TakesNewValues)
    {
      const int n_parts = at_most(3, GetParam());
      for (const std::string method : {"CG", "FGMRES"})
        for (const std::string name : {"none", "jacobi", "async", "ic"})
          {
            SCOPED_TRACE(method + " with " + name);
            CrsMatrix<double> A = five_point_matrix(30, 30, 0.1);
            const Vector      b = random_vector(A.n_rows, 4);
            std::atomic<int>  n_made{0};
            const auto        make = [&, backend = GetParam()](const CrsMatrix<double> &own, const RowPart        &/*part*/, int /*rank*/) {
              ++n_made;
              return make_named<double>(name, own, backend);
            };
            KrylovOptions options  = options_for(GetParam());
            options.max_iterations = 100000;
            const auto several     = make_of_parts<double>(method, A, options, parts_of(n_parts), make);
            expect_converged(A, solved(*several, b), b, 1e-10);
            for (const double factor : {30., 1e-3})
              {
                scale_edges(A, [&](int i, int j) { return (i + j) % 3 == 0 ? factor : 1.; });
                several->update_values(A.values.data());
                const Solved found = solved(*several, b);
                expect_converged(A, found, b, 1e-10);
                const auto anew = make_of_parts<double>(method, A, options, parts_of(n_parts), named<double>(name, GetParam()));
                EXPECT_LE(std::abs(found.result.n_iterations - solved(*anew, b).result.n_iterations), 1);
              }
            EXPECT_EQ(n_made, n_parts);
          }
    }

    /** Values that one part cannot take are told, with its rows, and nothing is solved until others come. */
    TEST_P(KrylovOfParts, ValuesThatCannotBeTaken)
    {
      if (at_most(2, GetParam()) < 2)
        GTEST_SKIP() << "fewer than two GPUs";
      const CrsMatrix<double> A     = five_point_matrix(20, 20, 0.1);
      const Vector            b     = random_vector(A.n_rows, 4);
      const auto              parts = make_of_parts<double>("CG", A, options_for(GetParam()), parts_of(2), named<double>("jacobi", GetParam()));
      Vector                  without_diagonal = A.values;
      for (int p = A.row_offsets[399]; p < A.row_offsets[400]; ++p)
        if (A.columns[p] == 399)
          without_diagonal[p] = 0.;
      for (int time = 0; time < 2; ++time)
        {
          try
            {
              parts->update_values(without_diagonal.data());
              ADD_FAILURE() << "no error";
            }
          catch (const InvalidInput &error)
            {
              EXPECT_EQ(std::string(error.what()).find("rows 200 to 399, counted from the first of them: "), 0u) << error.what();
            }
          EXPECT_THROW(solved(*parts, b), Error);
          parts->update_values(A.values.data());
          expect_converged(A, solved(*parts, b), b, 1e-10);
        }
    }

    /** Of one solve; a clock that one of them looks at ends all of them. */
    TEST_P(KrylovOfParts, LimitsOfOneSolve)
    {
      const CrsMatrix<double> A = five_point_matrix(40, 40, 0.);
      const Vector            b = random_vector(A.n_rows, 4);
      for (const std::string method : {"CG", "FGMRES"})
        for (const int n_parts : {1, at_most(3, GetParam())})
          {
            SCOPED_TRACE(method + ", " + std::to_string(n_parts) + " parts");
            const auto parts = make_of_parts<double>(method, A, options_for(GetParam()), parts_of(n_parts), named<double>("jacobi", GetParam()));
            const auto with  = [&](double tolerance, int max_iterations, double max_seconds) {
              Solved       found{{}, Vector(b.size(), 0.)};
              KrylovLimits limits;
              limits.tolerance      = tolerance;
              limits.max_iterations = max_iterations;
              limits.max_seconds    = max_seconds;
              found.result          = parts->solve(found.x.data(), b.data(), limits);
              EXPECT_NEAR(found.result.relative_residual, relative_residual(A, found.x, b), 1e-12);
              return found.result;
            };
            EXPECT_EQ(with(1e-10, 7, 0.).reason, KrylovReason::maximum_iterations);
            EXPECT_EQ(with(1e-10, 7, 0.).n_iterations, 7);
            const KrylovResult rough = with(1e-2, 1000, 100.);
            EXPECT_TRUE(rough.converged);
            EXPECT_LT(rough.n_iterations, with(1e-10, 1000, 100.).n_iterations);
            const KrylovResult late = with(1e-10, 1000, 1e-9);
            EXPECT_EQ(late.reason, KrylovReason::time_limit);
            EXPECT_EQ(late.n_iterations, 1);
            EXPECT_THROW(with(std::nan(""), 1000, 0.), InvalidInput);
            EXPECT_TRUE(with(1e-10, 1000, 0.).converged);
            for (int k = 1; k <= 100; ++k) // it is over for one before it is for the others: none goes on alone
              {
                const KrylovReason reason = with(1e-10, 1000, 1e-5 * k).reason;
                EXPECT_TRUE(reason == KrylovReason::time_limit || reason == KrylovReason::converged) << to_string(reason);
              }
          }
    }

    /** All ranks end for the reason that one of them has. */
    TEST_P(KrylovOfParts, WhatIsWrongInOnePartEndsAll)
    {
      const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
      for (const int n_parts : {1, at_most(2, GetParam()), at_most(4, GetParam())})
        {
          SCOPED_TRACE(n_parts);
          Vector b = random_vector(A.n_rows, 4);
          for (const std::string method : {"CG", "FGMRES"})
            for (const std::size_t row : {std::size_t(0), b.size() - 1})
              for (const double wrong : {std::nan(""), HUGE_VAL})
                {
                  Vector bad = b;
                  bad[row]   = wrong;
                  const Solved found =
                    solved(*make_of_parts(method, A, options_for(GetParam()), parts_of(n_parts), named<double>("jacobi", GetParam())), bad);
                  EXPECT_EQ(found.result.reason, KrylovReason::not_finite) << method << " " << row << " " << wrong;
                  EXPECT_FALSE(found.result.converged);
                  EXPECT_EQ(found.x, Vector(b.size(), 0.)); // that of the steps before
                }
          CrsMatrix<double> indefinite = A; // the last row's part alone
          indefinite.values.back() *= -1.;
          const Solved with_cg  = solved(*make_of_parts<double>("CG", indefinite, options_for(GetParam()), parts_of(n_parts), nullptr), b);
          const Solved with_one = solved(*make_krylov("CG", indefinite, options_for(Backend::host), 40), b);
          EXPECT_EQ(with_cg.result.reason, KrylovReason::indefinite);
          EXPECT_LE(std::abs(with_cg.result.n_iterations - with_one.result.n_iterations), 1);
          expect_converged(
            indefinite, solved(*make_of_parts<double>("FGMRES", indefinite, options_for(GetParam()), parts_of(n_parts), nullptr), b), b, 1e-10);
          // a row of zeros in the first part: solvable where b is zero there, else said not to be
          CrsMatrix<double> singular = five_point_matrix(20, 20, 0.1);
          for (int i = 0; i < singular.n_rows; ++i)
            for (int p = singular.row_offsets[i]; p < singular.row_offsets[i + 1]; ++p)
              if (i == 0 || singular.columns[p] == 0)
                singular.values[p] = 0.;
          Vector in_range     = b;
          in_range[0]         = 0.;
          const auto of_zeros = make_of_parts<double>("FGMRES", singular, options_for(GetParam()), parts_of(n_parts), nullptr);
          expect_converged(singular, solved(*of_zeros, in_range), in_range, 1e-10);
          EXPECT_FALSE(solved(*of_zeros, b).result.converged);
        }
    }

    /** What is thrown while making one of them, for all to be ended by. */
    TEST_P(KrylovOfParts, AnErrorOfOneThreadIsThrownOnce)
    {
      if (at_most(3, GetParam()) < 3)
        GTEST_SKIP() << "fewer than three GPUs";
      const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
      for (int failing = 0; failing < 3; ++failing)
        {
          const auto make = [=](const CrsMatrix<double> &own, const RowPart & /*part*/, int rank) {
            if (rank == failing)
              throw DeviceError("GPU " + std::to_string(rank) + " has no memory");
            return make_named<double>("jacobi", own, GetParam());
          };
          try
            {
              make_of_parts<double>("CG", A, options_for(GetParam()), parts_of(3), make);
              ADD_FAILURE() << "no error";
            }
          catch (const DeviceError &error)
            {
              EXPECT_EQ(std::string(error.what()), "GPU " + std::to_string(failing) + " has no memory");
            }
        }
      CrsMatrix<double> without_diagonal = A;
      for (int p = A.row_offsets[399]; p < A.row_offsets[400]; ++p)
        if (A.columns[p] == 399)
          without_diagonal.values[p] = 0.;
      for (const std::string name : {"jacobi", "async"})
        try
          {
            make_of_parts<double>("FGMRES", without_diagonal, options_for(GetParam()), parts_of(2), named<double>(name, GetParam()));
            ADD_FAILURE() << "no error";
          }
        catch (const InvalidInput &error)
          {
            EXPECT_EQ(std::string(error.what()).find("rows 200 to 399, counted from the first of them: "), 0u) << error.what();
            EXPECT_NE(std::string(error.what()).find("199"), std::string::npos) << error.what();
          }
    }

    TEST_P(KrylovOfParts, RefusesWhatItCannotDo)
    {
      if (at_most(2, GetParam()) < 2)
        GTEST_SKIP() << "fewer than two GPUs";
      const CrsMatrix<double> A = five_point_matrix(5, 5, 0.1);
      const auto refuses        = [&](const CrsMatrix<double> &matrix, KrylovOptions options, const PartsOptions &parts, const std::string &word) {
        options.backend = GetParam();
        for (const std::string method : {"CG", "FGMRES"})
          try
            {
              make_of_parts<double>(method, matrix, options, parts, nullptr);
              ADD_FAILURE() << word << " is taken";
            }
          catch (const InvalidInput &error)
            {
              EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
            }
      };
      const auto with = [](auto object, const auto &change) {
        change(object);
        return object;
      };
      const PartsOptions two = parts_of(2);
      refuses(A, KrylovOptions(), with(two, [](auto &p) { p.n_parts = 0; }), "n_parts is 0");
      refuses(A, KrylovOptions(), with(two, [](auto &p) { p.devices = {0}; }), "devices is a list of 1");
      refuses(A, KrylovOptions(), with(two, [](auto &p) { p.devices = {0, -1}; }), "devices is a list with -1");
      refuses(A, KrylovOptions(), with(two, [](auto &p) { p.shares = {1., 1., 1.}; }), "shares is a list of 3");
      refuses(A, KrylovOptions(), with(two, [](auto &p) { p.shares = {1., NAN}; }), "the share of a GPU is nan");
      refuses(A, KrylovOptions(), with(two, [](auto &p) { p.block_offsets = {0, 10, 20}; }), "block_offsets end with 20");
      refuses(A, KrylovOptions(), with(two, [](auto &p) { p.block_offsets = {0, 25}; }), "1 blocks is to be shared out to 2");
      refuses(A, with(KrylovOptions(), [](auto &o) { o.max_seconds = NAN; }), two, "max_seconds is nan");
      refuses(A, with(KrylovOptions(), [](auto &o) { o.tolerance = NAN; }), two, "tolerance is nan");
      refuses(with(A, [](auto &m) { m.n_columns = 30; }), KrylovOptions(), two, "30 columns");
      refuses(with(A, [](auto &m) { m.values[3] = NAN; }), KrylovOptions(), two, "");
      refuses(CrsMatrix<double>(), KrylovOptions(), two, "0 blocks");
    }

    TEST_P(KrylovOfParts, CorrectsInMixedPrecision)
    {
      const int                            n_parts = at_most(3, GetParam());
      const CrsMatrix<double>              A       = five_point_matrix(40, 40, 0.01);
      const Vector                         b       = random_vector(A.n_rows, 4);
      const ScaledMatrix<float>            low     = scaled_to<float>(A);
      std::shared_ptr<KrylovSolver<float>> parts =
        make_of_parts<float>("CG", low.matrix, options_for(GetParam(), 1e-4), parts_of(n_parts), named<float>("ic", GetParam()));
      Refinement<float> refinement(make_outer_system<float>(A, low.scale, Backend::host, 1), make_inner_solver(parts), RefinementOptions());
      const Refined     found = refined(refinement, b);
      EXPECT_TRUE(found.result.converged()) << to_string(found.result.reason);
      EXPECT_LE(relative_residual(A, found.x, b), 1.01e-10);
    }

    INSTANTIATE_TEST_SUITE_P(Backends, KrylovOfParts, testing::Values(Backend::host, Backend::cuda), backend_name);

    /** z = r; its n-th call throws. */
    class Throwing : public Preconditioner<double>
    {
    public:
      Throwing(int n_, int n_calls_)
        : n(n_)
        , n_calls(n_calls_)
      {
      }
      std::string name() const override { return "throwing"; }
      int         n_rows() const override { return n; }
      MemorySpace memory_space() const override { return MemorySpace::host; }
      bool        is_fixed_linear_map() const override { return true; }
      bool        is_symmetric_map() const override { return true; }
      bool        is_queued() const override { return false; }
      void        apply(double *z, const double *r) override
      {
        if (--n_calls == 0)
          throw std::runtime_error("thrown in a solve");
        std::copy_n(r, n, z);
      }

    private:
      const int n;
      int       n_calls;
    };

    TEST(KrylovOfPartsOnHost, AnErrorInASolveEndsItAndTheNextOneIsAsGood)
    {
      const CrsMatrix<double> A = five_point_matrix(20, 20, 0.1);
      const Vector            b = random_vector(A.n_rows, 4);
      for (const std::string method : {"CG", "FGMRES"})
        for (int failing = 0; failing < 3; ++failing)
          {
            const auto make = [=](const CrsMatrix<double> &own, const RowPart & /*part*/, int rank) {
              return PartPreconditioner<double>{std::make_shared<Throwing>(own.n_rows, rank == failing ? 5 : -1), nullptr};
            };
            const auto parts = make_of_parts<double>(method, A, options_for(Backend::host), parts_of(3), make);
            try
              {
                solved(*parts, b);
                ADD_FAILURE() << "no error";
              }
            catch (const std::runtime_error &error)
              {
                EXPECT_STREQ(error.what(), "thrown in a solve");
              }
            expect_converged(A, solved(*parts, b), b, 1e-10);
          }
    }

    /** Kernels of two parts on one GPU could wait for ever for one another: before anything is made. */
    TEST(KrylovOfPartsOnHost, AGpuNamedTwiceIsRefused)
    {
      const CrsMatrix<double> A      = five_point_matrix(10, 10, 0.1);
      PartsOptions            shared = parts_of(3);
      shared.devices                 = {1, 0, 1};
      for (const std::string method : {"CG", "FGMRES"})
        {
          try
            {
              make_of_parts<double>(method, A, options_for(Backend::cuda), shared, nullptr);
              ADD_FAILURE() << "no error";
            }
          catch (const InvalidInput &error)
            {
              EXPECT_NE(std::string(error.what()).find("devices is a list that names GPU 1 more than once"), std::string::npos) << error.what();
            }
          const Vector b = random_vector(A.n_rows, 4); // host threads have no GPU
          expect_converged(A, solved(*make_of_parts<double>(method, A, options_for(Backend::host), shared, nullptr), b), b, 1e-10);
        }
    }

    TEST(KrylovOfPartsOnHost, WithoutAGpuSaysSo)
    {
      if (device::n_devices() > 0)
        GTEST_SKIP() << "a GPU here";
      EXPECT_THROW(make_of_parts<double>("CG", five_point_matrix(10, 10, 0.), options_for(Backend::cuda), parts_of(2), nullptr), DeviceError);
    }

    /** Of a rank alone, whatever the machine has. */
    TEST(KrylovOverRanks, RefusesWhatItCannotDo)
    {
      const CrsMatrix<double> A       = five_point_matrix(5, 5, 0.1);
      const auto              one     = std::make_shared<const Communication<double>>();
      const auto              refusal = [&](const CrsMatrix<double> &matrix, const KrylovOptions &options, const Preconditions &M) -> std::string {
        std::string found;
        for (const bool is_cg : {true, false})
          try
            {
              if (is_cg)
                make_cg<double>(matrix, CgOptions{options}, M, one);
              else
                make_fgmres<double>(matrix, FgmresOptions{options}, M, one);
            }
          catch (const InvalidInput &error)
            {
              found += error.what();
            }
        return found;
      };
      const KrylovOptions host = options_for(Backend::host), cuda = options_for(Backend::cuda);
      EXPECT_EQ(refusal(A, host, nullptr), "");
      EXPECT_NE(refusal(A, host, std::make_shared<Throwing>(7, -1)).find("has 7 rows"), std::string::npos);
      EXPECT_NE(refusal(A, cuda, std::make_shared<Throwing>(25, -1)).find("throwing is on the host"), std::string::npos);
      EXPECT_NE(refusal(A, cuda, nullptr).find("not put together by kernels"), std::string::npos);
      CrsMatrix<double> nothing;
      nothing.row_offsets = {0};
      EXPECT_NE(refusal(nothing, cuda, nullptr).find("no rows"), std::string::npos);
    }

    TEST(TeamCommunication, GhostsAndSumsAreThoseOfAll)
    {
      const CrsMatrix<double>    A     = random_dominant_matrix(500, 7, 1.5, 3);
      const std::vector<RowPart> parts = row_parts(A, {0, 100, 110, 500}, OtherRows::needed);
      const Vector               x     = random_vector(A.n_rows, 1);
      DeviceTeam                 team(3, [](int) {});
      std::vector<Vector>        sums(3);
      std::atomic<int>           n_right{0}, n_refused{0};
      team.run([&](int rank) {
        const TeamCommunication<double> communication(team, parts, rank, MemorySpace::host);
        const RowPart                  &part = parts[rank];
        for (int call = 1; call <= 100; ++call)
          {
            Vector v(part.n_rows() + part.ghosts.size(), NAN);
            for (int i = 0; i < part.n_rows(); ++i)
              v[i] = call * x[part.begin + i];
            communication.update_ghosts(v.data(), MemorySpace::host);
            bool right = true;
            for (std::size_t g = 0; g < part.ghosts.size(); ++g)
              right = right && v[part.n_rows() + g] == call * x[part.ghosts[g]];
            n_right += right ? 1 : 0;
          }
        sums[rank] = {communication.sum(rank == 1 ? 1e16 : 1.), communication.max(-1. - rank)};
        try
          {
            communication.update_ghosts(nullptr, MemorySpace::device);
          }
        catch (const InvalidInput &)
          {
            ++n_refused;
          }
        team.wait();
      });
      EXPECT_EQ(n_right, 300);
      EXPECT_EQ(n_refused, 3);
      for (const Vector &of_rank : sums)
        EXPECT_EQ(of_rank, (Vector{(0. + 1. + 1e16) + 1., -1.}));
    }
  } // namespace
} // namespace leopard
