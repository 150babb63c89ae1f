# SPDX-License-Identifier: Apache-2.0
"""
What the papers print, digits as printed, misprints included. P: preprint 2011, R: refinement 2012, T: thesis 2012,
J: journal 2013, O: overlap 2016. What leopard-study prints itself (T Tables 4.1 to 4.5, 4.7 to 4.9, 4.11, 5.1 to 5.6) is
in applications/studies/papers/published.cc alone: it comes from its output, or is read there.
"""
import ast
import re

from . import Error
from .run import ROOT

SOURCE = ROOT / "applications" / "studies" / "papers" / "published.cc"

# T Table B.1: rows and entries
SIZES = {
    "A318": (32157432, 224495280), "apache2": (715176, 4817870), "audikw_1": (943695, 77651847),
    "boneS10": (914898, 40878708), "Chem97ZtZ": (2541, 7361), "ecology2": (999999, 4995991), "fv1": (9604, 85264),
    "fv2": (9801, 87025), "fv3": (9801, 87025), "G3_circuit": (1585478, 7660826), "ldoor": (952203, 42493817),
    "nd24k": (72000, 28715634), "s1rmt3m1": (5489, 262411), "Trefethen_2000": (2000, 41906),
    "Trefethen_20000": (20000, 554466),
}

# T Table B.2, P Table III, J Table 1, R Table 1: cond(A), cond(D^-1 A), rho(I - D^-1 A); a unit of the last digit
CONDITION = {
    "Chem97ZtZ": (1.3e3, 7.2e3, 0.7889), "fv1": (9.3e4, 12.76, 0.8541), "fv2": (9.5e4, 12.76, 0.8541),
    "fv3": (3.6e7, 4.4e3, 0.9993), "s1rmt3m1": (2.2e6, 7.2e6, 2.65), "trefethen": (5.1e4, 6.1579, 0.8601),
}
CONDITION_UNIT = {"Chem97ZtZ": (1e2, 1e2), "fv1": (1e3, 1e-2), "fv3": (1e6, 1e2), "trefethen": (1e3, 1e-4)}

# P Table V: iterations, mean, largest and smallest residual, variation; Table IV: variance, standard deviation, error
STATISTICS_FV3 = (
    (1000, 5.891843e-02, 5.892425e-02, 5.891381e-02, 1.04e-05, 1.267907777e-11, 3.560769267e-06, 1.186923089e-06),
    (2000, 3.704219e-03, 3.704469e-03, 3.704032e-03, 4.37e-07, 2.852852777e-14, 1.689039010e-07, 5.630130033e-08),
    (3000, 2.328863e-04, 2.329025e-04, 2.328636e-04, 3.89e-08, 1.723400000e-16, 1.312783302e-08, 4.375944342e-09),
    (4000, 1.463948e-05, 1.464075e-05, 1.463681e-05, 3.94e-09, 1.739569444e-18, 1.318927384e-09, 4.396424613e-10),
    (5000, 9.204411e-07, 9.206522e-07, 9.202036e-07, 4.49e-10, 2.024053694e-20, 1.422692410e-10, 4.742308034e-11),
    (6000, 5.787439e-08, 5.788572e-08, 5.786295e-08, 2.28e-11, 6.345816111e-23, 7.966063087e-12, 2.655354362e-12),
    (7000, 3.638487e-09, 3.638883e-09, 3.637891e-09, 9.92e-13, 1.158381944e-25, 3.403501056e-13, 1.134500352e-13),
    (8000, 2.287199e-10, 2.287934e-10, 2.286609e-10, 1.33e-13, 1.977760010e-27, 4.447201367e-14, 1.482400455e-14),
    (9000, 1.438192e-11, 1.438458e-11, 1.438008e-11, 4.50e-15, 2.860577777e-30, 1.691324267e-15, 5.637747558e-16),
)

# T Table 4.6 (P Table VII, J Table 5): seconds an iteration of Gauss-Seidel (CPU), Jacobi and async-(5) (GPU)
ITERATION_SECONDS = {
    "Chem97ZtZ": (0.008448, 0.002051, 0.001742), "fv1": (0.120191, 0.019449, 0.012964),
    "fv2": (0.125572, 0.020997, 0.014729), "fv3": (0.125577, 0.021009, 0.014737),
    "s1rmt3m1": (0.039530, 0.006442, 0.004967), "trefethen": (0.007603, 0.001494, 0.001305),
}

# T Table 4.10: N, unknowns, entries, condition number
HELMHOLTZ = (
    (100, 10000, 49600, 670.98), (101, 10201, 50601, 673.11), (102, 10404, 51612, 675.20),
    (103, 10609, 52633, 677.23), (104, 10816, 53664, 679.22), (105, 11025, 54705, 681.17),
    (106, 11236, 55756, 683.07), (107, 11449, 56817, 684.93), (108, 11664, 57888, 686.75),
    (109, 11881, 58969, 688.52), (110, 12100, 60060, 690.26), (111, 12321, 61161, 691.96),
    (112, 12544, 62272, 693.63), (113, 12769, 63393, 695.25), (114, 12996, 64524, 696.85),
    (115, 13225, 65665, 698.41), (116, 13456, 66816, 699.93), (117, 13689, 67977, 701.43),
    (118, 13924, 69148, 702.89), (119, 14161, 70329, 704.32), (120, 14400, 71520, 705.72),
)

# T Tables 5.4 (CG), 5.5 (with Jacobi): Wh with DVFS (ii), printed improvements (i) -> (ii), (i) -> (iii) in percent
DVFS_CG = {"A318": (14.12, 5.1, 21.8), "apache2": (1.99, -0.5, 8.8), "ecology2": (2.27, -1.3, 10.0),
           "G3_circuit": (11.11, 3.3, 13.7), "nd24k": (25.42, 3.97, 24.8)}
DVFS_PCG = {"A318": (14.12, 5.1, 21.8), "apache2": (1.76, -0.6, 6.7), "audikw_1": (45.61, 5.2, 25.8),
            "boneS10": (150.16, 4.8, 25.1), "ecology2": (2.45, 2.4, 9.6), "G3_circuit": (2.63, 3.0, 13.9),
            "ldoor": (41.18, 5.0, 24.2), "nd24k": (32.97, 5.0, 25.3)}

# T Tables 5.1, 5.2: Wh of chipset and GPU in the GPU's row (without a GPU it is the chipset's alone)
PARTS_CG, PARTS_PCG = (8.04, 3.44), (1.89, 0.83)

# T Table 5.3, A318, by threads, 0: GPU. Mean W of chipset and GPU at 2,000 MHz; at 800 MHz seconds, W and Wh
WATTS_A318 = {1: (116.78, None), 2: (120.30, None), 4: (123.99, None), 8: (129.33, None), 0: (149.04, 61.89)}
AT_800_MHZ = {1: (3400.64, 103.50, None, 97.75), 2: (2196.63, 105.60, None, 64.44), 4: (1674.62, 108.11, None, 50.29),
              8: (1481.48, 110.46, None, 45.45), 0: (254.25, 138.50, 61.45, 14.12)}

# T Table 5.6: gains over Jacobi of time, energy plain and energy with idle-wait, percent
GAINS_FV3 = {"async-(5)": (67, 67, 69), "MPIR async-(5)": (83, 82, 83)}

# O Table 1: rows, entries, entries a row, condition number of the lower factors
FACTORS = {"BCSSTK38": (8032, 116774, 14.54, 6.87e8), "CHP": (20082, 150616, 7.50, 7.90e5),
           "CONSPH": (83334, 1032267, 12.39, 6.81e6), "DC": (116835, 441781, 3.78, 6.54e10),
           "M_T1": (97578, 4269276, 43.74, 4.78e10), "STO": (213360, 1660005, 7.78, 1.38e7),
           "VEN": (62424, 890108, 14.26, 1.85e7), "LAP": (262144, 3560572, 13.58, 9.23e6)}


def printed(name):
    """What stands under this name in the studies' published.cc: nested lists, None where nothing is printed."""
    text = SOURCE.read_text(encoding="utf-8")
    match = re.search(rf"\b{name}\s*=\s*(\{{.*?\}});", text, re.DOTALL)
    if not match:
        raise Error(f"{SOURCE} has no '{name} = {{...}};'\n  expected: what published.py names")
    value = ast.literal_eval(match[1].replace("{", "[").replace("}", "]").replace("not_printed", "None"))
    while len(value) == 1:  # an array's braces
        value = value[0]
    return value


def waiting(plain, dvfs):
    """{matrix: Wh of (i) plain, (ii) DVFS, (iii) DVFS and idle-wait, improvements}; plain: the column of the source."""
    rows = {row[0]: row[1:] for row in printed("energy_of_waiting")}
    return {matrix: (rows[matrix][plain], second, rows[matrix][plain + 1], *more) for matrix, (second, *more) in dvfs.items()}


# T Table 4.11: [levels, seconds of Gauss-Seidel, of async-(5), of transfers], n = 10^4, 10^5, 10^6, 10^7
SMOOTHER_SECONDS = printed("smoother_seconds")
# T Tables 5.1, 5.2, 5.3: [threads (0: GPU), iterations (0: not printed), seconds, Wh]
OF_CG, OF_PCG, OF_A318 = (printed(name) for name in ("energy_of_cg", "energy_of_jacobi_cg", "energy_of_cg_a318"))
ENERGY_CG, ENERGY_PCG = waiting(0, DVFS_CG), waiting(2, DVFS_PCG)
# T Table 5.6, fv3: seconds, W plain and with idle-wait, Wh plain and with idle-wait
ENERGY_FV3 = {name: tuple(numbers) for name, *numbers in printed("energy_of_relaxations")}

# T Figure A.2 (table of the formats): rounding unit of single precision
ROUNDING_SINGLE = 5.69e-8

# Core frequency, GHz, in T Table C.4 and in R Table 2
CLOCKS = {"C1060": (1.15, 1.3), "C2070": (1.3, 1.15)}
