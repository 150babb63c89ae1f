// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * The rank's planes of a vector, plane after plane: one ghost plane lies right before the first, two right behind the last one (see Stencil; only one where
   * nobody restricts). Of several fields, one after the other, all planes travel together.
   */
  struct SlabVector
  {
    double *values;           ///< the first own value of the first field
    int     plane;            ///< values a plane
    int     n_planes;         ///< own ones, at least two
    int     n_fields     = 1; ///< exchange(x, b): 1
    long    field_stride = 0; ///< values from one field to the next
  };

  /**
   * What ranks with slabs of a grid, or parts of a mesh, tell one another: ghost planes to the slabs below and above, and whole vectors to all. All functions are collective, called
   * by all ranks in the same order; on the device they are queued if is_queued(), and wait for the exchange otherwise.
   */
  class SlabExchange
  {
  public:
    virtual ~SlabExchange() = default;

    /** How values travel, in a line for a log. */
    virtual std::string description() const = 0;
    /** Whether everything is queued on the device, so that a CUDA graph can hold it. */
    virtual bool is_queued() const = 0;

    /** Ghost planes of x next to the slab, current and waited for. */
    virtual void exchange(const SlabVector &x) = 0;

    /** For a restriction: all ghost planes of x, and the one above the slab of b, current and waited for. */
    virtual void exchange(const SlabVector &x, double *b) = 0;

    /**
     * Sends the planes at the slab's sides, and takes for the ghost planes next to it what has arrived from the neighbours since the visit of the level began; where
     * nothing has, they stay as they are. Nobody waits for anybody (some microseconds for what is on its way apart).
     * @param begins whether this is the first such exchange of the visit.
     */
    virtual void exchange_loosely(const SlabVector &x, bool begins) = 0;

    /** Parts of a vector that each rank has its own part of become whole on all of them. @param offsets where parts begin, and the length. */
    virtual void gather(double *whole, const std::vector<int> &offsets) = 0;

    /**
     * The same as far as others' parts have come since such gathers began; what has not stays as it is. Nobody waits, as in exchange_loosely().
     * @param begins whether what others have sent in loose gathers before is not wanted any more. Between two beginnings there must be a gather().
     */
    virtual void gather_loosely(double *whole, const std::vector<int> &offsets, bool begins) = 0;

    /** What strikes one rank all must know (see together()): the text of the first rank whose own is not empty. In host memory, and waited for. */
    virtual std::string first_error(const std::string &own) = 0;

    /** Calls so far, and the bytes that this rank has sent in them; replays of a CUDA graph do not count. */
    long        n_calls() const { return calls; }
    std::size_t bytes_sent() const { return n_bytes; }

  protected:
    void count(long n_values)
    {
      ++calls;
      n_bytes += static_cast<std::size_t>(n_values) * sizeof(double);
    }

  private:
    long        calls   = 0;
    std::size_t n_bytes = 0;
  };
} // namespace leopard
