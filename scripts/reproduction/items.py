# SPDX-License-Identifier: Apache-2.0
"""
Every table, figure and measured finding of the papers, in their order: what it is, what decides it, and for what is
not decided by an experiment here why not. A test compares the numbers of tables and figures with the papers' lists.
"""
import dataclasses

from . import checks, finding_checks, pattern_checks, published, tables
from .checks import Found
from .finding_checks import OfPlans, OfStandIns
from .tables import Made, Quoted, Table
from .verdicts import NOTHING, OPEN

PAPERS = {
    "P": "Preprint 2011: a block-asynchronous relaxation method for GPUs",
    "R": "Refinement 2012: asynchronous error correction for mixed precision iterative refinement",
    "T": "Thesis 2012: asynchronous and multiprecision linear solvers",
    "J": "Journal 2013: a block-asynchronous relaxation method for GPUs",
    "O": "Overlap 2016: domain overlap for iterative sparse triangular solves on GPUs",
}
SOLVERS, STUDIES = "2026-11-21_h200_solvers.md", "2026-11-21_studies_host.md"
REFINEMENT, OVERLAP = "2026-11-23_h200_refinement.md", "2026-11-25_h200_overlap.md"
CHOICES = ("2026-11-28_h200_precision_choice.md", "2026-11-28_precision_choice_host.md")
SMOOTHERS, PATTERNS = "2026-11-21_h200_smoothers.md", "2026-11-21_h200_patterns.md"
ABSENT = ("fv2", "s1rmt3m1")
IN_THEIR_PLACE = ("The matrices of the collection are not here. In their place: L and U of fv3, of an adaptive mesh with hanging nodes (hanging), of Q2 elements (q2), "
                  "of coefficients that jump by 1e6 (jumps), IC(0), and of convection, ILU(0): `benchmarks/results/2026-11-30_host_overlap_matrices.md`.")
GPUS, FOUR_GPUS = "2026-11-25_h100_several_gpus.md", "2026-11-30_h200_several_gpus.md"
ENERGY, WAITS = "2026-11-28_h200_energy.md", "2026-11-25_h100_energy.md"
GENERATED = ("Matrices of the collection that are not here are generated ones of their kind, and smaller (sizes: T section 5.3), so "
             "that printed and measured times, joules and iterations are of different matrices. A measurement takes a second "
             "here, so that all runs in eight minutes; larger matrices, ten seconds each, are in benchmarks/results/" + ENERGY + ". "
             "What one is worth stands at T Figure 5.2.")
JOULES = "A watt-hour is 3600 joules. A dash: that energy cannot be read on this machine, or is not printed."
POINTS = "Drawn of the accuracies that the output has, joined by lines; so are T Figures 4.32 to 4.37."
TO_12 = "Here to 1e-12; the papers' axes end near 1e-15, and for which accuracy the claims are meant is not printed."
ALTERNATES = "Chem97ZtZ: with five sweeps the residual after an odd number of iterations is several times that after an even one."
OUTER = ("global iterations of the one are compared with corrections of the other, which are some iterations each: nothing could "
         "have refuted it")
COUNTS = "The papers' curves of the residual are drawn as what is needed to reach an accuracy."


@dataclasses.dataclass(frozen=True)
class Item:
    where: str  # "T Table 4.5"
    what: str
    checks: tuple = ()  # (experiment, check)
    same_as: str = ""  # treated there, of it the claims that begin with part
    part: str = ""  # a regular expression
    status: str = ""  # where nothing is checked: OPEN or NOTHING, and
    why: str = ""
    see: tuple = ()  # files in benchmarks/results/ with what was measured before
    see_of_more_gpus: tuple = ()  # the same, on more GPUs than a machine has that ran it
    tables: tuple = ()
    quoted: tuple = ()  # tables of files in benchmarks/results/
    figure: str = ""
    undrawn: str = ""  # why there is no figure of it
    note: str = ""

    @property
    def paper(self):
        return self.where[0]

    @property
    def experiments(self):
        return tuple(dict.fromkeys([name for name, _ in self.checks] + [table.experiment for table in self.tables]))


def item(where, what, *checked, **more):
    return Item(where, what, tuple(checked), **more)


def same(where, what, other, part=""):
    return Item(where, what, same_as=other, part=part)


def of_matrices(figures, what, other):
    """Figures of a matrix each."""
    for number, matrix in figures.items():
        if matrix in ABSENT:
            yield undecided(f"P Figure {number}", f"{what}, {matrix}", "the matrix is not here")
        else:
            yield same(f"P Figure {number}", f"{what}, {matrix}", other, matrix)


def nothing(where, what, why="a drawing or a definition"):
    return Item(where, what, status=NOTHING, why=why)


def undecided(where, what, why, see=()):
    return Item(where, what, status=OPEN, why=why, see=see)


def residuals(matrix, set_up):
    return Made("variation", "", tables.variation(matrix, set_up),
                ("iteration", "published mean", "ours", "published largest", "ours", "published smallest", "ours",
                 "published largest - smallest", "ours", "relative to the mean", "ours", "ours, synchronous"),
                f"Relative residual, {matrix}, {set_up}")


def spreads(matrix):
    return Table("variation", f"Variation, {matrix}, as reconstructed", (0, 6, 5, 8, 7, 10, 9),
                 ("iteration", "published variance", "ours", "published standard deviation", "ours", "published standard error", "ours"))


ENERGY_COLUMNS = (2, 13, 3, 5, 6, 7, 14, 8, 9, 10)
ENERGY_HEADS = ("iterations", "published time (s)", "ours", "GPU, counter (W)", "GPU, sampled (W)", "CPU (W)",
                "published, GPU and CPU (Wh)", "ours, GPU (J)", "ours, CPU (J)", "ours, GPU and CPU (J)")


def of_processors(number, method, rows, parts):
    """T Tables 5.1 and 5.2: a row a number of threads."""
    start = f"Table 5.{number}: {method}, "
    return Made("energy", "", tables.processors(method, start, rows, parts),
                ("hardware", "published iterations", "ours", "published time (s)", "ours", "published, chipset (Wh)", "ours, CPU (J)",
                 "published, GPU (Wh)", "ours (J)", "published, both (Wh)", "ours (J)"), start)


OF_FREQUENCIES = Made("energy", "", tables.frequencies,
                      ("hardware", "MHz", "published time (s)", "ours", "published, chipset (W)", "ours, CPU (W)", "published, GPU (W)", "ours (W)",
                       "published, both (Wh)", "ours (J)"), "Table 5.3: CG")
OF_RELAXATIONS = Made("energy", "T Table 5.6, ours: GPU and CPU, or the GPU where the CPU's energy is not known", tables.relaxations,
                      ("method", "published time (s)", "ours", "published, plain (W)", "ours, spin", "published, idle-wait (W)", "ours, block",
                       "published, plain (Wh)", "ours, spin (J)", "published, idle-wait (Wh)", "ours, block (J)",
                       "published gains over Jacobi: time, plain, idle-wait (%)", "ours"))
UNMEASURED = ("'not measured': there is no GPU, or there are fewer processors than the threads, on the machine of this run, or, at 800 MHz, frequencies "
              "are only read, as setting them needs root.")


def of_waiting(start):
    """T Tables 5.4 to 5.6: a row a matrix, solver and way to wait."""
    return Table("energy", start, (0, 1, *ENERGY_COLUMNS), ("solver", "waiting", *ENERGY_HEADS), each="matrix")


def in_layout(number, solver, printed):
    """T Tables 5.4, 5.5 as they are printed, without what needs other frequencies."""
    start = f"Table 5.{number}: {solver}"
    return Made("energy", f"T Table 5.{number}, energy of the matrices that it has", tables.waiting(start, printed),
                ("matrix", "published, plain (Wh)", "with DVFS", "with DVFS and idle-wait", "ours, spin (J)",
                 "ours, block (J)", "published, plain over idle-wait, less one (%)", "ours, spin over block"))


def of_exchanges(start):
    """The exchanges between GPUs, on as many as there are."""
    return Table("gpus", start, (0, 1, 2, 3, 5, 6, 7), ("exchange", "GPUs", "set-up (s)", "an iteration (us)", "residual",
                                                        "iterations to the one above", "seconds to it"))


EXCHANGES = "Where there are GPUs, what is drawn is the time of an iteration, on as many GPUs as there were; the figures of the thesis have up to four, and residuals."
SIX = ("Chem97ZtZ", "fv1", "fv2", "fv3", "s1rmt3m1", "Trefethen_2000")

PREPRINT = (
    nothing("P Table I", "properties of PA, AJ and AGS", "a classification"),
    nothing("P Figure 2", "async-(k) in blocks"),
    same("P Figure 1", "sparsity plots", "T Figure B.3"),
    same("P Table II", "sizes of the test matrices", "T Table B.1"),
    same("P Table III", "condition numbers and rho", "T Table B.2"),
    item("P Tables IV, V", "how much runs differ on fv3, 1000 to 9000 iterations",
         ("statistics-fv3", checks.statistics_fv3), figure="statistics_fv3",
         tables=(Made("statistics-fv3", "P Table V, 6 sweeps", tables.fv3_residuals,
                      ("iterations", "published mean", "ours", "published largest", "ours", "published smallest",
                       "ours", "published largest - smallest", "ours")),
                 Made("statistics-fv3", "P Table IV, 6 sweeps", tables.fv3_spreads,
                      ("iterations", "published variance", "ours", "published standard deviation", "ours",
                       "published standard error", "ours"))),
         note="The right-hand side is not printed; here b = 1. How many runs there were: see the errata."),
    same("P Figure 3", "their curves", "P Tables IV, V"),
    *of_matrices(dict(zip(range(4, 10), SIX)), "async-(1), Jacobi, Gauss-Seidel", "T Figure 4.3"),
    same("P section IV.B", "s1rmt3m1 and tau", "T section 4.4.1"),
    same("P Table VI", "cost of local iterations", "T Table 4.5"),
    *of_matrices(dict(zip(range(10, 16), SIX)), "async-(5)", "T Figure 4.4"),
    same("P Figure 16", "time an iteration over their number", "T Figure 4.5"),
    same("P Table VII", "time an iteration", "T Table 4.6"),
    *of_matrices(dict(zip(range(17, 22), (m for m in SIX if m != "s1rmt3m1"))), "time to an accuracy", "T Figure 4.6"),
)

REFINED = (
    nothing("R Figure 1", "async-(k) in blocks"),
    nothing("R Figure 2", "mixed precision refinement"),
    same("R Table 1", "the test matrices", "T Table B.2"),
    same("R Figure 3", "sparsity plots", "T Figure B.3"),
    nothing("R section 3", "inner iterations so that each correction but the first gains 6 to 8 digits",
            "a rule, which is followed; what a correction leaves stands at T section 2.2"),
    nothing("R Table 2", "four GPUs", "data sheets"),
    same("R Figure 4", "refinement in double and single precision", "T Figure 4.31"),
    same("R Figure 5", "the same over time", "T Figure 4.32"),
    same("R Figure 6", "runtimes on four GPUs", "T Figure 4.33"),
    item("R section 5", "whether mixed precision pays, known beforehand", ("precision", Found("R section 5")), see=CHOICES,
         tables=(Table("precision", "A-priori choice of the precision", range(12),
                       ("matrix", "rows", "double (ms): predicted", "measured", "mixed (ms): predicted", "measured",
                        "mixed against double: predicted", "measured", "refinement in double (ms): predicted", "measured", "choice", "right")),),
         note="An open question of the paper. What is judged is the rule that is used here: rate of convergence, condition number and "
              "bytes of an iteration, with times of the machine that it was fitted to, on some of these matrices (doc/solvers.md)."),
)

JOURNAL = (
    same("J Table 1", "the test matrices", "T Table B.2"),
    same("J Figure 1", "sparsity plots", "T Figure B.3"),
    nothing("J Algorithm 1", "async-(k)"),
    nothing("J Figure 2", "async-(k) in blocks"),
    nothing("J Figure 3", "blocks on several GPUs"),
    nothing("J Figure 4", "AMC, DC and DK"),
    same("J Figure 5", "mean and variations of 1000 runs", "T Figure 4.2"),
    same("J Table 2", "1000 runs on fv1", "T Table 4.1"),
    same("J Table 3", "1000 runs on Trefethen_2000", "T Table 4.2"),
    same("J Figure 6", "async-(1), Jacobi, Gauss-Seidel", "T Figure 4.3"),
    same("J section 4.2", "s1rmt3m1 and tau", "T section 4.4.1"),
    same("J Figure 7", "async-(5)", "T Figure 4.4"),
    same("J Table 4", "cost of local iterations", "T Table 4.5"),
    same("J Figure 8", "time an iteration over their number", "T Figure 4.5"),
    same("J Table 5", "time an iteration", "T Table 4.6"),
    same("J Figure 9", "residual over time", "T Figure 4.6"),
    same("J Figure 10", "components that stop", "T Figure 4.7"),
    same("J Table 6", "cost of a recovery", "T Table 4.7"),
    same("J section 4.5", "silent errors", "T Figure 4.7", ".*silent error"),
    same("J Figure 11", "several GPUs", "T Figure 4.14"),
)

OVERLAPPING = (
    nothing("O section 1", "iterative triangular solves in preconditioners", "its motivation, of which nothing is measured there; here: doc/findings.md"),
    nothing("O Figure 1", "overlap of level 1"),
    item("O Figure 2", "overlap and the order of blocks", ("overlap", Found("O Figure 2")), see=(OVERLAP,),
         figure="o_2",
         tables=(Table("overlap", "A, blocks top-down", (0, 1, 2, 3, 4),
                       ("iteration", "none", "uniform", "top-down", "bottom-up"), 2),)),
    item("O Figure 3", "overlap in one direction, blocks top-down", ("overlap", Found("O Figure 3")), see=(OVERLAP,),
         figure="o_3"),
    item("O Figure 4", "overlap in one direction, random order", ("overlap", Found("O Figure 4")), figure="o_4"),
    item("O Figure 5", "triangular factors, random order", ("overlap", Found("O Figure 5")), figure="o_5"),
    nothing("O Figure 6", "restricted overlap on a GPU"),
    undecided("O section 4", "blocks in the order of dependency, mirrored for upper factors",
              "the order is that of the blocks' launch, which says nothing where all of them run at once", see=(OVERLAP,)),
    item("O Table 1", "the lower factors", ("overlap", Found("O Table 1")), see=(OVERLAP,),
         tables=(Made("overlap", "O Table 1", tables.factors,
                      ("matrix", "published rows", "ours", "published entries", "ours", "published entries a row", "ours",
                       "published condition number", "ours")),),
         note="Not measured: seven need matrices of the collection, which are not here; LAP's condition number needs an estimate of the inverse of a "
              "triangular factor, which nothing here has."),
    item("O Figure 7", "sparsity plots of the factors", figure="o_7", status=NOTHING,
         why="one of eight is here, LAP, to look at; the others need matrices of the collection"),
    item("O Figure 8", "overlap of 0 to 50 percent: BCSSTK38, CHP, CONSPH, DC (here others in their place)", ("overlap", Found("O Figure 8", gpu="time")),
         note=IN_THEIR_PLACE, undrawn="BCSSTK38, CHP, CONSPH and DC are not here; the curves of others are tables of the study"),
    item("O Figure 9", "the same: M_T1, STO, VEN, LAP (here LAP alone)", ("overlap", Found("O Figure 9|O section 5", gpu="time")),
         see=(OVERLAP,), figure="o_9", note=COUNTS + " 13 percent of 256 rows are 33 here, and 32 in the paper.",
         tables=(Table("overlap", "LAP on", (0, 1, 2, 3), ("overlap (%)", "blocks", "iterations", "ms")),)),
)

VARIATION = r"runs differ|runs' spread|varies more"
THESIS = (
    nothing("T Table 1.1", "contributions and publications"),
    item("T section 2.2, equations 2.10, 2.11", "the number of corrections",
         ("refinement", Found("T equations 2.10, 2.11")), note=TO_12),
    nothing("T section 2.1, equations 2.2, 2.7", "when to stop, and the error's bound by the residual's"),
    same("T Algorithms 1, 2", "refinement, in mixed precision too", "T section 2.2, equations 2.10, 2.11"),
    *(nothing(f"T Figure 2.{n}", what) for n, what in ((1, "mixed precision"), (2, "A in parts"), (3, "multigrid"))),
    nothing("T sections 2.4.1 to 2.4.3", "Jacobi, Gauss-Seidel, SOR, and both backward and symmetric"),
    nothing("T Algorithm 3", "block Jacobi and two-stage iterations"),
    item("T Theorems 2.4.1, 2.4.2", "rho(B) decides on convergence", ("histories", checks.jacobi_factor)),
    item("T section 2.4.6", "Gauss-Seidel against Jacobi", ("histories", checks.gauss_seidel_half)),
    nothing("T Algorithms 4 to 9", "Arnoldi, Lanczos, CG, GMRES"),
    nothing("T section 2.6, equations 2.43 to 2.47", "the smoothing property of Richardson's iteration", "a proof"),
    nothing("T Algorithm 10", "the multigrid cycle"),
    nothing("T Algorithm 11, Definition 3.1.1", "asynchronous iteration: update and shift functions"),
    nothing("T section 3.2.1", "classes of matrices with rho(abs(B)) < 1", "examples"),
    item("T Theorems 3.2.2, 3.2.3", "rho(abs(B)) < 1: every schedule converges", ("divergence", Found("T Theorems 3.2.2, 3.2.3")),
         tables=(Table("divergence", "Orders of components", tuple(range(10)),
                       ("matrix", "rho(abs(B))", "bound on omega", "omega",
                        *(f"random, up to {n} before" for n in (1, 2, 5, 10, 20)), "built, a round")),),
         note="Components are relaxed one at a time, in random orders, from values of up to so many sweeps before, and in the one of Theorem 3.2.6, whose error changes by rho of "
              "abs(I - omega D^-1 A) a round; where that is below 1 it has to converge, too."),
    item("T Theorem 3.2.5", "the bound on omega below which every schedule converges",
         ("divergence", Found("T Theorem 3.2.5")),
         ("divergence", Found(r"\(Leopard\) Theorem 3.2.5", label="beyond it, where the thesis says nothing: ")),
         ("omega-bound", checks.omega_bound),
         note="Orders of components, see the table before, and of blocks with the library, at 0.999 of the bound. What converges beyond "
              "it says nothing against the bound, and random orders do; that the built one diverges says that it is the largest."),
    item("T Theorem 3.2.6", "a schedule that diverges where rho(abs(B)) > 1", ("divergence", Found("T Theorem 3.2.6")),
         tables=(Table("divergence", "A ring of four", (0, 1, 2, 3, 5, 7),
                       ("c", "rho(B)", "rho(abs(B))", "oldest value", "factor a round", "Jacobi")),),
         note="rho(abs(B)) = 1, where systems are singular and convergence is possible, is not tried: nothing is claimed of it."),
    item("T Table 3.1", "five classes of two-stage iterations", ("taxonomy", Found("T section 3.3$")),
         ("taxonomy", Found("T section 3.3.6")), ("taxonomy", Found("T section 2.4.6")),
         tables=tuple(Table("taxonomy", f"{matrix}: to ", (0, 1, 2, 3, 5, 4, 6, 8),
                            ("class", "inner iterations", "outer iterations", "values", "name in P Table I", "local iterations", "ours: iterations", "ours: time (ms)"))
                      for matrix in ("fv1", "fv3", "trefethen")),
         note="What the columns of the class say is the table's; numbers are not printed."),
    same("T Algorithms 12 to 15", "the same as listings", "T Table 3.1"),
    nothing("T section 3.3.5", "overlap whose shared components are updated twice as often",
            "a definition; overlap here is written by its owner alone, as in O"),
    nothing("T Figure 3.1", "their inclusions"),
    nothing("T Figure 4.1, equation 4.1", "async-(k) in blocks"),
    item("T Table 4.1", "1000 runs on fv1: residuals and how much they vary",
         ("variation", Found("Tables 4.1, 4.2", "^fv1", gpu="^")), ("variation", checks.variation_means("fv1", 100)),
         ("variation", Found("T Table 4.1", "^fv1", gpu=VARIATION)), see=(SOLVERS,),
         tables=(residuals("fv1", "as reconstructed"), residuals("fv1", "as printed")), figure="variation"),
    item("T Table 4.2", "1000 runs on Trefethen_2000: residuals and how much they vary",
         ("variation", Found("Tables 4.1, 4.2", "^trefethen", gpu="^")),
         ("variation", Found("reconstruction of T Table 4.2")),
         ("variation", Found("T Table 4.2", "spread", gpu=VARIATION)), see=(SOLVERS,),
         tables=(residuals("trefethen", "as reconstructed"), residuals("trefethen", "as printed"))),
    item("T Table 4.3", "their variances on fv1", ("variation", checks.deviations("fv1", 100)),
         tables=(spreads("fv1"),), note="How many runs there were: see the errata."),
    item("T Table 4.4", "their variances on Trefethen_2000", ("variation", checks.deviations("trefethen", 30)),
         tables=(spreads("trefethen"),)),
    item("T Figure 4.2", "the variations as curves", ("variation", checks.pattern_of_variation),
         undrawn="four of its six panels are drawn at T Table 4.1, random orders at T section 4.3; the absolute "
                 "variations (c, d) are the relative ones times the means"),
    item("T section 4.3", "what makes runs differ", ("variation", Found("T section 4.3", gpu=VARIATION)),
         ("many-blocks", checks.runs_differ),
         ("many-blocks", Found("T section 4.3", label="more blocks than run at once: ", gpu="^")),
         ("random-order", Found("T section 4.3", label="random order: ", unused="T Table")),
         ("random-order", checks.growth_in_random_order), figure="spreads",
         tables=(Table("many-blocks", "Variation, trefethen", (0, 3), ("iteration", "relative variation"), 2),
                 Table("random-order", "Variation, trefethen, as reconstructed", (0, 4, 3),
                       ("iteration", "published relative variation", "ours"), 2),
                 Table("random-order", "Variation, fv1, as reconstructed", (0, 4, 3),
                       ("iteration", "published relative variation", "ours"), 3)),
         note="Many blocks: more than a GPU holds, or four times as many threads as there are cores, where the largest "
              "differences depend on what else the processors do. Random order: of the replay, seeded, with values of "
              "up to two iterations before."),
    item("T Figure 4.3", "async-(1), Jacobi, Gauss-Seidel", ("histories", checks.convergence_async_1), figure="4_3",
         note="Blocks of 512 rows. Panels fv2 and s1rmt3m1: the matrices are not here."),
    undecided("T section 4.4.1", "s1rmt3m1: diverges; tau = 2 / (lambda_1 + lambda_n) makes Jacobi usable",
              "the matrix is not here, and nothing of it is printed; tau makes rho(B) smaller than 1, and rho(abs(B)) not, so that it is no "
              "guarantee for async"),
    item("T Table 4.5", "seconds for k = 1 to 9 local iterations, fv3",
         ("local-iterations", Found("T Table 4.5|T section 4.4.2, Table 4.5", gpu="^")), see=(SOLVERS,),
         tables=(Table("local-iterations", "Total time, fv3", (0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9),
                       ("k", *(text for n in range(100, 600, 100) for text in (f"published, {n} its (s)", "ours")))),
                 Table("local-iterations", "More time than k = 1", (0, 10, 9, 13, 12),
                       ("k", "published, 500 its (%)", "ours", "published, an iteration (%)", "ours")))),
    item("T Figure 4.4", "async-(5) and Gauss-Seidel", ("histories", checks.convergence_async_5),
         ("local-iterations", Found("^T section 4.4.2$", gpu="in time")), figure="4_4",
         note="Blocks of 512 rows. Panels fv2 and s1rmt3m1: the matrices are not here."),
    item("T Figure 4.5", "time an iteration over the number of iterations, fv3",
         ("iteration-times", checks.time_falls), figure="4_5",
         note="Without transfers of the matrix, which the thesis's times hold."),
    item("T Table 4.6", "time an iteration", ("iteration-times", checks.iteration_seconds), see=(SOLVERS,),
         tables=(Made("iteration-times", "Seconds an iteration, Gauss-Seidel on the host", tables.iteration_seconds,
                      ("matrix", "published, Gauss-Seidel", "ours", "published, Jacobi", "ours", "published, async-(5)",
                       "ours")),),
         note="Means over eight numbers of iterations from 10 to 200, in the place of twenty. Not measured: the matrices "
              "are not here."),
    item("T Figure 4.6", "residual over time", ("solve-times", checks.times), see=(SOLVERS,), figure="4_6"),
    item("T section 4.4.3", "few iterations on Trefethen_2000", ("iteration-times", checks.few_iterations)),
    item("T Table 4.7", "what a recovery costs",
         ("faults", Found("T Table 4.7", unless="for which accuracy is not printed")),
         see=(SOLVERS,),
         tables=(Table("faults", "More iterations and time", (0, 1, 2, 7, 5),
                       ("matrix", "set-up", "recovery", "published more time (%)", "ours, more iterations (%)")),),
         note="The accuracy that the printed costs are for is not printed; here 1e-12."),
    item("T Figure 4.7", "components that stop, and silent errors", ("faults", Found("T section 4.5")), figure="4_7"),
    nothing("T Figure 4.8", "blocks on several GPUs"),
    nothing("T Figure 4.9", "AMC, DC and DK"),
    item("T Figure 4.10", "several GPUs: AMC", ("gpus", Found("T Figure 4.10", gpu="^")), see=(GPUS, FOUR_GPUS), see_of_more_gpus=(FOUR_GPUS,),
         figure="4_10", tables=(of_exchanges("trefethen-20000: residual"), of_exchanges("fv3: residual")),
         quoted=(Quoted(FOUR_GPUS, "| finding, on one to four GPUs"), Quoted(GPUS, "| finding | here"), Quoted(GPUS, "| matrix | rows | one GPU")),
         note=f"{EXCHANGES} The set-up of 0.8 s that the thesis prints, whatever the number of GPUs, is that of its program. The last tables are of earlier runs on up to four GPUs, and on two; in the last: microseconds an "
              "iteration / milliseconds to the residual of one GPU."),
    undecided("T Figure 4.11", "several GPUs: where the host's memory is", "the machines at hand have one memory"),
    item("T Figure 4.12", "several GPUs: DC", ("gpus", Found("T Figure 4.12", gpu="^")), see=(GPUS, FOUR_GPUS),
         figure="4_12",
         note="What was measured on two to four GPUs stands at T Figure 4.10."),
    item("T Figure 4.13", "several GPUs: DK", ("gpus", Found("T Figure 4.13", gpu="^")),
         ("gpus", Found(r"^\(Leopard\)$", gpu="^", label="halo, not in the papers: ")), see=(GPUS, FOUR_GPUS),
         figure="4_13",
         note="What was measured on two to four GPUs stands at T Figure 4.10."),
    item("T Figure 4.14", "several GPUs: time to convergence", ("gpus", Found("T Figure 4.14", gpu="^")), see=(GPUS,), figure="4_14",
         note="It has up to four GPUs, of AMC; what two to four gain an iteration stands at T Figure 4.10."),
    item("T section 4.8.2", "Algorithms 16 and 17, the if or the product", ("storage", Found("T section 4.8.2"))),
    item("T Algorithms 16, 17, 18", "the listings as printed", ("storage", Found("T Algorithm")),
         note="They are compared with async-(5) and async-(6) of this library: 16 and 17 with the class total, 18 with "
              "the class block."),
    nothing("T Figure 4.15", "block-CRS"),
    item("T Table 4.8", "CRS and block-CRS, A318", ("storage", Found("T Table 4.8", gpu="^")),
         ("storage", finding_checks.OfStarts("T section 4.9", gpu="conversion")), see=(SOLVERS,),
         tables=(Made("storage", "", tables.storage,
                      ("method", "storage", "published, an iteration (s)", "ours", "published less (%)", "ours",
                       "published start (s)", "ours", "pays after, from published", "ours"),
                      "Plain CRS and block-CRS"),),
         note="The title of the table names the size, which is 318^3 where there is memory for it. Block-CRS is compared "
              "with Algorithm 16; the other plain CRS freezes off-block values, as block-CRS does."),
    Item("T Figure 4.16", "the same as curves, start included", same_as="T Table 4.8", figure="4_16",
         note="The lines are the start and so many times an iteration of T Table 4.8, published and ours."),
    nothing("T section 4.10.2, equations 4.2 to 4.4", "dominance as theta", "a definition; see the errata"),
    item("T Algorithm 19, Theorem 4.10.1", "omega weights in local iterations converge below the bound",
         ("omega-bound", checks.omega_weights)),
    item("T Algorithm 20, Theorem 4.10.2", "l1 weights converge where rho(abs(B)) < 1",
         ("omega-bound", checks.l1_weights)),
    nothing("T Figure 4.17", "l1 weights"),
    item("T Figure 4.18", "relaxation factors", ("weights", Found("T Figure 4.18")), ("weights", finding_checks.omega_of_chem97), see=(SOLVERS,), figure="4_18",
         note=COUNTS + " Where there is no point it is not reached."),
    item("T Figure 4.19", "l1 weights and block sizes", ("weights", Found("T Figure 4.19")), figure="4_19",
         note=COUNTS),
    item("T Figure 4.20", "the same over time, against SOR",
         ("weights", Found("T Figure 4.20|T section 4.10.3", gpu="fast")), see=(SOLVERS,), figure="4_20",
         note="Where there is no bar the accuracy is not reached."),
    item("T Table 4.9", "theta-dependent local iterations: how many",
         ("theta", Found("T Table 4.9|T section 4.10.5")),
         tables=(Table("theta", "Local iterations of a global one", (0, 1, 3, 2, 5, 4),
                       ("block size", "blocks", "published, theta", "ours", "published, async-(5)", "ours")),)),
    item("T Figure 4.21", "theta-dependent local iterations: block sizes", ("theta", Found("T Figure 4.21")),
         ("theta", finding_checks.smaller_blocks),
         figure="4_21", note=COUNTS),
    item("T Figure 4.22", "theta-dependent local iterations: convergence", ("theta", Found("T Figure 4.22")),
         figure="4_22", note=COUNTS),
    nothing("T Figure 4.23, equations 4.8 to 4.11", "the five-point stencil"),
    item("T Table 4.10", "the five-point matrices, 4.01 on the diagonal", ("helmholtz", checks.helmholtz),
         tables=(Made("helmholtz", "Rows, entries and condition numbers", tables.helmholtz,
                      ("N", "published rows", "ours", "published entries", "ours", "published condition number",
                       "ours, by Lanczos")),)),
    item("T Figure 4.24", "block sizes on 32 x 32 nodes", ("mesh-blocks", Found("T Figure 4.24")), figure="4_24"),
    item("T Figure 4.25", "meshes for blocks of 112 rows", ("mesh-blocks", Found("T Figure 4.25")),
         ("mesh-blocks", checks.time_pattern), figure="4_25"),
    item("T Figure 4.26", "the same over time", ("mesh-blocks", Found("T Figure 4.26", gpu="^")), figure="4_26",
         note=COUNTS),
    item("T section 4.10.8", "blocks of whole mesh lines", ("mesh-blocks", Found("T section 4.10.8"))),
    item("T Figure 4.27, equation 4.12", "multigrid in 1D: condition numbers",
         ("smoothers", Found("T Figure 4.27", files=["run/study_findings.csv"])), see=(SMOOTHERS,),
         figure="4_27",
         note="20,000 unknowns in the place of 10^7; async-(5) is damped by 2/3 a sweep, but where omega=1 stands."),
    item("T Figure 4.28", "multigrid in 1D: sizes",
         ("smoothers", Found("T Figure 4.28", files=["run/study_findings.csv"])), see=(SMOOTHERS,),
         figure="4_28",
         note="10^4 to 10^6 unknowns in the place of 10^8. Curves of all sizes lie on top of each other."),
    item("T Table 4.11", "seconds of the smoother",
         ("smoothers", Found("T Table 4.11|T section 4.11.2.2", gpu="fast|async", files=["run/study_findings.csv"])),
         see=(SMOOTHERS,),
         tables=(Made("smoothers", "T Table 4.11", tables.smoothers,
                      ("levels", "unknowns", "published, Gauss-Seidel (s)", "ours", "published, async-(5) (s)", "ours", "published, transfers (s)",
                       "ours", "times as fast, from published", "ours", "with transfers, from published", "ours")),),
         note="Not measured: 10^7 unknowns, for want of time, as Gauss-Seidel on a core would take minutes. Transfers are zero where all levels are "
              "where the smoother is."),
    item("T Figure 4.29", "the same with transfers",
         ("smoothers", Found("T Figure 4.29", gpu="^", files=["run/study_findings.csv"])), see=(SMOOTHERS,),
         figure="4_29"),
    item("T Figure 4.30", "smoothing steps",
         ("smoothers", Found("T Figure 4.30", gpu="fastest|gains|time|ask for", files=["run/study_findings.csv"])),
         see=(SMOOTHERS,), figure="4_30", note="10^6 unknowns. Each panel has its own scale."),
    item("T Figure 4.31", "refinement in double and single precision",
         ("refinement", OfPlans("T Figure 4.31|T section 4.13.4")),
         ("refinement", Found("T section 4.12.1", unless="for which accuracy is not printed, and the number follows from it")),
         see=(REFINEMENT,), figure="4_31", note=f"{POINTS} {TO_12} {ALTERNATES}"),
    item("T Figure 4.32", "the same over time", ("refinement", OfPlans("T Figure 4.32", gpu="^")), see=(REFINEMENT,),
         figure="4_32"),
    undecided("T Figure 4.33", "runtimes on C1060, C2070, GTX280, GTX580", "needs GPUs of 2008 to 2011"),
    same("T Theorem 4.13.3, Algorithms 21, 22, 23, equations 4.13 to 4.16", "(block-)asynchronous refinement converges", "T Figure 4.34",
         ".*: converges$"),
    nothing("T section 4.13.4", "numbers of local iterations by local residuals", "proposed, and nothing is measured of it"),
    item("T Figure 4.34", "block-asynchronous refinement", ("refinement", Found("T Figure 4.34")), see=(REFINEMENT,),
         figure="4_34"),
    item("T Figure 4.35", "the same over time", ("refinement", Found("T Figure 4.35", gpu="^")), see=(REFINEMENT,),
         figure="4_35"),
    item("T Figure 4.36", "against the synchronous refinement", ("refinement", Found("T Figure 4.36", undecided=OUTER)),
         figure="4_36"),
    item("T Figure 4.37", "the same over time", ("refinement", OfPlans("T Figure 4.37", gpu="^")), see=(REFINEMENT,),
         figure="4_37"),
    same("T Algorithm 24, equations 4.17 to 4.22", "Newton's method with an asynchronous inner solver", "T Figure 4.38"),
    item("T Figure 4.38", "Newton's method with async-(5)", ("newton", checks.newton_counts), see=(REFINEMENT,),
         figure="4_38",
         note="A step solves for the correction, not for the new iterate, and the residual has to become 1e-10 of the first, not the "
              "change of u, as in Algorithm 24: inner iterations that are not converged start from zero, not from the iterate."),
    item("T Figure 4.39", "Newton's method with each inner solver", ("newton", checks.newton_solvers),
         figure="4_39"),
    item("T section 4.14.2, equations 4.23 to 4.34", "pattern formation: rho(abs(B)) < 1 by the choice of the time step",
         ("time-step-bound", pattern_checks.bound)),
    item("T Figure 4.40", "pattern formation", ("patterns", pattern_checks.of_direct_solver),
         ("patterns", pattern_checks.end), see=(PATTERNS,), figure="4_40",
         note="The direct solver takes each step on the coarser grid only, where that takes minutes. Files hold single "
              "precision, so that differences below 1e-7 are not seen."),
    nothing("T Figure 5.1", "lists of computers"),
    item("T Figure 5.2", "power meters", ("energy", OfStandIns("T Figure 5.2", gpu="GPU")), see=(ENERGY,),
         undrawn="a drawing of meters",
         tables=(Table("energy", "Measurements of the same solve: ", (0, 1, 2, 3, 4, 5),
                       ("measurement", "solves", "time (s)", "GPU, counter (J)", "GPU, sampled (J)", "CPU (J)")),),
         note="The thesis' meter reads processors, board and GPU 25 times a second; here it is the counters of NVML "
              "and RAPL. The claims are ours: what one measurement is worth."),
    nothing("T Figure 5.3", "power meters"),
    nothing("T equation 5.1", "power of a processor"),
    item("T section 5.3", "idle-wait and frequency scaling", ("energy", OfStandIns("T section 5.3", gpu="^")),
         see=(ENERGY,), tables=(Made("energy", "Matrices of Tables 5.1 to 5.5", tables.stand_ins,
                                     ("matrix", "published rows", "entries", "here", "rows", "entries")),)),
    undecided("T section 5.3.3", "50 and 74 us until a host sleeps or wakes", "the seconds of whole solves are compared, at T "
              "section 5.3, and not single waits", see=(WAITS,)),
    *(item(f"T Table 5.{n}", what, ("energy", OfStandIns(f"T Table 5.{n}", gpu="^")), see=(ENERGY,), tables=shown,
           note=f"{GENERATED} {JOULES}" + (f" {UNMEASURED}" if n < 4 else ""))
      for n, what, shown in (
          (1, "energy of CG, G3_circuit", (of_processors(1, "CG", published.OF_CG, published.PARTS_CG),)),
          (2, "energy of PCG, G3_circuit", (of_processors(2, "CG, Jacobi", published.OF_PCG, published.PARTS_PCG),)),
          (3, "energy of CG, A318", (OF_FREQUENCIES,)),
          (4, "energy of CG", (in_layout(4, "CG, ", published.ENERGY_CG), of_waiting("Table 5.4: CG, "))),
          (5, "energy of PCG", (in_layout(5, "CG, Jacobi, ", published.ENERGY_PCG),
                                of_waiting("Table 5.5: CG, Jacobi, "))))),
    item("T Figure 5.4", "power over time, CG, A318", ("energy", OfStandIns("T Figure 5.4", gpu="^")), see=(ENERGY,),
         figure="5_4"),
    item("T Figure 5.5", "power of Jacobi and async-(5), fv3", ("energy", OfStandIns("T Figure 5.5", gpu="^")),
         see=(ENERGY,), figure="5_5"),
    item("T Table 5.6", "time and energy of Jacobi, async-(5), refinement, fv3",
         ("refinement", Found("T Table 5.6", gpu="^")), ("energy", OfStandIns("T Table 5.6", gpu="^")),
         see=(REFINEMENT, ENERGY), tables=(OF_RELAXATIONS, of_waiting("Table 5.6, "), of_waiting("As Table 5.6, ")),
         note=f"{JOULES} 'not measured': on this machine there is no GPU to wait for, or no energy to read."),
    item("T Figure 5.6", "energy over accuracy", ("energy", OfStandIns("T Figure 5.6", gpu="^")),
         ("energy", OfStandIns("^$", "(takes less|gains nothing).*, GPU alone$", gpu="^", unused="^$")), see=(ENERGY,),
         figure="5_6",
         tables=(Table("energy", "Joules a digit, at the last accuracy that is reached, ", (0, 1, 2, 3, 4),
                       ("solver", "digits", "GPU (J)", "CPU (J)", "GPU and CPU (J)"), each="matrix"),),
         note="What its text says of fv3 contradicts Table 5.6, see the errata. GPU alone: what can be said where the "
              "energy of the processor is not known."),
    nothing("T Figure A.1", "formats of numbers"),
    nothing("T Figure A.2", "formats of numbers", "a table of constants; see the errata"),
    item("T Table B.1", "sizes of the test matrices", ("matrices", checks.sizes),
         tables=(Made("matrices", "T Table B.1", tables.sizes, ("matrix", "published rows", "ours", "published entries", "ours")),),
         note="Not measured: matrices of the collection that are not here. Trefethen_20000 and A318 can be generated; what stands for the "
              "others is listed at T section 5.3."),
    item("T Table B.2", "condition numbers and rho", ("matrices", checks.conditions),
         tables=(Made("matrices", "T Table B.2", tables.conditions,
                      ("matrix", "published cond(A)", "ours, 2-norm", "ours, 1-norm", "published cond(D^-1 A)", "ours, 1-norm", "published rho",
                       "ours")),),
         note="cond(D^-1 A) as printed is a condition number in the 1-norm. Not measured: fv2 and s1rmt3m1 are not here."),
    item("T Figure B.3", "sparsity plots", figure="b_3", status=NOTHING, why="four of twelve are here, to look at"),
    item("T Table C.3", "bandwidth between devices", ("copies", Found("T Table C.3", unless="the ways are not alike: the library's threads carry data to a GPU "
                                                "through pinned memory, the driver carries pageable memory back")),
         tables=(Table("copies", "Copies", (0, 1, 3, 2), ("from", "to", "published (GB/s)", "ours")),)),
    nothing("T Figure C.4", "main boards"),
    nothing("T Table C.4", "four GPUs", "data sheets"),
)

ITEMS = (*PREPRINT, *REFINED, *THESIS, *JOURNAL, *OVERLAPPING)
