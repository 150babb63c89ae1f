#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which error-controlled time integrators take the fewest linear solves: BDF2 and BDF3 as the program has them, beside
ESDIRK, Rosenbrock, W- and IMEX methods of order 3 and 4 and ETDRK4, for two species on finite differences without flux.
Errors and counts are what it measures, seconds are not. A coupled system (I - c (D laplace + r')) x = b of both species
is solved by GCR, preconditioned by cosine transforms with the mean of r', as exactly as the program's Newton's method
asks for; a system with constant coefficients is solved exactly by cosine transforms. --check shows the orders."""
import argparse
import functools

import numpy as np
from scipy.fft import dctn, idctn


class Problem:
    """du/dt = f(u) = D laplace u + r(u) in a square; u[species, y, x]; jacobian(u)[species, species, y, x] = dr/du."""

    def __init__(self, initial, length, diffusion, end, reaction, jacobian):
        n = initial.shape[1]
        self.initial, self.end, self.reaction, self.jacobian = initial, end, reaction, jacobian
        self.weights = np.array(diffusion).reshape(2, 1, 1) * ((n - 1) / length)**2
        of_line = 4. * np.sin(0.5 * np.pi * np.arange(n) / (n - 1))**2
        self.eigenvalues = self.weights * (of_line[:, None] + of_line[None, :])  # of -D laplace

    def diffuse(self, u):
        p = np.pad(u, ((0, 0), (1, 1), (1, 1)), mode="reflect")
        return self.weights * (p[:, :-2, 1:-1] + p[:, 2:, 1:-1] + p[:, 1:-1, :-2] + p[:, 1:-1, 2:] - 4. * u)


def autocatalysis(scale, a, b, c, d):
    """scale (a - b u + u^2 v, c + d u - u^2 v) and its derivative."""
    def reaction(u):
        product = u[0] * u[0] * u[1]
        return scale * np.stack([a - b * u[0] + product, c + d * u[0] - product])

    def jacobian(u):
        uv, uu = 2. * u[0] * u[1], u[0] * u[0]
        return scale * np.array([[uv - b, uu], [d - uv, -uu]])
    return reaction, jacobian


def schnakenberg(n, gamma=1000., end=0.2):
    """Of the thesis, section 4.14.2.2."""
    x = np.linspace(0., 1., n)
    p = 0.0016 * np.cos(2 * np.pi * (x[None, :] + x[:, None]))
    p += 0.001 * sum(np.cos(2 * np.pi * j * x) for j in range(1, 9))[None, :]
    kinetics = autocatalysis(gamma, 0.126779, 1., 0.792366, 0.)
    return Problem(np.stack([0.919145 + p, 0.937903 + p]), 1., (1., 10.), end, *kinetics)


def brusselator(n):
    """Relaxation oscillations (A = 1, B = 3, period 7.2) whose phase differs from place to place: waves."""
    y, x = np.meshgrid(np.linspace(0., 1., n), np.linspace(0., 1., n), indexing="ij")
    u = 1. + 0.8 * np.cos(np.pi * x) * np.cos(np.pi * y)
    v = 3. + np.cos(2 * np.pi * x) + 0.5 * np.cos(np.pi * y)
    return Problem(np.stack([u, v]), 1., (2e-3, 1e-3), 15., *autocatalysis(1., 1., 4., 0., 3.))


PROBLEMS = {"schnakenberg": schnakenberg, "brusselator": brusselator}


def norm(u):
    return np.sqrt(np.mean(u * u))


def combine(weights, terms):
    return sum(w * term for w, term in zip(weights, terms))


def mean_of(jacobian):
    return jacobian.mean(axis=(2, 3))


def times(jacobian, u):
    return (jacobian * u[None]).sum(axis=1)


transform, back = (functools.partial(function, type=1, axes=(1, 2)) for function in (dctn, idctn))


class Systems:
    """Solves systems of a problem and counts them."""

    def __init__(self, problem, tolerance, fraction):
        self.problem, self.goal = problem, fraction * tolerance  # the goal of a residual, relative to the fields
        self.solves = self.constant_solves = self.iterations = self.evaluations = 0
        self.decades = 0.  # by which solves have to reduce residuals, all together

    def f(self, u, diffusing=True):
        self.evaluations += 1
        return self.problem.reaction(u) + (self.problem.diffuse(u) if diffusing else 0.)

    def linear(self, u, mean):
        return self.problem.diffuse(u) + (0. if mean is None else np.tensordot(mean, u, 1))

    def count(self, first, goal):
        self.decades += np.log10(first / goal) if first > goal > 0. else 0.

    def by_modes(self, c, mean, rhs):
        """x of (I - c (D laplace + mean)) x = rhs; mean: a 2 x 2 matrix or None."""
        modes, e = transform(rhs), 1. + c * self.problem.eigenvalues
        if mean is None:
            return back(modes / e)
        p, q, r, s = e[0] - c * mean[0, 0], -c * mean[0, 1], -c * mean[1, 0], e[1] - c * mean[1, 1]
        return back(np.stack([s * modes[0] - q * modes[1], p * modes[1] - r * modes[0]]) / (p * s - q * r))

    def constant(self, c, mean, rhs, guess, scale):
        """The same, and counts what an iteration would have to do from this guess."""
        left = rhs - guess + c * self.linear(guess, mean)
        self.count(norm(left), min(self.goal * scale, 0.01 * norm(left)))
        self.constant_solves += 1
        return guess + self.by_modes(c, mean, left)

    def coupled(self, c, jacobian, residual, goal):
        """d with (I - c (D laplace + jacobian)) d = residual, up to the norm of the goal."""
        self.solves += 1
        self.count(norm(residual), goal)
        mean, d, left, directions = mean_of(jacobian), np.zeros_like(residual), residual, []
        while norm(left) > goal:
            if len(directions) > 60 or not np.isfinite(left).all():
                raise ArithmeticError("linear solver")
            z = self.by_modes(c, mean, left)
            product = z - c * (self.problem.diffuse(z) + times(jacobian, z))
            for old, old_product in directions:
                weight = np.vdot(product, old_product)
                z, product = z - weight * old, product - weight * old_product
            size = np.sqrt(np.vdot(product, product))
            directions.append((z / size, product / size))
            weight = np.vdot(left, product) / size
            d, left = d + weight * directions[-1][0], left - weight * directions[-1][1]
            self.iterations += 1
        return d

    def newton(self, c, known, u):
        """u = known + c f(u), from a guess u, as exactly as the program does it."""
        scale, residual = norm(known), known - u + c * self.f(u)
        size = norm(residual)
        goal = max(1e-8 * size, min(self.goal * scale, 0.01 * size), 1e-13 * scale)
        for _ in range(8):
            if not 0. < size < np.inf:
                raise ArithmeticError("not finite, or no change at all")
            u = u + self.coupled(c, self.problem.jacobian(u), residual, max(min(0.3 * goal / size, 0.5), 1e-3) * size)
            residual, old = known - u + c * self.f(u), size
            size = norm(residual)
            if size <= goal and (size <= 0.01 * old or size <= 1e-4 * scale):
                return u
        raise ArithmeticError("Newton's method")


def extrapolation(distances):
    return np.array([np.prod([b / (b - a) for b in distances if b != a]) for a in distances])


class BDF:
    """Of order 2 or 3, variable steps, as in the program: the order rises in the first steps; Milne's estimate."""

    def __init__(self, order):
        self.order, self.growth = order, 1.5 if order == 3 else 1.6

    def start(self, systems, u):
        self.systems, self.levels, self.steps = systems, [u], []

    def attempt(self, h):
        n_levels = len(self.levels)
        order = min(self.order, n_levels - 1 if self.order == 3 and n_levels > 1 else n_levels)
        d = h + np.concatenate([[0.], np.cumsum(self.steps)])  # to the old solutions
        c = 1. / np.sum(1. / d[:order])
        guess = combine(extrapolation(d[:self.order + 1]), self.levels)
        u = self.systems.newton(c, combine(c / d[:order] * extrapolation(d[:order]), self.levels), guess)
        self.attempted, self.power = h, order + 1
        return u, (c / (c + d[order]) * (u - guess) if n_levels > order else None)

    def accept(self, u):
        self.levels, self.steps = [u, *self.levels][:self.order + 1], [self.attempted, *self.steps][:self.order]


class OneStep:
    """What methods without old solutions share; `kept` is what the next step begins its solves with."""
    growth = 5.

    def start(self, systems, u):
        self.systems, self.u, self.h, self.kept = systems, u, 0., None

    def accept(self, u):
        self.u, self.h, self.kept = u, self.attempted, self.to_keep


def square(rows):
    return np.array([row + [0.] * (len(rows) - len(row)) for row in rows])


P = 0.435866521508459
# Kennedy and Carpenter, Appl. Numer. Math. 44, 2003: explicit and implicit tables, weights of the embedded formula
ADDITIVE = {
    3: ([[0.], [1767732205903 / 2027836641118], [5535828885825 / 10492691773637, 788022342437 / 10882634858940],
         [6485989280629 / 16251701735622, -4246266847089 / 9704473918619, 10755448449292 / 10357097424841]],
        [[0.], [P, P], [2746238789719 / 10658868560708, -640167445237 / 6845629431997, P],
         [1471266399579 / 7840856788654, -4482444167858 / 7529755066697, 11266239266428 / 11593286722821, P]],
        [2756255671327 / 12835298489170, -10771552573575 / 22201958757719, 9247589265047 / 10645013368117,
         2193209047091 / 5459859503100]),
    4: ([[0.], [0.5], [0.221776, 0.110224], [-0.04884659515311858, -0.177720652326401, 0.8465672474795196],
         [-0.15541685842491548, -0.3567050098221991, 1.0587258798684427, 0.30339598837867193],
         [0.20142435067267633, 0.008742057842904185, 0.15993995707168115, 0.4038290605220775, 0.22606457389066084]],
        [[0.], [0.25, 0.25], [0.137776, -0.055776, 0.25],
         [0.14463686602698217, -0.22393190761334475, 0.4492950415863626, 0.25],
         [0.09825878328356477, -0.5915442428196704, 0.8101210538282996, 0.283164405707806, 0.25],
         [0.15791629516167136, 0., 0.18675894052400077, 0.6805652953093346, -0.27524053099500667, 0.25]],
        [0.15471180076321217, 0., 0.18920519166068023, 0.7020453712289219, -0.3191873990635791, 0.27322503541076487])}


class AdditiveRungeKutta(OneStep):
    """Explicit is nothing (ESDIRK: Newton's method in each stage), the reaction, or what its mean derivative leaves."""

    def __init__(self, order, explicit):
        tables, self.power, self.explicit = ADDITIVE[order], order, explicit
        self.e, self.a = square(tables[0]), square(tables[1])
        self.b, self.difference, self.c = self.a[-1], self.a[-1] - tables[2], self.a.sum(axis=1)

    def split(self, u, mean):
        """The explicit part of f(u)."""
        rate = self.systems.f(u, False)
        return rate if mean is None else rate - np.tensordot(mean, u, 1)

    def attempt(self, h):
        s, u, old, scale = self.systems, self.u, [], norm(self.u)
        mean = mean_of(s.problem.jacobian(u)) if self.explicit == "rest" else None
        if self.kept:
            old = [(-(1. - t) * self.h / h, rate) for t, rate in zip(self.c[1:-1], self.kept[1:-1])]
        if self.explicit == "nothing":
            implicit, explicit = [self.kept[-1] if self.kept else s.f(u)], []
        else:
            implicit, explicit = [s.linear(u, mean)], [self.split(u, mean)]
        total = [sum(explicit, implicit[0])]
        for i in range(1, len(self.c)):
            known = u + h * combine(self.a[i], implicit) + h * combine(self.e[i], explicit)
            guess, c = self.guess(h, self.c[i], old + list(zip(self.c, total))), h * self.a[i, i]
            v = s.constant(c, mean, known, guess, scale) if explicit else s.newton(c, known, guess)
            implicit.append((v - known) / c)
            if explicit:
                explicit.append(self.split(v, mean))
            total.append(implicit[-1] + explicit[-1] if explicit else implicit[-1])
        self.attempted, self.to_keep = h, total
        return u + h * combine(self.b, total), h * combine(self.difference, total)

    def guess(self, h, c, rates):
        """u and the integral of the polynomial through the four rates of change that are nearest in time."""
        rates = sorted(rates, key=lambda rate: abs(rate[0] - c))[:4]
        powers = np.arange(len(rates))
        weights = np.linalg.solve([[t**p for t, _ in rates] for p in powers], c**(powers + 1.) / (powers + 1.))
        return self.u + h * combine(weights, [rate for _, rate in rates])


def rosenbrock(alpha, gamma, b, embedded):
    """a, c, m, m less the embedded one, and gamma of transformed stages (Hairer, Wanner, Solving ODEs II, IV.7)."""
    alpha, gamma, b = square(alpha), square(gamma), np.array(b)
    inverse = np.linalg.inv(gamma)
    return alpha @ inverse, np.diag(1. / np.diag(gamma)) - inverse, b @ inverse, (b - embedded) @ inverse, gamma[0, 0]


def stiffly_accurate(a, c):
    """The same of transformed stages, the last of which is the difference to the embedded formula."""
    last = a[-1] + [1.]
    return square([[]] + a + [last]), square([[]] + c), np.array(last + [1.]), np.array([0.] * len(last) + [1.]), 0.25


G = 0.5 + np.sqrt(3.) / 6.
# Lang and Verwer 2001; Sandu and others 1997; Rang and Angermann 2005; Steinebach 1995 (for parabolic equations, too)
ROSENBROCK = {
    "ROS3P": rosenbrock([[0.], [1.], [1.]], [[G], [-1., G], [-G, 0.5 - 2. * G, G]], [2 / 3, 0., 1 / 3], [1 / 3] * 3),
    "RODAS3": rosenbrock([[0.], [0.], [1.], [0.75, -0.25, 0.5]],
                         [[0.5], [1., 0.5], [-0.25, -0.25, 0.5], [1 / 12, 1 / 12, -2 / 3, 0.5]],
                         [5 / 6, -1 / 6, -1 / 6, 0.5], [0.75, -0.25, 0.5, 0.]),
    "ROS34PW2": rosenbrock([[0.], [0.87173304301691801], [0.84457060015369423, -0.11299064236484185], [0., 0., 1.]],
                           [[P], [-0.87173304301691801, P], [-0.90338057013044082, 0.054180672388095326, P],
                            [0.24212380706095346, -1.2232505839045147, 0.54526025533510214, P]],
                           [0.24212380706095346, -1.2232505839045147, 1.5452602553351020, P],
                           [0.37810903145819369, -0.096042292212423178, 0.5, 0.21793326075422950]),
    "RODASP": stiffly_accurate(
        [[3.], [1.831036793486759, 0.4955183967433795], [2.304376582692669, -0.05249275245743001, -1.176798761832782],
         [-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401]],
        [[-12.], [-8.791795173947035, -2.207865586973518], [10.81793056857153, 6.780270611428266, 19.53485944642410],
         [34.19095006749676, 15.49671153725963, 54.74760875964130, 14.16005392148534],
         [34.62605830930532, 15.30084976114473, 56.99955578662667, 18.40807009793095, -5.714285714285717]])}


class Rosenbrock(OneStep):
    """One Jacobian a step, or as W-method diffusion alone, or diffusion and the mean of r', in its place."""

    def __init__(self, name, order, matrix="jacobian"):
        self.a, self.c, self.m, self.difference, self.gamma = ROSENBROCK[name]
        self.power, self.matrix = order, matrix

    def attempt(self, h):
        s, u, stages, g, scale = self.systems, self.u, [], self.gamma * h, norm(self.u)
        jacobian = s.problem.jacobian(u) if self.matrix == "jacobian" else None
        mean = mean_of(s.problem.jacobian(u)) if self.matrix == "mean" else None
        first = s.f(u)
        for i, row in enumerate(self.a):
            rate = s.f(u + combine(row, stages)) if row.any() else first
            rhs = g * rate + self.gamma * combine(self.c[i], stages)
            guess = self.kept[i] * (h / self.h) if self.kept else np.zeros_like(u)
            if jacobian is None:
                stages.append(s.constant(g, mean, rhs, guess, scale))
                continue
            left = rhs - guess + g * (s.problem.diffuse(guess) + times(jacobian, guess))
            if norm(left) > norm(rhs):
                guess, left = 0., rhs
            goal = max(min(s.goal * scale, 0.01 * norm(left)), 1e-14 * scale)
            stages.append(guess + s.coupled(g, jacobian, left, goal))
        self.attempted, self.to_keep = h, stages
        return u + combine(self.m, stages), combine(self.difference, stages)


class ETDRK4(OneStep):
    """Krogstad, J. Comput. Phys. 203, 2005, with the two error estimates of the program; for reference."""
    power, growth, of_size = 4, 1.6, 0.

    def set_up(self, h):
        """phi_0 to phi_3 of half a step and of a whole one for the 2 x 2 matrix of each mode."""
        self.mean, self.of_size = mean_of(self.systems.problem.jacobian(self.u)), h
        z = 0.5 * h * (self.mean - np.moveaxis(self.systems.problem.eigenvalues, 0, 2)[..., None] * np.eye(2))
        halvings, factorial = max(0, int(np.ceil(np.log2(np.abs(z).sum(axis=-1).max()))) + 1), [1., 1., 2., 6.]
        z, phi = z / 2.**halvings, []
        for k in range(4):
            term = total = np.eye(2) / factorial[k] + 0. * z
            for j in range(1, 18):
                term = term @ z / (k + j)
                total = total + term
            phi.append(total)
        for _ in range(halvings + 1):
            self.psi = phi
            phi = [(phi[0] @ phi[k] + sum(phi[j] / factorial[k - j] for j in range(1, k + 1))) / 2.**k
                   for k in range(4)]
        self.phi = phi

    def attempt(self, h):
        if self.of_size != h:
            self.set_up(h)
        psi, phi = self.psi, self.phi

        def act(m, v):
            return np.einsum("yxcd,dyx->cyx", m, v)

        def g(modes):
            v = back(modes)
            return transform(self.systems.f(v, False) - np.tensordot(self.mean, v, 1))
        u = transform(self.u)
        g0 = g(u)
        half = act(psi[0], u) + 0.5 * h * act(psi[1], g0)
        ga = g(half)
        gb = g(half + h * act(psi[2], ga - g0))
        gc = g(act(phi[0], u) + h * act(phi[1], g0) + 2. * h * act(phi[2], gb - g0))
        v = act(phi[0], u) + h * act(phi[1], g0) + h * act(phi[2], -3. * g0 + 2. * (ga + gb) - gc)
        v += 4. * h * act(phi[3], g0 - ga - gb + gc)
        gv = g(v)
        error = h * act(4. * phi[3] - phi[2], gc - gv)
        if self.kept is not None:
            to_middle, to_end = self.h + 0.5 * h, self.h + h
            third = 2. * g0 / (self.h * h * h) - g(self.kept) / (self.h * to_middle * to_end)
            third += 2. * gv / (h * h * to_end) - 4. * gb / (h * h * to_middle)
            error += h**4 / 32. * act(phi[1], third)
        self.attempted, self.to_keep = h, u
        return back(v), back(error)


METHODS = {
    "BDF2": lambda: BDF(2), "BDF3": lambda: BDF(3),
    "ESDIRK3": lambda: AdditiveRungeKutta(3, "nothing"), "ESDIRK4": lambda: AdditiveRungeKutta(4, "nothing"),
    "ROS3P": lambda: Rosenbrock("ROS3P", 3), "RODAS3": lambda: Rosenbrock("RODAS3", 3),
    "ROS34PW2": lambda: Rosenbrock("ROS34PW2", 3), "RODASP": lambda: Rosenbrock("RODASP", 4),
    "ROS34PW2-D": lambda: Rosenbrock("ROS34PW2", 3, "diffusion"),
    "ROS34PW2-M": lambda: Rosenbrock("ROS34PW2", 3, "mean"),
    "IMEX3": lambda: AdditiveRungeKutta(3, "reaction"), "IMEX4": lambda: AdditiveRungeKutta(4, "reaction"),
    "IMEX3-M": lambda: AdditiveRungeKutta(3, "rest"), "IMEX4-M": lambda: AdditiveRungeKutta(4, "rest"),
    "ETDRK4": ETDRK4}


def integrate(problem, method, tolerance, fraction=0.01, proportional=0.4):
    """Steps to the end of the problem; counts and the solution, or None where steps become too short."""
    systems, t, u = Systems(problem, tolerance, fraction), 0., problem.initial
    method.start(systems, u)
    second = norm(times(problem.jacobian(u), problem.reaction(u)))  # the first step is Euler's by the reaction
    h, before, grow = min(problem.end / 2000., np.sqrt(2. * tolerance * norm(u) / second)), 1., True
    steps = rejected = failed = 0
    while t < problem.end * (1. - 1e-12):
        left = problem.end - t
        attempted = left if h >= left else 0.5 * left if 2. * h > left else h
        if h < 1e-9 * problem.end:
            return None
        try:
            new, error = method.attempt(attempted)
            scaled = np.zeros(1) if error is None else np.abs(error) / np.maximum(np.abs(new), norm(new))
            # as the program: root mean square, or the largest one against 30 times the tolerance (at most 3 percent)
            ratio = max(norm(scaled) / tolerance, scaled.max() / max(tolerance, min(30. * tolerance, 0.03)), 1e-6)
        except ArithmeticError:  # the step is tried again, shorter
            ratio = np.inf
        if not ratio <= 1.:
            rejected, failed, grow = rejected + 1, failed + (not ratio < np.inf), False
            h = attempted * (max(0.2, 0.85 * ratio**(-1. / method.power)) if ratio < np.inf else 0.25)
            continue
        method.accept(new)
        t, u, steps = t + attempted, new, steps + 1
        if error is not None:
            factor = 0.85 * (before**proportional / ratio**(0.7 if proportional else 1.))**(1. / method.power)
            # a step cut short to hit the end says little about the next one
            h = max(h if attempted < h else 0., attempted * min(max(factor, 0.2), method.growth if grow else 1.))
            before = max(ratio, 1e-3)
        grow = True
    return {"steps": steps, "rejected": rejected, "failed": failed, "solves": systems.solves,
            "constant": systems.constant_solves, "iterations": systems.iterations, "evaluations": systems.evaluations,
            "decades": systems.decades}, u


def check_orders(names):
    """Of schnakenberg(17, 100.) to t = 0.02 with a large disturbance, fixed steps."""
    x = np.linspace(0., 1., 17)
    first = schnakenberg(17).initial + 0.3 * np.outer(np.cos(np.pi * x), np.cos(2 * np.pi * x))

    def fixed(name, end, n_steps, initial, levels=None):
        """The solution, and the last estimate; levels: old solutions for a multistep method."""
        problem, method = schnakenberg(17, 100., end), METHODS[name]()
        method.start(Systems(problem, 1e-11, 0.01), initial)
        if levels:
            method.levels, method.steps = levels, [end / n_steps] * (len(levels) - 1)
        for _ in range(len(levels) - 1 if levels else 0, n_steps):
            u, error = method.attempt(end / n_steps)
            method.accept(u)
        return u, np.abs(error).max()
    exact, other = (fixed(name, 0.02, 2560, first)[0] for name in ("ETDRK4", "RODASP"))
    print(f"Largest errors; ETDRK4 and RODASP with 2560 steps are {np.abs(exact - other).max():.1e} apart")
    for name in names:
        runs = []
        is_bdf = name.startswith("BDF")
        for count in np.array([20, 40, 80, 160]) * (8 if is_bdf else 1):
            levels = [first] if is_bdf else None
            while levels and len(levels) <= int(name[3]):
                levels.insert(0, fixed("ETDRK4", 0.02 / count, 8, levels[0])[0])
            u, size = fixed(name, 0.02, count, first, levels)
            runs.append((np.abs(u - exact).max(), size, count))
        orders = np.log2(np.array(runs[-2]) / runs[-1])
        print(f"{name:11s}" + ", ".join(f"{run[2]:4d} steps {run[0]:.1e}" for run in runs) +
              f"; order {orders[0]:.2f}, of the estimate {orders[1]:.2f}", flush=True)


def rank(runs, errors=(1e-2, 1e-3, 1e-4, 1e-5)):
    """Linear solves, and decades by which they reduce residuals, to errors; between runs on lines in logarithms."""
    titles = " | ".join(f"{error:.0e}" for error in errors)
    print(f"\n| method | solves to {titles} | decades to {titles} |\n|---|" + "---:|" * 2 * len(errors))
    for method, own in ((method, own) for method, own in runs.items() if own):
        made, cells = np.array([run["error"] for run in own]), []
        for work in ([run["solves"] + run["constant"] for run in own], [run["decades"] for run in own]):
            for error in errors:
                last = max(np.flatnonzero(made > error), default=-1)  # from there on errors are smaller
                if last < 0 or last + 1 == len(own):
                    cells.append(f"< {work[0]:.0f}" if last < 0 else "-")
                    continue
                part = np.log(made[last] / error) / np.log(made[last] / made[last + 1])
                cells.append(f"{work[last] * (work[last + 1] / max(work[last], 1e-9))**part:.0f}")
        print(f"| {method} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problem", choices=PROBLEMS, default="schnakenberg")
    parser.add_argument("--nodes", type=int, default=101, help="on a side")
    parser.add_argument("--methods", default=",".join(METHODS), help="with commas: " + ", ".join(METHODS))
    parser.add_argument("--tolerances", default="1e-2,1e-3,1e-4,1e-5,1e-6,1e-7,1e-8")
    parser.add_argument("--fraction", type=float, default=0.01, help="of the error of a step that residuals may have")
    parser.add_argument("--proportional", type=float, default=0.4, help="part of the step size control; 0: none")
    parser.add_argument("--check", action="store_true", help="the order of each method, with fixed steps")
    options = parser.parse_args()
    np.seterr(over="ignore", invalid="ignore", divide="ignore")  # of explicit parts that explode: the step is rejected
    if options.check:
        return check_orders(options.methods.split(","))
    problem = PROBLEMS[options.problem](options.nodes)
    exact = integrate(problem, METHODS["RODASP"](), 1e-9)[1]
    columns = "steps rejected failed solves constant iterations evaluations decades error".split()
    print("method       tolerance " + " ".join(columns))
    runs = {name: [] for name in options.methods.split(",")}
    for name in runs:
        for tolerance in map(float, options.tolerances.split(",")):
            run = integrate(problem, METHODS[name](), tolerance, options.fraction, options.proportional)
            if run is None:
                continue
            run[0]["error"] = np.abs(run[1] - exact)[0].max()
            print(f"{name:12s} {tolerance:9.1e} " + " ".join(f"{run[0][c]:{len(c)}.4g}" for c in columns), flush=True)
            runs[name].append(run[0])
    return rank(runs)


if __name__ == "__main__":
    main()
