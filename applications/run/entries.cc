// SPDX-License-Identifier: Apache-2.0
#include "entries.h"

#include "entry_rows.h"

#include <deal.II/base/exceptions.h>

namespace leopard
{
  namespace entry_rows
  {
    std::string is(const Run &r, const std::string &entry)
    {
      if (r.parameters.linear_solver.automatic && (entry == "Linear solver/Method" || entry == "Linear solver/Preconditioner"))
        return "'Linear solver/Method' is automatic, which chooses " + r.parameters.linear_solver.name();
      return "'" + entry + "' is " + r.parameters.value(entry);
    }

    bool is_study(const Run &r)
    {
      return r.parameters.study != "none";
    }

    bool studies_stencil(const Run &r)
    {
      return is_study(r) && r.parameters.smoother_study.uses_stencil();
    }

    bool in_time(const Run &r)
    {
      return !is_study(r) && r.parameters.problem->time_dependent();
    }

    bool is_linear_in_time(const Run &r)
    {
      return in_time(r) && r.parameters.time.explicit_reaction();
    }

    bool has_newton(const Run &r)
    {
      return !is_study(r) && r.parameters.problem->has_reaction() && !is_linear_in_time(r);
    }

    bool has_alternative(const Run &r)
    {
      return in_time(r) && !r.fused && r.parameters.time.adaptive() && !is_linear_in_time(r) && r.parameters.linear_solver.is_relaxation();
    }

    bool uses_block_async(const Run &r)
    {
      return r.parameters.linear_solver.uses_block_async() || has_alternative(r);
    }

    bool preconditions_with(const Run &r, const std::string &name)
    {
      return r.parameters.linear_solver.is_krylov() && r.parameters.linear_solver.preconditioner == name;
    }

    std::string used(const Run & /*r*/, const std::string & /*entry*/)
    {
      return "";
    }

    std::string of_mesh(const Run &r, const std::string & /*entry*/)
    {
      return if_(studies_stencil(r), "a stencil is studied, without problem and mesh");
    }

    std::string of_problem(const Run &r, const std::string &entry)
    {
      const std::string name = r.parameters.problem->name();
      return first(of_mesh(r, entry), if_(entry.substr(0, entry.find('/')) != name, "the problem is " + name));
    }

    std::string of_steps(const Run &r, const std::string & /*entry*/)
    {
      return if_(!in_time(r), is_study(r) ? "a study of smoothers has no time steps" : "the problem is stationary");
    }

    std::string of_run_in_time(const Run &r, const std::string &entry)
    {
      return first(of_steps(r, entry), if_(r.parameters.verification.refinements > 0, "a convergence study writes its table only"));
    }
  } // namespace entry_rows

  namespace
  {
    using entry_rows::Row;

    std::vector<Row> table()
    {
      std::vector<Row> rows = entry_rows::rows_of_problem();
      rows.insert(rows.end(), entry_rows::rows_of_solution().begin(), entry_rows::rows_of_solution().end());
      return rows;
    }

    bool stands_for(const std::string &row, const std::string &entry)
    {
      return row.back() == '*' ? entry.rfind(row.substr(0, row.size() - 1), 0) == 0 : row == entry;
    }

    /** The row that says most about the entry. */
    const Row &find(const std::string &entry)
    {
      static const std::vector<Row> rows = table();
      const Row                    *best = nullptr;
      for (const Row &row : rows)
        if (stands_for(row.path, entry) && (best == nullptr || best->path.size() <= row.path.size()))
          best = &row;
      AssertThrow(best != nullptr,
                  dealii::ExcMessage("the entry " + entry + " has no row in applications/run/entries_of_problem.cc or entries_of_solution.cc"));
      return *best;
    }
  } // namespace

  std::vector<std::string> rows_of_entries()
  {
    std::vector<std::string> result;
    for (const Row &row : table())
      result.push_back(row.path);
    return result;
  }

  OnResume on_resume(const std::string &entry, bool time_dependent)
  {
    const Row &row = find(entry);
    return time_dependent ? row.in_time : row.in_cycles;
  }

  namespace
  {
    /** Of the solvers' sections only who works. */
    bool is_of_solvers(const std::string &entry)
    {
      const std::string section = entry.substr(0, entry.find('/'));
      for (const std::string name : {"Backend", "Threads", "Device", "Waiting", "GPUs"})
        if (entry == "Linear solver/" + name)
          return false;
      return section == "Newton" || section == "Linear solver" || section == "Multigrid";
    }
  } // namespace

  std::string why_not_used(const std::string &entry, const RunKind &run)
  {
    if (entry_rows::in_time(run) && run.parameters.time.exponential() && is_of_solvers(entry))
      return "a step of " + run.parameters.time.scheme + " solves no system of equations";
    if (run.parameters.cases.empty())
      return find(entry).why_not_used(run, entry);
    if (entry == "Smoother study/Cases")
      return "";
    std::string why;
    for (const Parameters &c : run.parameters.cases)
      if (why = find(entry).why_not_used({c, false, run.n_ranks}, entry); why.empty())
        break;
    return why;
  }
} // namespace leopard
