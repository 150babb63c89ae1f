# SPDX-License-Identifier: Apache-2.0
"""
Why claims are refuted: a regular expression of the claim and the reason. Numbers of ours do not stand here, as they
come from runs; what rests on other results of ours names them. The first that fits is taken.
"""
import re

ONE_LAUNCH = ("here iterations share a launch, in which blocks run ahead of others and read values of more than one iteration "
              "before; ")
STORAGE = ("with one sweep either form reads the matrix once; of five, four take Algorithm 16 about half of the time of the first, "
           "where in print they take all of it, so that a storage that is read once saves less")
MESHES = ("an H100 or H200 holds all blocks of these meshes at once, so that the time follows the iterations, which grow with N and "
          "vary with the age of values of other blocks")
INNER_ITERATIONS = ("Newton's method needs as many inner iterations in total, however many a step has, so that few steps, each with "
                    "its assembly, take the least time")
UNDAMPED = ("Jacobi sweeps without damping multiply the highest frequency by almost -1, so that they do not smooth; damped by "
            "2/3 the claim is met")

ANYWHERE = (
    # P Tables IV, V, T Tables 4.1, 4.2, section 4.3
    (r"^fv3, blocks of 512, as printed, 5 sweeps", "the listings do one sweep more than is printed; with 6 the claim is met"),
    (r"^fv1, as printed: a global iteration",
     "it is met in blocks of 112 rows with 6 sweeps, in the place of the printed 128 and 5: see the row 'as reconstructed'"),
    (r"^trefethen, as printed: a global iteration",
     "the listings do one sweep more than is printed; it is met with 6, in blocks of 112 rows: see the row 'as reconstructed'"),
    (r"weight outside the diagonal blocks makes runs differ",
     "against the diagonal the mesh matrix has more weight outside its blocks, which hold less than two lines of the mesh, than the "
     "Trefethen matrix, whose diagonal are primes and whose other entries are ones"),
    (r"^trefethen-\d+: runs differ",
     "its diagonal are primes and its other entries ones, so that values of other blocks hardly count; the rows with small "
     "primes are in the first block"),
    # T Figure 4.4 to section 4.10.5
    (r"^Trefethen_2000: five sweeps instead of one",
     "the thesis' own numbers say six times: 0.4021 an iteration of async-(5) (Table 4.2) against rho = 0.8601 of Jacobi (Table "
     "B.2), as its small diagonal entries are in one block"),
    (r"^Algorithms 16 and 18 as printed give the same",
     "Algorithm 16 reads values of other blocks anew in each local iteration and writes its own at once, Algorithm 18 does not"),
    (r"^without l1 weights omega >= 1.4 diverges",
     "1.4 is at the edge for fv1: in the synchronous schedule five sweeps still converge and six, which the listings do, do not; "
     "newer values, as host threads have, help"),
    (r"theta-dependent local iterations save more than 13 percent",
     "the thesis' own table has more than 13 percent in blocks of 448 rows only, and less in the mean"),
    (r"theta-dependent local iterations converge about 30 percent faster",
     "the blocks that lose a sweep decide on the rate, which is that of k - 1 everywhere; how many sweeps the thesis gives to "
     "which block is not printed"),
    (r"l1-async-\(5\) is faster than theta-dependent",
     "theta-dependent iterations are slower than async-(5) here, see the row before, and l1 weights hardly are in small blocks"),
    # T Figure 4.27
    (r"^async\(k=5, merged=2, block=512\): two smoothing steps",
     "one step is ten damped sweeps already; after so many the factor of a cycle falls like 1 / sweeps, so that twice as many save "
     "few cycles"),
    (r"^damped-jacobi converges considerably more slowly",
     "damped by 2/3 it smooths as well as Gauss-Seidel in 1D (smoothing factors 1/3 and 1/sqrt(5)); without damping, which the "
     "thesis does not exclude, the method does not converge"),
    (r"^async\(k=5, merged=2, block=512\): Gauss-Seidel attains",
     "both end where the residual is rounding, which the smoother does not change; with sweeps that are not damped it is met"),
    (r"^async\(k=5, merged=2, block=512, omega=1\)", UNDAMPED),
    # T Figure 4.34, Table B.2, O Figure 3
    (r"^trefethen: block-asynchronous refinement: single precision takes three times",
     "why it was so is not known: rounding to single precision changes a correction by some 1e-7 of itself, which cannot slow "
     "the iteration to a third"),
    (r": cond\(A\) = ", "what is printed is not known: it is no condition number in the 1- or the 2-norm"),
    # R section 5
    (r"^the precision chosen a priori is the faster one",
     "where the rate of convergence is not found within two seconds on one core the choice is double, and constants of a machine are "
     "fitted to another one, or to one without other work (benchmarks/results/2026-11-28_h200_precision_choice.md)"),
    (r"^refinement in double, which is never chosen",
     "a residual of double is tested every ten iterations, a correction knows beforehand how many it needs"),
    (r"^that of overlap in one direction is 3.34 times",
     "the block's own rows are relaxed whatever the direction is: half of 6.68 + 1 is due"),
    (r"^blocks top-down: (bottom-up overlap is as good as uniform|top-down overlap gains little)",
     "rows that have just been relaxed gain little when relaxed again, those that come later are brought up to date: with the two "
     "directions exchanged it is met"),
)

ON_GPU = (
    (r"a host that sleeps does not lengthen a solve",
     "a wait takes longer where the host sleeps (benchmarks/results/2026-11-25_h100_energy.md), and these solves wait often for their "
     "time: for tests, corrections or levels; where a solve is one graph with few waits, as of CG on larger matrices, the claim is met"),
    (r": on one GPU DC is a little faster than AMC",
     "an iteration takes a few microseconds on such matrices, and AMC's copies of x through the host many times that"),
    (r": AMC on two GPUs is about twice as fast",
     "all of x goes to each GPU through the host's memory in each iteration, which takes most of the time; the work, of which two have "
     "half each, was the larger part on GPUs of 2010"),
    (r": (DC|DK) on two GPUs takes less time an iteration",
     "what the other GPU sends and gets back, or loads and stores, takes longer than its half of the work saves"),
    (r": AMC takes almost half the time to the solution on two GPUs",
     "all of x goes to each GPU through the host's memory in each iteration, which takes most of the time (T Figure 4.10)"),
    (r": (DC|DK) takes a little less on two",
     "an iteration takes longer on two (T Figures 4.12, 4.13), and what it is worth is another: the master waits for nobody, so that it is "
     "ahead of the other GPU, whose iterations are counted"),
    (r": AMC converges nearly the same on two GPUs",
     "GPUs that do not wait for each other read values of other ages than one GPU has: how much that changes is seen beside"),
    (r": DC converges the same on two GPUs|: DK converges slower on two GPUs",
     "the master waits for nobody, so that it is ahead of the other GPU, whose iterations are counted"),
    (r"^and a local minimum: better than with one to four rows more", ONE_LAUNCH + "on the host the claim is met in both schedules"),
    (r"refinement (with async-\(5\) )?takes less energy than async-\(5\).*GPU alone",
     "a GPU takes little more power for so few rows than when idle, so that energy is time, which mixed precision does not save here "
     "(T Figures 4.31, 4.32)"),
    (r"^the second local iteration costs less than 5 percent",
     "the matrix is on the chip, so that an iteration without the sweep is short too; at the edge, another call had it met"),
    (r"^the residual after 1000 iterations is nearly linear in N",
     "blocks that all run at once read values of varying age, which moves the residual more than one mesh line does; another call "
     "had it met"),
    (r"^async\(k=5, merged=2, block=512\): so it does, from n = 10\^5 on",
     "up to some 10^6 rows a smoothing step takes its launches on an H100 or H200, not its rows"),
    (r"^Gauss-Seidel: larger condition numbers ask for more smoothing steps",
     "which smoother is fastest with how many steps depends on what the rest of a cycle costs, and here that is little against a "
     "smoothing step on one core, so that one step is best for either"),
    (r"^gauss-seidel: the time of residuals and transfers follows",
     "a single run, whose parts are the smallest of a few profiles; why they differ by more was not looked into"),
    (r"^blocks of four mesh lines", ONE_LAUNCH + "with those of the iteration before (the host's synchronous schedule) the claim is met"),
    (r"^fv1: CG is about a third faster than async-\(5\)",
     "an iteration of CG has several launches and waits for dot products, while iterations of async-(5) share a launch: on 9,604 "
     "rows these take the time"),
    (r"^fv[13]: async-\(5\) is about twice as fast as Jacobi",
     "each iteration of Jacobi is a launch, while those of async-(5) share one: on fewer than 10,000 rows launches take the time"),
    (r"^fv[13]: Jacobi is faster than Gauss-Seidel on a processor by orders",
     "by the printed T Table 4.6 an iteration of Jacobi takes a sixth of the time of one of Gauss-Seidel, which needs about half as "
     "many: three times is what the thesis' own numbers say"),
    (r"^block-CRS takes|^the conversion pays", STORAGE),
    (r"^Trefethen_2000: l1 and omega together are nearly 5 times as fast",
     "on 2,000 rows, which leave most of a GPU idle, a processor has gained more since 2010 than a GPU, see T Table 4.6"),
    (r"^N = \d+ (reaches 1e-6 sooner|is faster) than", MESHES),
    # refinement
    (r"^(fv1|trefethen): refinement in double costs next to nothing",
     "plain async-(5) is timed without tests, in one launch, while each correction waits for its residual: on so few rows that takes "
     "longer than the iterations"),
    (r"^fv3: refinement in double costs next to nothing",
     "about half of it are iterations, whose number differs by as much from run to run, and half is what a correction waits for; another "
     "call had it within the margin"),
    (r"^fv1: mixed precision takes almost half",
     "the matrix is on the chip in either precision, and waits of the corrections take most of the time: fewer bytes save little"),
    (r"^trefethen: mixed precision gains nothing",
     "it needs a correction fewer than double does, and on 2,000 rows what a correction waits for takes most of the time"),
    (r"^(fv1|trefethen): block-asynchronous, (double|mixed) refinement is not faster",
     "it is one launch without waits, while each correction of the synchronous one waits for its residual: on so few rows that takes "
     "longer than the iterations"),
    (r"^fv3: block-asynchronous refinement in mixed precision is faster than plain",
     "with 15 sweeps instead of 5 it saves less than half of the iterations, and each takes more than twice the time: the matrix is "
     "on the chip, so that sweeps are what costs"),
    (r"^fv3: mixed precision refinement takes half the time",
     "what an iteration saves, which is less than half as the matrix is on the chip in either precision, goes into more iterations (T "
     "Figure 4.31)"),
    # Newton's method
    (r"^with 200 to 500 iterations a step the time is about the same|^with 1000 iterations it is longer", INNER_ITERATIONS),
    (r"^mpir-async-\(5\) to 1e-10 is the fastest",
     "to 1e-10 a step is solved further than Newton's method needs: its few steps have several times as many inner iterations in total"),
    (r"^they are faster than all relaxations",
     "an iteration of CG waits for its dot products, one of GMRES for those with many vectors, while those of async-(5) share "
     "a launch: on 10,000 rows that takes the time"),
    (r"^async-\(5\) is almost 3 times as fast as Jacobi",
     "Jacobi needs almost as many times the iterations as async-(5) has sweeps, and a launch for each, where those of async-(5) share one"),
    (r"^LAP: 3 percent are best in time", "overlap adds more blocks here than it saves iterations (both in percent), whatever its width"),
)


def of(claim, device):
    """Why a claim is refuted by results of this device; empty where nobody has found out."""
    table = ON_GPU + ANYWHERE if device == "cuda" else ANYWHERE
    return next((reason for pattern, reason in table if re.search(pattern, claim)), "")
