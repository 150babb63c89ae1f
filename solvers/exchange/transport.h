// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../base/errors.h"
#include "exchange_pattern.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace leopard
{
  /** What a rank has sent; replays of a CUDA graph do not count. */
  struct Traffic
  {
    long        calls = 0; ///< exchanges, also those in which this rank had nothing to send
    std::size_t bytes = 0;

    void count(std::size_t n_bytes)
    {
      ++calls;
      bytes += n_bytes;
    }
  };

  /**
   * The exchange of one pattern, as Transport::connect() makes it: values go to the ranks that the pattern names, to no
   * other. Vectors are in the transport's memory space, of any number type. Nothing is allocated in a call but the
   * first. On the device calls are queued if Transport::is_queued(), and wait otherwise. Destruction is collective.
   */
  class Exchange
  {
  public:
    virtual ~Exchange() = default;

    /** Fetches the ghosts of v and waits for them. All ranks call it in the same order. */
    template <typename Number>
    void update(Number *v)
    {
      exchange({v, nullptr, nullptr, sizeof(Number)});
    }

    /** The same for two vectors at once, of which the second one has the entries from ExchangePattern::second on. */
    template <typename Number>
    void update(Number *v, Number *w)
    {
      exchange({v, w, nullptr, sizeof(Number)});
    }

    /** The same for the vector whose address stands in *v, in the memory space, when its turn comes. */
    template <typename Number>
    void update_at(Number *const *v)
    {
      exchange({nullptr, nullptr, v, sizeof(Number)});
    }

    /**
     * Begins a visit of exchanges that do not wait: values of one visit are never taken in another one. All ranks call
     * it equally often, before update_loosely(); in queued transports one such follows each, then an update(),
     * of this exchange or of another one with the same neighbours.
     */
    virtual void begin() = 0;

    /**
     * Sends the own entries, and puts the newest values that have arrived in this visit into the ghosts; where none
     * have, ghosts stay. No rank waits for another one (but for some microseconds for values that are on their way);
     * ranks may call it differently often. All vectors of a visit are of one type.
     */
    template <typename Number>
    void update_loosely(Number *v)
    {
      exchange_loosely({v, nullptr, nullptr, sizeof(Number)});
    }

  protected:
    /** A vector, without its type: values only travel. */
    struct Vector
    {
      void       *values;  ///< null: they are where `address` says
      void       *second;  ///< those of the second vector; null: there is none
      const void *address; ///< of a pointer to the values
      int         value_bytes;
    };
    /** @throws InvalidInput where there is no second vector and the pattern has entries of one. */
    static void require_second(const ExchangePattern &pattern, const Vector &v)
    {
      if (v.second == nullptr && pattern.second != ExchangePattern().second)
        throw InvalidInput("an exchange of two vectors is given one\n  expected: update(v, w)");
    }
    virtual void exchange(const Vector &v)         = 0;
    virtual void exchange_loosely(const Vector &v) = 0;
  };

  /**
   * How values travel between the ranks: by MPI messages, or through the memory of another GPU. All functions but
   * description(), is_queued() and traffic() are collective, called by all ranks in the same order.
   */
  class Transport
  {
  public:
    virtual ~Transport() = default;

    /** How values travel, in a line for a log. */
    virtual std::string description() const = 0;
    /** Whether everything is queued on the device, so that a CUDA graph can hold it. */
    virtual bool is_queued() const = 0;

    /**
     * The exchange of a pattern, an entry of which is n_values values that stand together: entry i of the pattern is
     * v[i * n_values] and those behind. It may outlive the transport. @throws DeviceError or InvalidInput on
     * all ranks.
     */
    virtual std::unique_ptr<Exchange> connect(const ExchangePattern &pattern, int n_values) = 0;

    /**
     * Makes a vector of which each rank has one part whole on all ranks, all of which need it. Queued, or waits.
     * @param offsets the first entry of each rank's part, and the length of the vector.
     */
    virtual void gather(double *whole, const std::vector<int> &offsets) = 0;

    /**
     * Tells all ranks of an error on one of them, see together(). @return the first text that is not empty. Waits for
     * all.
     */
    virtual std::string first_error(const std::string &own) = 0;

    /** Of this transport and of what it has connected. */
    const Traffic &traffic() const { return *sent; }

  protected:
    const std::shared_ptr<Traffic> sent = std::make_shared<Traffic>();
  };
} // namespace leopard
