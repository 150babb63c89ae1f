// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace leopard
{
  /**
   * The rank's planes of a vector, plane after plane: one ghost plane lies right before the first, two right behind the
   * last one (see Stencil; only one where nobody restricts). Of several fields, one after the other, all planes travel
   * together.
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
   * What ranks with slabs of a grid, or parts of a mesh, tell one another: ghost planes to the slabs below and above,
   * and whole vectors to all. All functions are collective, called by all ranks in the same order; on the device they
   * are queued if is_queued(), and wait for the exchange otherwise.
   */
  class SlabExchange
  {
  public:
    virtual ~SlabExchange() = default;

    /** How values travel, in a line for a log. */
    virtual std::string description() const = 0;
    /** Whether everything is queued on the device, so that a CUDA graph can hold it. */
    virtual bool is_queued() const = 0;

    /** Fetches the ghost planes of x next to the slab, and waits until they are there. */
    virtual void exchange(const SlabVector &x) = 0;

    /** For a restriction: fetches all ghost planes of x and the ghost plane of b above the slab, and waits for them. */
    virtual void exchange(const SlabVector &x, double *b) = 0;

    /**
     * Sends the outermost planes of the slab, and puts the newest planes that have arrived from the neighbours since
     * the cycle came to this level into the ghost planes; where none have arrived, the ghost planes stay as they are.
     * No rank waits for another one (but for some microseconds for planes that are on their way).
     * @param begins true in the first such exchange since the cycle came to this level.
     */
    virtual void exchange_loosely(const SlabVector &x, bool begins) = 0;

    /**
     * Makes a vector of which each rank has one part whole on all ranks. @param offsets the first entry of each rank's
     * part, and the length of the vector.
     */
    virtual void gather(double *whole, const std::vector<int> &offsets) = 0;

    /**
     * The same without waiting: puts the parts of other ranks that have arrived into the vector and leaves the others
     * as they are. @param begins true: parts that were sent in earlier loose gathers are too old and are thrown away.
     * Between two calls with begins = true there must be a gather().
     */
    virtual void gather_loosely(double *whole, const std::vector<int> &offsets, bool begins) = 0;

    /**
     * Tells all ranks of an error on one of them, see together(). @return the first text that is not empty. Waits for
     * all.
     */
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
