// SPDX-License-Identifier: Apache-2.0
#include "energy_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace leopard::studies
{
  namespace
  {
    constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

    const EnergyCurve *find(const std::vector<EnergyCurve> &curves, const std::string &name)
    {
      const auto found = std::find_if(curves.begin(), curves.end(), [&](const EnergyCurve &curve) { return curve.name == name; });
      return found == curves.end() ? nullptr : &*found;
    }
  } // namespace

  EnergyJudge::EnergyJudge(bool on_device_, device::EnergyUse idle_, Report &report_)
    : on_device(on_device_)
    , idle(std::move(idle_))
    , report(report_)
  {
  }

  void EnergyJudge::ratio(const std::string &source, const std::string &claim, double limit, double one, double other, const std::string &why_not)
  {
    const double found  = one / other;
    std::string  reason = why_not;
    if (reason.empty() && !std::isfinite(found))
      reason = "one of them has not converged, or took too short a time";
    report.decide_times(source,
                        claim,
                        {-INFINITY, limit},
                        {found},
                        "a ratio of " + cell(found, "%.3f") + " (" + cell(one, "%.4g") + ", " + cell(other, "%.4g") + ")",
                        reason);
  }

  void EnergyJudge::at_most(const std::string &source, const std::string &claim, double limit, const Pair &pair)
  {
    std::string why_not;
    if (!idle.cpu.is_known())
      why_not = "energy of the CPU: " + idle.cpu.why_not;
    else if (on_device && !idle.gpu.is_known())
      why_not = "energy of the GPU: " + idle.gpu.why_not;
    const double gpu = on_device ? pair.gpu : 0., other_gpu = on_device ? pair.other_gpu : 0.;
    ratio(source, claim, limit, gpu + pair.cpu, other_gpu + pair.other_cpu, why_not);
    if (on_device && idle.gpu.is_known())
      ratio("", claim + ", GPU alone", limit, pair.gpu, pair.other_gpu, "");
  }

  void EnergyJudge::meters(const std::string &what, const std::vector<EnergyRow> &rows)
  {
    const auto source = "T Figure 5.2";
    const auto spread = [&](const std::string &claim, const Energy &known, Energy device::EnergyUse::*part) {
      double least = INFINITY, most = 0.;
      bool   finite = rows.size() > 1;
      for (const EnergyRow &row : rows)
        {
          const double joules = row.joules(row.use.*part);
          finite              = finite && std::isfinite(joules);
          least               = std::min(least, joules);
          most                = std::max(most, joules);
        }
      report.decide(source,
                    claim + ": joules of " + what + " differ by at most 5 percent from one measurement to another",
                    finite && most <= 1.05 * least,
                    cell(least, "%.4g") + " to " + cell(most, "%.4g") + " J in " + std::to_string(rows.size()) + " measurements",
                    known.is_known() ? "" : known.why_not);
    };
    if (!on_device)
      return spread("CPU", idle.cpu, &device::EnergyUse::cpu);
    spread("GPU", idle.gpu, &device::EnergyUse::gpu);
    spread("CPU", idle.cpu, &device::EnergyUse::cpu);
    double counted = 0., sampled = 0.;
    bool   has_both = idle.gpu.is_known() && idle.gpu_sampled.is_known() && idle.gpu.how != idle.gpu_sampled.how;
    for (const EnergyRow &row : rows)
      {
        counted += row.use.gpu.joules;
        sampled += row.use.gpu_sampled.joules;
      }
    report.decide(source,
                  "GPU: its counter and samples of its power agree over all of them to 10 percent",
                  std::abs(counted / sampled - 1.) <= 0.1,
                  cell(counted, "%.5g") + " J counted, " + cell(sampled, "%.5g") + " J sampled",
                  has_both ? "" : "there is one of them only");
  }

  void EnergyJudge::hardware(const std::string &source, const std::vector<EnergyRow> &rows)
  {
    const bool        has_gpu = on_device && !rows.empty();
    const std::string claim   = "the GPU takes less energy, with the host's, than any number of threads";
    const auto by_energy = [](const EnergyRow &a, const EnergyRow &b) { return a.use.cpu.joules * b.repetitions < b.use.cpu.joules * a.repetitions; };
    if (!has_gpu || rows.size() < 2)
      return report.undecided(source, claim, on_device ? "nothing was measured" : "no GPU is used");
    if (!idle.cpu.is_known())
      return report.undecided(source, claim, "energy of the CPU: " + idle.cpu.why_not);
    const EnergyRow &gpu = rows.back(), &host = *std::min_element(rows.begin(), rows.end() - 1, by_energy);
    // beside the threads the GPU is idle, and not counted, as it is not needed
    ratio(source, claim, 1., gpu.joules(), host.joules(host.use.cpu), idle.gpu.is_known() ? "" : "energy of the GPU: " + idle.gpu.why_not);
  }

  void EnergyJudge::waiting(const std::string &source, const std::string &what, const std::vector<EnergyRow> &rows)
  {
    const std::string as_fast = what + ": a host that sleeps does not lengthen a solve (by more than 10 percent)";
    const std::string saves   = what + ": a host that sleeps saves energy";
    if (rows.size() < 2)
      {
        report.undecided("T section 5.3.3", as_fast, "there is no GPU to wait for");
        if (!source.empty())
          report.undecided(source, saves, "there is no GPU to wait for");
        return;
      }
    const EnergyRow &spin = rows[0], &block = rows[1];
    ratio("T section 5.3.3", as_fast, 1.1, block.seconds, spin.seconds, "");
    ratio("", what + ": a host that sleeps keeps at most half as much of a core busy", 0.5, block.cores, spin.cores, "");
    at_most(source, saves, 1., {block.joules(block.use.gpu), block.joules(block.use.cpu), spin.joules(spin.use.gpu), spin.joules(spin.use.cpu)});
  }

  void EnergyJudge::power(const std::string &source, const std::string &claim, double limit, const std::vector<EnergyRow> &rows)
  {
    if (rows.size() < 2)
      return report.undecided(source, claim, "there is no GPU to wait for");
    const device::EnergyUse &spin = rows[0].use, &block = rows[1].use;
    ratio(source,
          claim,
          limit,
          block.cpu.joules / block.seconds,
          spin.cpu.joules / spin.seconds,
          idle.cpu.is_known() ? "" : "energy of the CPU: " + idle.cpu.why_not);
  }

  void EnergyJudge::relaxations(const EnergyRows &rows)
  {
    const auto pair = [&](const char *one, const char *other) {
      const auto a = rows.find(one), b = rows.find(other);
      if (a == rows.end() || b == rows.end() || a->second.empty() || b->second.empty())
        return Pair{not_known, not_known, not_known, not_known};
      const EnergyRow &x = a->second.back(), &y = b->second.back();
      return Pair{x.joules(x.use.gpu), x.joules(x.use.cpu), y.joules(y.use.gpu), y.joules(y.use.cpu)};
    };
    at_most("T Table 5.6", "fv3: async-(5) takes less energy than Jacobi (printed: 69 percent less; 50 at least)", 0.5, pair("async-(5)", "Jacobi"));
    at_most("T Table 5.6",
            "fv3: refinement with async-(5) takes less energy than async-(5) alone (printed: 45 percent less; 20 at least)",
            0.8,
            pair("MPIR async-(5)", "async-(5)"));
  }

  void EnergyJudge::accuracies(const std::string &matrix, const std::vector<EnergyCurve> &curves)
  {
    const EnergyCurve *jacobi = find(curves, "Jacobi"), *async = find(curves, "async-(5)"), *mixed = find(curves, "MPIR async-(5)");
    if (jacobi == nullptr || async == nullptr || mixed == nullptr)
      return;
    const std::size_t last = jacobi->digits.size() - 1;
    const auto        less = [&](const std::string &claim, const EnergyCurve &one, const EnergyCurve &other, std::size_t i) {
      at_most("T Figure 5.6", matrix + ": " + claim, 1., {one.gpu(i), one.cpu(i), other.gpu(i), other.cpu(i)});
    };
    if (matrix == "Chem97ZtZ")
      {
        less("Jacobi takes less energy than async-(5) to 1e-2", *jacobi, *async, 0);
        less("async-(5) takes less than Jacobi to 1e-12", *async, *jacobi, last);
        less("refinement takes less than async-(5) to 1e-2", *mixed, *async, 0);
        less("refinement takes less than async-(5) to 1e-12", *mixed, *async, last);
      }
    if (matrix == "fv1" || matrix == "fv3")
      {
        less("async-(5) takes less energy than Jacobi to 1e-12", *async, *jacobi, last);
        less("refinement gains nothing over async-(5) to 1e-12", *async, *mixed, last);
        less("refinement takes less than Jacobi to 1e-12", *mixed, *jacobi, last);
      }
    if (matrix == "trefethen")
      {
        less("refinement takes less energy than async-(5) to 1e-12", *mixed, *async, last);
        less("async-(5) takes less than Jacobi to 1e-12", *async, *jacobi, last);
      }
  }
} // namespace leopard::studies
