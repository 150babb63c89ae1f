// SPDX-License-Identifier: Apache-2.0
#include "energy.h"

#include "errors.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace leopard
{
  namespace
  {
    namespace fs = std::filesystem;

    /** The number that a file of sysfs holds. @throws Error. */
    double read_number(const fs::path &path)
    {
      errno = 0;
      std::ifstream stream(path);
      double        value = 0.;
      if (stream >> value && value >= 0.)
        return value;
      if (errno == EACCES || errno == EPERM)
        throw Error(path.string() + " may be read by root only (to do: sudo chmod a+r " + path.string() + ")");
      throw Error(path.string() + " holds no number" + (errno != 0 ? std::string(" (") + std::strerror(errno) + ")" : ""));
    }

    class Rapl : public EnergyCounter
    {
    public:
      /** @throws Error. */
      explicit Rapl(const std::vector<fs::path> &folders)
      {
        for (const fs::path &folder : folders)
          packages.push_back({folder / "energy_uj", read_number(folder / "max_energy_range_uj"), read_number(folder / "energy_uj")});
      }

      std::string how() const override { return "RAPL, " + std::to_string(packages.size()) + (packages.size() == 1 ? " package" : " packages"); }
      double      resolution() const override { return 1e-3; }

      double joules() override
      {
        for (Package &package : packages)
          {
            const double now = read_number(package.path);
            sum += now - package.last + (now < package.last ? package.range : 0.);
            package.last = now;
          }
        return 1e-6 * sum;
      }

    private:
      struct Package
      {
        fs::path path;
        double   range, last; ///< uJ
      };

      std::vector<Package> packages;
      double               sum = 0.; ///< uJ
    };

    /** "intel-rapl:0" and not "intel-rapl:0:1", which is a part of it: also for AMD's processors. */
    bool is_package(const fs::path &folder)
    {
      const std::string name = folder.filename().string(), start = "intel-rapl:";
      if (name.rfind(start, 0) != 0 || name.find(':', start.size()) != std::string::npos)
        return false;
      std::string what;
      std::ifstream(folder / "name") >> what;
      return what.rfind("package", 0) == 0; // and not psys, which counts packages again
    }
  } // namespace

  Energy Energy::since(const Energy &earlier, double seconds) const
  {
    Energy result = *this;
    if (result.why_not.empty())
      result.why_not = earlier.why_not;
    result.joules = joules - earlier.joules;
    if (result.why_not.empty() && !(seconds >= 10. * resolution))
      {
        char text[120];
        std::snprintf(text, sizeof(text), "%.2g s are too short for %s, which moves every %.2g s at least", seconds, how.c_str(), resolution);
        result.why_not = text;
      }
    if (result.why_not.empty() && !(result.joules > 0.)) // nothing takes nothing
      result.why_not = how + (result.joules == 0. ? " has not moved" : " has gone backwards");
    if (!result.why_not.empty())
      result.joules = std::numeric_limits<double>::quiet_NaN();
    return result;
  }

  std::unique_ptr<EnergyCounter> make_rapl(std::string &why_not, const char *folder)
  {
    const char           *given = std::getenv("LEOPARD_POWERCAP");
    const fs::path        where = folder != nullptr ? folder : given != nullptr ? given : "/sys/class/powercap";
    std::vector<fs::path> packages;
    std::error_code       ignored;
    for (const fs::directory_entry &entry : fs::directory_iterator(where, ignored))
      if (is_package(entry.path()))
        packages.push_back(entry.path());
    if (packages.empty())
      {
        why_not = "there is no " + (where / "intel-rapl:*").string() + " of a package (a processor without RAPL, a virtual machine or a container)";
        return nullptr;
      }
    try
      {
        return std::make_unique<Rapl>(packages);
      }
    catch (const Error &error)
      {
        why_not = error.what();
        return nullptr;
      }
  }

  std::string to_string(const Energy &energy, double seconds)
  {
    if (!energy.is_known())
      return "not known: " + energy.why_not;
    char text[80];
    std::snprintf(text, sizeof(text), "%.4g J, %.4g W (", energy.joules, energy.joules / seconds);
    return text + energy.how + ")";
  }
} // namespace leopard
