// SPDX-License-Identifier: Apache-2.0
#include "together.h"

#include "errors.h"

#include <new>

namespace leopard
{
  namespace
  {
    // an error travels as a text whose first letter is its kind
    constexpr char invalid_input = 'i', device_error = 'd', convergence_failure = 'c', other = 'o';

    /** What function() throws; empty if nothing. */
    std::string error_of(const std::function<void()> &function)
    {
      try
        {
          function();
          return "";
        }
      catch (const InvalidInput &error)
        {
          return invalid_input + std::string(error.what());
        }
      catch (const DeviceError &error)
        {
          return device_error + std::string(error.what());
        }
      catch (const ConvergenceFailure &error)
        {
          return convergence_failure + std::string(error.what());
        }
      catch (const std::bad_alloc &)
        {
          return other +
                 std::string("a rank has not enough memory\n  expected: a machine with more, more ranks on other machines, or a smaller problem");
        }
      catch (const std::exception &error)
        {
          return other + std::string(error.what());
        }
    }
  } // namespace

  void together(const std::function<void()> &function, const FirstError &first_error, const std::string &where)
  {
    std::string own = error_of(function);
    if (!own.empty())
      own.insert(1, where);
    const std::string error = first_error(own);
    if (error.empty())
      return;
    const std::string text = error.substr(1);
    switch (error.front())
      {
        case invalid_input:
          throw InvalidInput(text);
        case device_error:
          throw DeviceError(text);
        case convergence_failure:
          throw ConvergenceFailure(text);
        default:
          throw Error(text);
      }
  }
} // namespace leopard
