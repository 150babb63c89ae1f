// SPDX-License-Identifier: Apache-2.0
#include "rows_on_slabs.h"

#include "../../base/errors.h"
#include "../../base/together.h"
#include "../../device/device.h"
#include "../mpi/own_range.h"
#include "../mpi/some_to_some.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>

namespace leopard
{
  namespace
  {
    /** That each node of a slab has one row. @param lists of nodes that have. */
    void check_nodes(std::initializer_list<const std::vector<int> *> lists, int first, int n)
    {
      std::vector<bool> has_row(n, false);
      for (const std::vector<int> *nodes : lists)
        for (const int node : *nodes)
          {
            if (has_row[node])
              throw InvalidInput("two rows stand at the node " + std::to_string(first + node) +
                                 " of the grid (the first is 0)\n  expected: one row at each node");
            has_row[node] = true;
          }
      const auto missing = std::find(has_row.begin(), has_row.end(), false);
      if (missing != has_row.end())
        throw InvalidInput("no row stands at the node " + std::to_string(first + (missing - has_row.begin())) +
                           " of the grid (the first is 0)\n  expected: one row at each node");
    }
  } // namespace

  RowsOnSlabs::RowsOnSlabs(
    const std::vector<int> &nodes, const std::vector<int> &entries, const std::vector<int> &offsets, MPI_Comm comm, Backend backend)
    : on_device(backend == Backend::cuda)
  {
    const OwnRange                  slabs = {offsets, rank_in(comm)};
    std::map<int, std::vector<int>> elsewhere;
    for (std::size_t k = 0; k < nodes.size(); ++k)
      if (slabs.contains(nodes[k]))
        {
          own_entries.on_host.push_back(entries[k]);
          own_nodes.on_host.push_back(nodes[k] - slabs.first());
        }
      else
        {
          elsewhere[slabs.owner_of(nodes[k])].push_back(nodes[k]);
          sent.on_host.push_back(entries[k]); // rank after rank, as nodes ascend
        }
    const std::map<int, std::vector<int>> from_others = some_to_some(elsewhere, comm);

    ExchangePattern pattern, pattern_back;
    int             place = 0;
    for (const auto &[rank, of_rank] : elsewhere)
      for (std::size_t k = 0; k < of_rank.size(); ++k, ++place)
        {
          pattern.add_sent(rank, place);
          pattern_back.add_received(rank, place);
        }
    for (const auto &[rank, of_rank] : from_others)
      for (const int node : of_rank)
        {
          arrived.on_host.push_back(node - slabs.first());
          pattern.add_received(rank, place);
          pattern_back.add_sent(rank, place++);
        }
    together(
      [&] {
        check_nodes({&own_nodes.on_host, &arrived.on_host}, slabs.first(), slabs.n());
      },
      [comm](const std::string &own) { return first_error_in(comm, own); });

    if (on_device)
      {
        for (Places *places : {&own_entries, &own_nodes, &sent, &arrived})
          places->on_device = device::Array<int>(places->on_host);
        device_buffer = device::Array<double>(place);
      }
    else
      host_buffer.resize(place);
    const std::unique_ptr<Transport> transport = make_transport(comm, backend, false, 1); // which gathers nothing
    there                                      = transport->connect(pattern, 1);
    back                                       = transport->connect(pattern_back, 1);
  }

  void RowsOnSlabs::copy(double *to, const Places *to_places, const double *from, const Places *from_places) const
  {
    const std::size_t n            = (to_places != nullptr ? to_places : from_places)->on_host.size();
    const auto        on_device_of = [](const Places *places) { return places != nullptr ? places->on_device.data() : nullptr; };
    if (on_device)
      return device::copy_entries<double>(to, on_device_of(to_places), from, on_device_of(from_places), static_cast<int>(n), false);
    for (std::size_t k = 0; k < n; ++k)
      to[to_places != nullptr ? to_places->on_host[k] : k] = from[from_places != nullptr ? from_places->on_host[k] : k];
  }

  void RowsOnSlabs::to_slab(double *slab, const double *v)
  {
    double *const buffer = on_device ? device_buffer.data() : host_buffer.data(), *const come = buffer + sent.on_host.size();
    copy(buffer, nullptr, v, &sent);
    there->update(buffer);
    copy(slab, &arrived, come, nullptr);
    copy(slab, &own_nodes, v, &own_entries);
  }

  void RowsOnSlabs::from_slab(double *v, const double *slab)
  {
    double *const buffer = on_device ? device_buffer.data() : host_buffer.data(), *const come = buffer + sent.on_host.size();
    copy(come, nullptr, slab, &arrived);
    back->update(buffer);
    copy(v, &sent, buffer, nullptr);
    copy(v, &own_entries, slab, &own_nodes);
  }
} // namespace leopard
