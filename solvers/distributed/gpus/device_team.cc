// SPDX-License-Identifier: Apache-2.0
#include "device_team.h"

#include "../../base/errors.h"

#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace leopard
{
  namespace
  {
    /** Another thread has failed, and its error is the one to tell. */
    struct OtherFailed
    {
    };
  } // namespace

  DeviceTeam::DeviceTeam(int size, const std::function<void(int rank)> &begin)
    : gathered(size)
  {
    try
      {
        for (int r = 0; r < size; ++r)
          threads.emplace_back([this, r] { work(r); });
        run(begin);
      }
    catch (const std::system_error &error)
      {
        end_threads();
        throw Error("the machine gives no more threads than " + std::to_string(threads.size()) + ": " + error.what() +
                    "\n  expected: " + std::to_string(size) + ", one for each GPU");
      }
    catch (...)
      {
        end_threads();
        throw;
      }
  }

  DeviceTeam::~DeviceTeam()
  {
    end_threads();
  }

  void DeviceTeam::end_threads()
  {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      ends = true;
    }
    called.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  void DeviceTeam::work(int rank)
  {
    unsigned long done = 0;
    while (true)
      {
        const std::function<void(int)> *now;
        {
          std::unique_lock<std::mutex> lock(mutex);
          called.wait(lock, [&] { return ends || n_calls > done; });
          if (n_calls == done)
            return;
          done = n_calls;
          now  = task;
        }
        std::exception_ptr error;
        bool               by_itself = true;
        try
          {
            (*now)(rank);
          }
        catch (const OtherFailed &)
          {
            by_itself = false;
          }
        catch (...)
          {
            error = std::current_exception();
          }
        const std::lock_guard<std::mutex> lock(mutex);
        if (error != nullptr || !by_itself)
          failed = true;
        if (first_error == nullptr)
          first_error = std::move(error);
        error = nullptr; // whoever catches it is the last to have it
        --n_running;
        require_all_to_come();
        changed.notify_all();
      }
  }

  void DeviceTeam::require_all_to_come()
  {
    if (n_waiting == 0 || n_running == size() || failed)
      return;
    first_error = std::make_exception_ptr(Error("threads wait for one that has ended its task: they no longer do the same"));
    failed      = true;
  }

  void DeviceTeam::run(const std::function<void(int rank)> &task_)
  {
    std::unique_lock<std::mutex> lock(mutex);
    task      = &task_;
    n_running = size();
    n_waiting = 0;
    failed    = false;
    ++n_calls;
    called.notify_all();
    changed.wait(lock, [&] { return n_running == 0; });
    if (const std::exception_ptr error = std::exchange(first_error, nullptr); error != nullptr)
      std::rethrow_exception(error);
  }

  void DeviceTeam::wait()
  {
    std::unique_lock<std::mutex> lock(mutex);
    if (failed)
      throw OtherFailed();
    const unsigned long meeting = n_meetings;
    ++n_waiting;
    require_all_to_come();
    if (n_waiting == size())
      {
        n_waiting = 0;
        ++n_meetings;
        changed.notify_all();
        return;
      }
    if (failed)
      changed.notify_all();
    changed.wait(lock, [&] { return failed || n_meetings > meeting; });
    if (n_meetings == meeting)
      throw OtherFailed();
  }

  void DeviceTeam::look_at_others() const
  {
    if (failed)
      throw OtherFailed();
  }

  AllGather DeviceTeam::all_gather(int rank)
  {
    return [this, rank](const void *own, std::size_t n_bytes, void *all) {
      gathered[rank].assign(static_cast<const char *>(own), static_cast<const char *>(own) + n_bytes);
      wait();
      for (int r = 0; r < size(); ++r)
        {
          if (gathered[r].size() != n_bytes)
            throw Error("ranks tell one another texts of different lengths");
          std::memcpy(static_cast<char *>(all) + r * n_bytes, gathered[r].data(), n_bytes);
        }
      wait(); // all have read it
    };
  }
} // namespace leopard
