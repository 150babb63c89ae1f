// SPDX-License-Identifier: Apache-2.0
#include "transport_terms.h"

#include "discretization.h"
#include "streamline_diffusion.h"

#include <applications/problems/diffusion_matrix.h>
#include <applications/problems/field_transport.h>

#include <deal.II/base/mpi.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>

#include <Epetra_CrsMatrix.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace leopard
{
  using namespace dealii;

  namespace
  {
    constexpr unsigned int points_at_once = 256; ///< at which coefficients are evaluated in one call; the results stay in the cache

    template <int spacedim>
    using Direction = std::array<double, spacedim>;

    /** The cells of this rank, ready for sums over quadrature points. */
    template <int spacedim>
    struct CellsOfRank
    {
      /** What cells that differ by a translation have in common. */
      struct Shape
      {
        std::vector<double> gradients; ///< of shape function i at point q: [q][i][direction]
        std::vector<double> weights;   ///< of the points
      };

      unsigned int              n_nodes = 0, n_points = 0; ///< of a cell
      std::vector<double>       shape_values;              ///< [q][i], those of all cells
      std::vector<Shape>        shapes;
      std::vector<unsigned int> shape_of; ///< each cell

      std::vector<types::global_dof_index> dofs;   ///< scalar, n_nodes a cell
      std::vector<double>                  points; ///< [cell][q][direction]

      std::size_t size() const { return shape_of.size(); }

      /** Whether a cell's shape is, up to rounding, the one before it. */
      bool is_repeated(const Shape &shape) const
      {
        if (shapes.empty())
          return false;
        const auto close = [](const std::vector<double> &a, const std::vector<double> &b) {
          double largest = 0., difference = 0.;
          for (std::size_t i = 0; i < a.size(); ++i)
            {
              largest    = std::max(largest, std::abs(a[i]));
              difference = std::max(difference, std::abs(a[i] - b[i]));
            }
          return difference <= 1e-11 * largest;
        };
        return close(shape.gradients, shapes.back().gradients) && close(shape.weights, shapes.back().weights);
      }

      template <int dim>
      CellsOfRank(const Mapping<dim, spacedim> &mapping, const DoFHandler<dim, spacedim> &dof_handler, const Quadrature<dim> &quadrature)
      {
        FEValues<dim, spacedim> values(
          mapping, dof_handler.get_fe(), quadrature, update_values | update_gradients | update_quadrature_points | update_JxW_values);
        n_nodes  = values.dofs_per_cell;
        n_points = values.n_quadrature_points;
        std::vector<types::global_dof_index> of_cell(n_nodes);
        for (const auto &cell : dof_handler.active_cell_iterators())
          if (cell->is_locally_owned())
            {
              values.reinit(cell);
              cell->get_dof_indices(of_cell);
              dofs.insert(dofs.end(), of_cell.begin(), of_cell.end());
              Shape shape;
              for (unsigned int q = 0; q < n_points; ++q)
                {
                  shape.weights.push_back(values.JxW(q));
                  for (unsigned int e = 0; e < spacedim; ++e)
                    points.push_back(values.quadrature_point(q)[e]);
                  for (unsigned int i = 0; i < n_nodes; ++i)
                    {
                      if (shape_of.empty())
                        shape_values.push_back(values.shape_value(i, q));
                      for (unsigned int e = 0; e < spacedim; ++e)
                        shape.gradients.push_back(values.shape_grad(i, q)[e]);
                    }
                }
              if (!is_repeated(shape))
                shapes.push_back(shape);
              shape_of.push_back(shapes.size() - 1);
            }
      }
    };

    template <int spacedim>
    class TransportOnMesh : public TransportTerms
    {
    public:
      TransportOnMesh(CellsOfRank<spacedim>          &&cells_,
                      const AffineConstraints<double> &constraints_,
                      const IndexSet                  &owned_unknowns,
                      const IndexSet                  &relevant_unknowns,
                      const Problem                   &problem,
                      bool                             stabilizes,
                      bool                             has_constraints_,
                      MPI_Comm                         comm_)
        : cells(std::move(cells_))
        , constraints(constraints_)
        , transport(*problem.transport())
        , diffusion_matrix(problem)
        , n(problem.fields().size())
        , comm(comm_)
        , has_constraints(has_constraints_)
      {
        full.reinit(owned_unknowns, comm);
        ghosted.reinit(owned_unknowns, relevant_unknowns, comm);
        for (unsigned int c = 0; c < n; ++c)
          for (unsigned int d = 0; d < n; ++d)
            if (transport.couples(c, d))
              coupled.emplace_back(c, d);
        number_nodes(owned_unknowns, relevant_unknowns);
        if (stabilizes)
          for (const FieldTransport::AdvectionTerm &term : transport.advection_terms())
            own_diffusion.push_back(diffusion_of(problem, term.field));
      }

      void rates(const HostVector &u, double t, double length, HostVector &r) override
      {
        take(u);
        r                                               = 0.;
        std::size_t                          not_finite = cells.size();
        const unsigned int                   n_unknowns = cells.n_nodes * n;
        dealii::Vector<double>               local(n_unknowns);
        std::vector<types::global_dof_index> unknowns(n_unknowns);
        for_cells(t, false, [&](std::size_t cell, const double *fields, const double *values, const double * /*derivatives*/) {
          local = 0.;
          for (unsigned int q = 0; q < cells.n_points; ++q)
            add_rates(cell, q, fields + q * n, values + q * n_coefficients(), length, local.begin());
          if (!std::all_of(local.begin(), local.end(), [](double x) { return std::isfinite(x); }))
            not_finite = std::min(not_finite, cell);
          else if (is_plain[cell])
            for (unsigned int k = 0; k < n_unknowns; ++k)
              r.begin()[own_node[nodes[cell * cells.n_nodes + k / n]] * n + k % n] += local(k);
          else
            {
              unknowns_of(cell, unknowns);
              constraints.distribute_local_to_global(local, unknowns, r);
            }
        });
        r.compress(VectorOperation::add);
        constraints.set_zero(r);
        if (not_finite < cells.size())
          spoil(not_finite, r);
      }

      bool derivative(const HostVector &u, double t, double length, HostMatrix &T) override
      {
        take(u);
        find_columns(T);
        double *const of_T = local_values(T);
        std::fill_n(of_T, T.trilinos_matrix().NumMyNonzeros(), 0.);
        bool                                 finite     = true;
        const unsigned int                   n_unknowns = cells.n_nodes * n;
        FullMatrix<double>                   local(n_unknowns);
        std::vector<types::global_dof_index> unknowns(n_unknowns);
        for_cells(t, true, [&](std::size_t cell, const double *fields, const double *values, const double *derivatives) {
          local = 0.;
          for (unsigned int q = 0; q < cells.n_points; ++q)
            add_derivatives(cell, q, fields + q * n, values + q * n_coefficients(), derivatives + q * n_coefficients() * n, length, &local(0, 0));
          if (!std::all_of(&local(0, 0), &local(0, 0) + local.n_elements(), [](double x) { return std::isfinite(x); }))
            finite = false;
          else if (is_plain[cell])
            add_plain(cell, local, T, of_T);
          else
            {
              unknowns_of(cell, unknowns);
              constraints.distribute_local_to_global(local, unknowns, T);
            }
        });
        T.compress(VectorOperation::add);
        clear_constrained(T);
        return Utilities::MPI::min(finite ? 1 : 0, comm) == 1;
      }

      std::string complaint(const HostVector &u, double t) override
      {
        take(u);
        std::string text;
        for_batches([&](std::size_t first, std::size_t count) {
          fields_at_points(first, count);
          if (text.empty())
            text = transport.complaint(count * cells.n_points, at_points.data(), places(first, t));
        });
        for (const std::string &of_rank : Utilities::MPI::all_gather(comm, text))
          if (!of_rank.empty())
            return of_rank;
        return "";
      }

      TransportFindings findings(const HostVector &u, double t, double length) override
      {
        take(u);
        TransportFindings found;
        for_cells(t, false, [&](std::size_t cell, const double *fields, const double *values, const double * /*derivatives*/) {
          for (unsigned int q = 0; q < cells.n_points; ++q)
            {
              const double *const coefficients = values + q * n_coefficients();
              for (std::size_t a = 0; a < transport.advection_terms().size() && !own_diffusion.empty(); ++a)
                if (const auto here = advection_at(a, cell, q, coefficients, length); here.is_stronger_than(found.advection))
                  found.advection = here;
              if (!diffusion_matrix.is_there())
                continue;
              TransportFindings::Diffusion here;
              here.place       = place(cell, q);
              here.eigenvalues = diffusion_matrix.wrong_at(here.place, coefficients);
              here.fields.assign(fields + q * n, fields + (q + 1) * n);
              if (here.is_worse_than(found.diffusion))
                found.diffusion = here;
            }
        });
        found.share(comm);
        return found;
      }

    private:
      std::size_t n_coefficients() const { return transport.coefficients().expressions().size(); }

      void number_nodes(const IndexSet &owned_unknowns, const IndexSet &relevant_unknowns)
      {
        own_node.assign(relevant_unknowns.n_elements() / n, -1);
        node_of_own.resize(owned_unknowns.n_elements() / n);
        const Epetra_BlockMap &map = ghosted.trilinos_partitioner();
        for (types::global_dof_index i = 0; i < node_of_own.size(); ++i)
          {
            node_of_own[i]           = map.LID(static_cast<int>(owned_unknowns.nth_index_in_set(i * n))) / static_cast<int>(n);
            own_node[node_of_own[i]] = static_cast<int>(i);
          }
        is_plain.assign(cells.size(), true);
        for (const types::global_dof_index dof : cells.dofs)
          {
            const std::size_t cell = nodes.size() / cells.n_nodes;
            nodes.push_back(map.LID(static_cast<int>(dof * n)) / static_cast<int>(n));
            is_plain[cell] = is_plain[cell] && own_node[nodes.back()] >= 0;
            for (unsigned int c = 0; c < n; ++c)
              is_plain[cell] = is_plain[cell] && !constraints.is_constrained(dof * n + c);
          }
      }

      /** Of a field at all quadrature points, or one value if it is the same at all. */
      std::vector<SymmetricTensor<2, 3>> diffusion_of(const Problem &problem, unsigned int c) const
      {
        const Diffusion *const tensor = problem.diffusion_tensor(c);
        const auto             value  = [&](const Point<3> &x) {
          return tensor != nullptr ? tensor->matrix(x) : problem.diffusion(c, x) * unit_symmetric_tensor<3>();
        };
        if (tensor != nullptr ? tensor->is_constant() : problem.has_constant_coefficients())
          return {value({})};
        std::vector<SymmetricTensor<2, 3>> result;
        for (std::size_t p = 0; p < cells.points.size(); p += spacedim)
          {
            Point<3> x;
            std::copy_n(&cells.points[p], spacedim, &x[0]);
            result.push_back(value(x));
          }
        return result;
      }

      /** u with its constrained entries and ghosts. */
      void take(const HostVector &u)
      {
        full = u;
        if (has_constraints)
          constraints.distribute(full);
        ghosted = full;
      }

      void unknowns_of(std::size_t cell, std::vector<types::global_dof_index> &unknowns) const
      {
        for (unsigned int k = 0; k < unknowns.size(); ++k)
          unknowns[k] = cells.dofs[cell * cells.n_nodes + k / n] * n + k % n;
      }

      Point<3> place(std::size_t cell, unsigned int q) const
      {
        Point<3> x;
        std::copy_n(&cells.points[(cell * cells.n_points + q) * spacedim], spacedim, &x[0]);
        return x;
      }

      Places places(std::size_t cell, double t) const { return {&cells.points[cell * cells.n_points * spacedim], spacedim, t}; }

      /** f(first cell, count) for some cells after others. */
      template <typename F>
      void for_batches(const F &f) const
      {
        const std::size_t at_once = std::max(1u, points_at_once / cells.n_points);
        for (std::size_t first = 0; first < cells.size(); first += at_once)
          f(first, std::min(at_once, cells.size() - first));
      }

      void fields_at_points(std::size_t first, std::size_t count)
      {
        at_points.assign(count * cells.n_points * n, 0.);
        const double *const u = ghosted.begin();
        for (std::size_t k = 0; k < count; ++k)
          for (unsigned int q = 0; q < cells.n_points; ++q)
            for (unsigned int i = 0; i < cells.n_nodes; ++i)
              if (const double phi = cells.shape_values[q * cells.n_nodes + i]; phi != 0.)
                for (unsigned int c = 0; c < n; ++c)
                  at_points[(k * cells.n_points + q) * n + c] += phi * u[nodes[(first + k) * cells.n_nodes + i] * n + c];
      }

      /** f(cell, fields, coefficients, derivatives of these), of its quadrature points one after another. */
      template <typename F>
      void for_cells(double t, bool with_derivatives, const F &f)
      {
        for_batches([&](std::size_t first, std::size_t count) {
          const std::size_t n_points = count * cells.n_points, m = n_coefficients();
          fields_at_points(first, count);
          values.resize(n_points * m);
          derivatives.resize(with_derivatives ? n_points * m * n : 0);
          transport.coefficients().evaluate(
            n_points, at_points.data(), values.data(), with_derivatives ? derivatives.data() : nullptr, places(first, t));
          for (std::size_t k = 0; k < count; ++k)
            f(first + k,
              &at_points[k * cells.n_points * n],
              &values[k * cells.n_points * m],
              derivatives.data() + (with_derivatives ? k * cells.n_points * m * n : 0));
        });
      }

      /** Gradients of all fields at a quadrature point. @param gradients of the shape functions there. */
      void find_field_gradients(std::size_t cell, const double *gradients)
      {
        field_gradients.assign(n, {});
        for (unsigned int i = 0; i < cells.n_nodes; ++i)
          for (unsigned int c = 0; c < n; ++c)
            {
              const double u = ghosted.begin()[nodes[cell * cells.n_nodes + i] * n + c];
              for (int e = 0; e < spacedim; ++e)
                field_gradients[c][e] += u * gradients[i * spacedim + e];
            }
      }

      /** The velocity of a term at a quadrature point, and A over v v^T there. */
      double velocity(
        std::size_t a, std::size_t cell, unsigned int q, const double *gradients, const double *coefficients, double length, Direction<spacedim> &v)
      {
        for (int e = 0; e < spacedim; ++e)
          v[e] = length * coefficients[transport.advection_terms()[a].expression + e];
        if (own_diffusion.empty())
          return 0.;
        const auto &own = own_diffusion[a];
        return diffusion_along<spacedim>(v.data(), gradients, cells.n_nodes, own[own.size() == 1 ? 0 : cell * cells.n_points + q]);
      }

      /** How strong a term is at a quadrature point. */
      TransportFindings::Advection advection_at(std::size_t a, std::size_t cell, unsigned int q, const double *coefficients, double length)
      {
        const double *const          gradients = &cells.shapes[cells.shape_of[cell]].gradients[q * cells.n_nodes * spacedim];
        Direction<spacedim>          v;
        TransportFindings::Advection found;
        found.field        = transport.advection_terms()[a].field;
        found.place        = place(cell, q);
        const double along = velocity(a, cell, q, gradients, coefficients, length, v), speed_squared = product<spacedim>(v.data(), v.data());
        const auto  &own           = own_diffusion[a];
        found.added                = along * speed_squared;
        const double speed_by_cell = sum_along<spacedim>(v.data(), gradients, cells.n_nodes);
        if (!(speed_by_cell > 0.))
          return found;
        found.own = diffusion_in_direction<spacedim>(v.data(), own[own.size() == 1 ? 0 : cell * cells.n_points + q]);
        for (const FieldTransport::CrossTerm &term : transport.cross_terms())
          if (term.field == found.field && term.partner == found.field)
            found.own = std::max(0., found.own + coefficients[term.expression]);
        found.peclet = found.own > 0. ? speed_squared / (speed_by_cell * found.own) : std::numeric_limits<double>::infinity();
        return found;
      }

      void add_rates(std::size_t cell, unsigned int q, const double *u, const double *coefficients, double length, double *local)
      {
        const auto         &shape     = cells.shapes[cells.shape_of[cell]];
        const double *const gradients = &shape.gradients[q * cells.n_nodes * spacedim];
        find_field_gradients(cell, gradients);
        fluxes.assign(n, {});
        for (const FieldTransport::CrossTerm &term : transport.cross_terms())
          for (int e = 0; e < spacedim; ++e)
            fluxes[term.field][e] -= coefficients[term.expression] * field_gradients[term.partner][e];
        for (std::size_t a = 0; a < transport.advection_terms().size(); ++a)
          {
            const unsigned int  c = transport.advection_terms()[a].field;
            Direction<spacedim> v;
            const double        along = velocity(a, cell, q, gradients, coefficients, length, v),
                         amount       = u[c] - along * product<spacedim>(v.data(), field_gradients[c].data());
            for (int e = 0; e < spacedim; ++e)
              fluxes[c][e] += amount * v[e];
          }
        for (unsigned int i = 0; i < cells.n_nodes; ++i)
          for (unsigned int c = 0; c < n; ++c)
            local[i * n + c] += shape.weights[q] * product<spacedim>(fluxes[c].data(), gradients + i * spacedim);
      }

      /**
       * What the flux of field c changes by at a quadrature point: with u_d by slopes, with grad u_d by cross, and by
       * -along v (v . grad u_c).
       */
      void linearize_fluxes(std::size_t   cell,
                            unsigned int  q,
                            const double *u,
                            const double *coefficients,
                            const double *of_coefficients,
                            double        length,
                            const double *gradients)
      {
        find_field_gradients(cell, gradients);
        slopes.assign(n * n, {});
        cross.assign(n * n, 0.);
        velocities.assign(n, {});
        along_flow.assign(n, 0.);
        for (const FieldTransport::CrossTerm &term : transport.cross_terms())
          {
            cross[term.field * n + term.partner] = coefficients[term.expression];
            for (unsigned int d = 0; d < n; ++d)
              for (int e = 0; e < spacedim; ++e)
                slopes[term.field * n + d][e] -= of_coefficients[term.expression * n + d] * field_gradients[term.partner][e];
          }
        for (std::size_t a = 0; a < transport.advection_terms().size(); ++a)
          {
            const FieldTransport::AdvectionTerm &term = transport.advection_terms()[a];
            const unsigned int                   c    = term.field;
            along_flow[c]                             = velocity(a, cell, q, gradients, coefficients, length, velocities[c]);
            for (int e = 0; e < spacedim; ++e)
              {
                slopes[c * n + c][e] += velocities[c][e];
                for (unsigned int d = 0; d < n; ++d)
                  slopes[c * n + d][e] += length * of_coefficients[(term.expression + e) * n + d] * u[c];
              }
          }
      }

      void add_derivatives(
        std::size_t cell, unsigned int q, const double *u, const double *coefficients, const double *of_coefficients, double length, double *local)
      {
        const auto         &shape     = cells.shapes[cells.shape_of[cell]];
        const double *const gradients = &shape.gradients[q * cells.n_nodes * spacedim];
        linearize_fluxes(cell, q, u, coefficients, of_coefficients, length, gradients);
        const unsigned int n_unknowns = cells.n_nodes * n;
        for (const auto &[c, d] : coupled)
          for (unsigned int j = 0; j < cells.n_nodes; ++j)
            {
              const double *const gradient = gradients + j * spacedim;
              const double        phi      = cells.shape_values[q * cells.n_nodes + j],
                           across          = c == d ? along_flow[c] * product<spacedim>(velocities[c].data(), gradient) : 0.;
              Direction<spacedim> change;
              for (int e = 0; e < spacedim; ++e)
                change[e] = shape.weights[q] * (slopes[c * n + d][e] * phi - cross[c * n + d] * gradient[e] - across * velocities[c][e]);
              for (unsigned int i = 0; i < cells.n_nodes; ++i)
                local[(i * n + c) * n_unknowns + j * n + d] += product<spacedim>(change.data(), gradients + i * spacedim);
            }
      }

      /** Where columns stand among those of the rank's rows. */
      void find_columns(const HostMatrix &T)
      {
        if (!column_of.empty() || node_of_own.empty())
          return;
        const Epetra_Map &rows = T.trilinos_matrix().RowMap(), &columns = T.trilinos_matrix().ColMap();
        for (int i = 0; i < rows.NumMyElements(); ++i)
          column_of.push_back(columns.LID(rows.GID(i)));
      }

      /** Adds the matrix of a cell without constraints, all of whose rows are the rank's. */
      void add_plain(std::size_t cell, const FullMatrix<double> &local, const HostMatrix &T, double *of_T) const
      {
        int    *offsets = nullptr, *columns = nullptr;
        double *unused = nullptr;
        T.trilinos_matrix().ExtractCrsDataPointers(offsets, columns, unused);
        const auto unknown = [&](unsigned int i, unsigned int c) {
          return own_node[nodes[cell * cells.n_nodes + i]] * static_cast<int>(n) + static_cast<int>(c);
        };
        for (const auto &[c, d] : coupled)
          for (unsigned int i = 0; i < cells.n_nodes; ++i)
            {
              const int row = unknown(i, c);
              for (unsigned int j = 0; j < cells.n_nodes; ++j)
                {
                  const int *const found = std::lower_bound(columns + offsets[row], columns + offsets[row + 1], column_of[unknown(j, d)]);
                  of_T[found - columns] += local(i * n + c, j * n + d);
                }
            }
      }

      void clear_constrained(HostMatrix &T) const
      {
        if (constraints.n_constraints() == 0)
          return;
        int    *offsets = nullptr, *columns = nullptr;
        double *values_of_T = nullptr;
        T.trilinos_matrix().ExtractCrsDataPointers(offsets, columns, values_of_T);
        const Epetra_Map &rows = T.trilinos_matrix().RowMap();
        for (int i = 0; i < rows.NumMyElements(); ++i)
          if (constraints.is_constrained(rows.GID(i)))
            std::fill(values_of_T + offsets[i], values_of_T + offsets[i + 1], 0.);
      }

      /** Makes entries of a cell NaN, at least one of which is of no constrained unknown if the cell has one. */
      void spoil(std::size_t cell, HostVector &r) const
      {
        for (unsigned int i = 0; i < cells.n_nodes; ++i)
          if (const int node = own_node[nodes[cell * cells.n_nodes + i]]; node >= 0)
            std::fill_n(r.begin() + node * n, n, std::numeric_limits<double>::quiet_NaN());
      }

      const CellsOfRank<spacedim>      cells;
      const AffineConstraints<double> &constraints;
      const FieldTransport            &transport;
      const DiffusionMatrix            diffusion_matrix;
      const unsigned int               n; ///< fields
      MPI_Comm                         comm;
      const bool                       has_constraints;

      std::vector<std::pair<unsigned int, unsigned int>> coupled;       ///< fields
      std::vector<std::vector<SymmetricTensor<2, 3>>>    own_diffusion; ///< of advected fields; empty: nothing is to be added
      std::vector<int>                                   nodes;         ///< n_nodes a cell, as the ghosted vector counts them
      std::vector<int>                                   own_node;      ///< of these the numbers among the own ones; -1: of another rank
      std::vector<int>                                   node_of_own;   ///< the other way
      std::vector<int>                                   column_of;     ///< own unknowns, in the matrix
      std::vector<bool>                                  is_plain;      ///< cells whose nodes are all own and free

      HostVector          full, ghosted;
      std::vector<double> at_points, values, derivatives; ///< of some cells

      // of a quadrature point
      std::vector<Direction<spacedim>> field_gradients, fluxes, slopes, velocities;
      std::vector<double>              cross, along_flow;
    };
  } // namespace

  template <int dim, int spacedim>
  std::unique_ptr<TransportTerms> Discretization<dim, spacedim>::make_transport_terms() const
  {
    return std::make_unique<TransportOnMesh<spacedim>>(CellsOfRank<spacedim>(*mapping, dof_handler, quadrature),
                                                       constraints,
                                                       owned_unknowns,
                                                       relevant_unknowns,
                                                       problem,
                                                       parameters.degree == 1,
                                                       has_constraints(),
                                                       comm);
  }

  template std::unique_ptr<TransportTerms> Discretization<2>::make_transport_terms() const;
  template std::unique_ptr<TransportTerms> Discretization<3>::make_transport_terms() const;
  template std::unique_ptr<TransportTerms> Discretization<2, 3>::make_transport_terms() const;
} // namespace leopard
