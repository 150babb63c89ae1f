// SPDX-License-Identifier: Apache-2.0
#include "tau_scaling.h"

#include "../base/errors.h"
#include "../base/norms.h"
#include "../base/stopwatch.h"
#include "../base/thread_pool.h"
#include "../base/words.h"
#include "../matrix/crs_matrix.h"
#include "../matrix/eigenvalues.h"
#include "../matrix/matrix_entries.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace leopard
{
  namespace
  {
    constexpr double tolerance   = 1e-3;
    constexpr double margin      = 1e-2;  ///< of lambda_n, which is seen from inside the spectrum
    constexpr double at_rounding = 1e-10; ///< of lambda_n: a lambda_1 of this size may be zero

    [[noreturn]] void refuse(const std::string &what)
    {
      throw InvalidInput("tau scaling: " + what + "\n  expected: a symmetric positive definite matrix, or omega as a number");
    }

    /** D^-1/2 A D^-1/2 of all ranks' rows. */
    class SymmetricForm
    {
    public:
      /** Collective, and throws on all ranks. */
      SymmetricForm(const CrsMatrix<double> &A_, const Communication<double> &communication_, int n_threads)
        : A(A_)
        , communication(communication_)
        , pool(shared_thread_pool(n_threads))
        , root(diagonal_of(A, n_threads))
        , scaled(A.n_columns, 0.)
      {
        if (communication.max(spectrum::row_without_positive_diagonal(A, n_threads) >= 0 ? 1. : 0.) != 0.)
          refuse("a diagonal entry of the matrix is not positive");
        for (double &d : root)
          d = 1. / std::sqrt(d);
      }

      /** y = D^-1/2 A D^-1/2 x, of A.n_rows values each. Collective. */
      void multiply(const double *x, double *y)
      {
        for (int i = 0; i < A.n_rows; ++i)
          scaled[i] = root[i] * x[i];
        communication.update_ghosts(scaled.data(), MemorySpace::host);
        parallel_for(*pool, A.n_rows, 4096, [&](long begin, long end) {
          for (long i = begin; i < end; ++i)
            {
              double sum = 0.;
              for (int p = A.row_offsets[i]; p < A.row_offsets[i + 1]; ++p)
                sum += A.values[p] * scaled[A.columns[p]];
              y[i] = root[i] * sum;
            }
        });
      }

      /**
       * The entries within each rank are compared one by one; those between ranks by u^T M v = v^T M u for random u and
       * v. Collective.
       */
      bool is_symmetric(unsigned int rank)
      {
        if (communication.max(spectrum::find_asymmetry(A, pool->size()).found ? 1. : 0.) != 0.)
          return false;
        if (!communication.has_ghosts())
          return true;
        std::vector<double> u(A.n_rows), v(A.n_rows), Mu(A.n_rows), Mv(A.n_rows);
        std::mt19937_64     random(1000003UL + rank);
        for (std::vector<double> *vector : {&u, &v})
          std::generate(vector->begin(), vector->end(), [&] { return std::uniform_real_distribution<double>(-1., 1.)(random); });
        multiply(u.data(), Mu.data());
        multiply(v.data(), Mv.data());
        double difference = 0., u_u = 0., Mv_Mv = 0.;
        for (int i = 0; i < A.n_rows; ++i)
          {
            difference += u[i] * Mv[i] - v[i] * Mu[i];
            u_u += u[i] * u[i];
            Mv_Mv += Mv[i] * Mv[i];
          }
        const double size = std::sqrt(communication.sum(u_u) * communication.sum(Mv_Mv));
        return reached(std::abs(communication.sum(difference)), 1e-12 * size);
      }

    private:
      const CrsMatrix<double>          &A;
      const Communication<double>      &communication;
      const std::shared_ptr<ThreadPool> pool;
      std::vector<double>               root, scaled; ///< of the own rows 1 / sqrt(a_ii); D^-1/2 x with ghosts
    };
  } // namespace

  std::string TauEstimate::text() const
  {
    return "omega = tau = " + short_text(omega, 4) + ", of the eigenvalues " + (settled ? "" : "(at most) ") + short_text(eigenvalues.smallest, 4) +
           " to " + short_text(eigenvalues.largest, 4) + " of D^-1 A, estimated with " + std::to_string(n_products) + " products" +
           (out_of_time && !settled ? ", all there was time for: it may be another in the next run" : "");
  }

  TauEstimate estimate_tau(const CrsMatrix<double> &A, const Communication<double> &communication, const TauEstimateOptions &options)
  {
    SymmetricForm form(A, communication, options.n_threads);
    if (!form.is_symmetric(options.rank))
      refuse("the matrix is not symmetric");
    spectrum::SymmetricProduct product;
    product.n_rows    = A.n_rows;
    product.multiply  = [&](const double *x, double *y) { form.multiply(x, y); };
    product.sum       = [&](double value) { return communication.sum(value); };
    product.seed      = 1 + options.rank;
    product.n_threads = options.n_threads;

    TauEstimate     result;
    const Stopwatch stopwatch;
    int             n_done  = 0;
    const auto      is_over = [&] {
      constexpr int fewest = 40; // find lambda_n to about the margin
      if (++n_done >= fewest && options.max_seconds > 0.)
        result.out_of_time = communication.max(stopwatch.seconds() > options.max_seconds ? 1. : 0.) != 0.;
      return result.out_of_time;
    };
    const spectrum::Estimate found = spectrum::estimate_extreme(product, tolerance, at_rounding, std::max(1, options.max_products), is_over);

    result.n_products = static_cast<int>(found.n_products);
    result.settled    = found.settled;
    double smallest = found.eigenvalues.smallest, largest = found.eigenvalues.largest;
    if (!(std::isfinite(largest) && largest > 0. && smallest >= -at_rounding * largest))
      refuse("the eigenvalues of D^-1 A reach from " + short_text(smallest, 4) + " to " + short_text(largest, 4));
    result.eigenvalues = {std::max(smallest, 0.), largest * (1. + margin)};
    result.omega       = 2. / (result.eigenvalues.smallest + result.eigenvalues.largest);
    return result;
  }
} // namespace leopard
