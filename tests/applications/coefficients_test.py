# SPDX-License-Identifier: Apache-2.0
"""Coefficients that vary: gamma, constants of kinetics and diffusion as expressions, diffusion tensors; against known solutions and one another."""
import re

from program import ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
MESHES = ROOT / "tests/meshes"
START = ["Turing/Start from steady state=false", "Turing/Initial value u=0.9", "Turing/Initial value v=0.9"]
DIRECT = "subsection Linear solver\n set Method = direct\nend\n"
STEADY = "1 + 0.2*cos(pi*x)*cos(pi*y)"  # without flux through the boundary, and for ever: only the error in space is left


def laplace(entries, mesh, method="finite elements", dim=2, degree=1, refinements=2):
    return (f"set Problem = laplace\nset Dimension = {dim}\nsubsection Laplace\n{entries}end\nsubsection Mesh\n{mesh}end\nsubsection Discretization\n set Method = {method}\n"
            f" set Degree = {degree}\nend\nsubsection Verification\n set Refinements = {refinements}\nend\n" + DIRECT)


def turing(*entries):
    """Schnakenberg in three steps with a known solution."""
    return ("set Problem = turing\nsubsection Turing\n" + "".join(f" set {entry}\n" for entry in entries) +
            f" set Exact solution u = {STEADY}\n set Exact solution v = {STEADY}\n set Initial value u = {STEADY}\n set Initial value v = {STEADY}\nend\n"
            "subsection Mesh\n set Global refinements = 3\nend\nsubsection Time stepping\n set Step control = fixed\n set Step size = 0.02\n set End time = 0.06\nend\n"
            "subsection Newton\n set Relative tolerance = 1e-10\nend\nsubsection Verification\n set Refinements = 2\nend\n" + DIRECT)


class VaryingCoefficients(Program):
    def test_rates_of_reactions(self):
        for entries in (["gamma = 5*(1 + x*y)*(1 + 20*t)"], ["gamma = 5", "Schnakenberg a = 0.1 + x*t", "Schnakenberg b = 0.5 + y*k", "Constants = k: 3"],
                        ["gamma = 5*(1 + x)", "Schnakenberg a = 0.1*(1 + y)"]):
            said = self.expect_rate("reaction", turing(*entries))
            self.assertIn("time loop: general, since the fused one cannot be used: ", said)
        # without t the sources that belong to the solution are the same at all times, and the fused loop knows them
        steady = turing("gamma = 5*(1 + x)", "Schnakenberg a = 0.1*(1 + y)").replace(DIRECT, "")
        for method in ("finite differences", "finite elements"):
            said = self.expect_rate("fused", steady + f"subsection Discretization\n set Method = {method}\nend\n")
            self.assertIn("time loop: fused", said)
        # and with t they are sums of products of functions of the time and of the place
        for method in ("finite differences", "finite elements"):
            said = self.expect_rate("moving", turing("gamma = 5*(1 + t)").replace(DIRECT, "") + f"subsection Discretization\n set Method = {method}\nend\n")
            self.assertIn("time loop: fused", said)

    def test_rates_of_diffusion(self):
        inside = "0.4*sin(pi*x)*sin(pi*y)"
        for entries in (["gamma = 5", "Diffusion u = 1 + x*y", "Diffusion v = 2 - x"], ["gamma = 5", "kappa = 4 + x"],
                        ["gamma = 5", f"Diffusion tensor u = 1 + x, {inside}, 2", f"Diffusion tensor v = 3, {inside}, 1 + y"]):
            for method in ("finite differences", "finite elements"):
                self.expect_rate("diffusion", turing(*entries) + f"subsection Discretization\n set Method = {method}\nend\n")

    def test_rates_of_tensors(self):
        plane = " set Coefficient tensor = 2 + x, 0.5*y, 1 + x*y\n set Exact solution = sin(pi*x)*exp(y) + x*y\n"
        self.expect_rate("differences", laplace(plane, " set Global refinements = 3\n", "finite differences"))
        self.expect_rate("quadratic", laplace(plane, " set Global refinements = 2\n", degree=2), rate=3)
        self.expect_rate("triangles", laplace(plane, f" set Domain = file\n set File = {MESHES}/square_triangles_41.msh\n"))
        self.expect_rate("ranks", laplace(plane, " set Global refinements = 3\n").replace("direct", "cg"), ranks=2)
        space = " set Coefficient tensor = 2 + x, 0.3, -0.2*y, 1 + y, 0.1, 3 - z\n set Exact solution = sin(pi*x)*exp(y)*(1 + z^2)\n"
        self.expect_rate("space", laplace(space, " set Global refinements = 1\n", dim=3), most=0.1)
        self.expect_rate("differences_in_space", laplace(space, " set Global refinements = 1\n", "finite differences", dim=3), most=0.1)

    def test_fluxes_are_those_of_the_tensor(self):
        text = laplace(" set Coefficient tensor = 2 + x, 0.5*y, 1\n set Exact solution = x^2 + x*y\n set Boundary values = 0: 0; 2: x^2; 3: x^2 + x\n"
                       " set Boundary fluxes = 1: {}\n", " set Global refinements = 3\n")
        self.expect_rate("fluxes", text.format("(2 + x)*(2*x + y) + 0.5*y*x"))
        self.assertIn("'Laplace/Boundary fluxes' contradict", self.leopard(self.write("wrong.prm", text.format("(2 + x)*(2*x + y)"))))

    def test_multigrid_knows_tensors(self):
        """A stencil of nine points, levels that are stored, and the direct solver."""
        text = laplace(" set Coefficient tensor = 3, 0.8, 1\n set Source = 1\n", " set Global refinements = 4\n", refinements=0)
        values = []
        for method in ("direct", "multigrid", "cg"):
            self.leopard(self.write("multigrid.prm", text), f"Linear solver/Method={method}", "Linear solver/Relative tolerance=1e-12")
            values.append(self.run_json("multigrid")["cycles"][0]["u"]["maximum"])
        self.assertGreater(values[0], 0.01)
        for value in values[1:]:
            self.assertAlmostEqual(value, values[0], delta=1e-9)


class SameEquations(Program):
    """What is written in another way is the same."""
    EXACT = ["Linear solver/Method=direct", "Newton/Relative tolerance=1e-12", "Time stepping/Engine=general", "Turing/Perturbation=0.1"]

    def ends(self, *settings, exact=True):
        """Ranges and means of the fields at the end of a run, and what was said."""
        said = self.leopard(TINY, *(self.EXACT if exact else []), *settings)
        return self.statistics("tiny_turing")[1][-1][10:16], said

    def assert_same(self, a, b, delta=1e-11):
        for x, y in zip(a, b):
            self.assertAlmostEqual(x, y, delta=delta)

    def assert_different(self, a, b):
        self.assertGreater(max(abs(x - y) for x, y in zip(a, b)), 1e-5)

    def test_numbers_and_expressions(self):
        numbers, _ = self.ends("Turing/kappa=12")
        for settings in (["Turing/gamma=100 + 0*x"], ["Turing/gamma=100*(1 + x)/(x + 1)"], ["Turing/Diffusion v=12 + 0*y", "Turing/kappa=10"], ["Turing/kappa=12 + 0*x"],
                         ["Turing/Schnakenberg a=0.126779 + 0*t", "Turing/Start from steady state=false", "Turing/Initial value u=0.919145", "Turing/Initial value v=0.9379029"]):
            same, _ = self.ends("Turing/kappa=12", *settings) if "Turing/kappa=10" not in settings else self.ends(*settings, "Turing/gamma=100")
            self.assert_same(numbers, same, delta=1e-11 if "Turing/Start from steady state=false" not in settings else 1e-5)
        for settings in (["Turing/gamma=100*(1 + x)"], ["Turing/gamma=100*(1 + 100*t)"], ["Turing/kappa=12*(1 + x)"]):
            self.assert_different(numbers, self.ends("Turing/kappa=12", *settings)[0])

    def test_tensors_that_are_numbers(self):
        numbers, _ = self.ends("Turing/Diffusion u=2", "Turing/Diffusion v=20", "Turing/gamma=100")
        tensors = ["Turing/Diffusion tensor u=2, 0, 2", "Turing/Diffusion tensor v=20, 0, 20", "Turing/gamma=100"]
        self.assert_same(numbers, self.ends(*tensors)[0])
        self.assert_same(numbers, self.ends(tensors[0], "Turing/kappa=10", tensors[2])[0])  # kappa times that of u
        self.assert_same(numbers, self.ends("Turing/Diffusion tensor u=2, 0*x, 2 + 0*y", "Turing/gamma=100")[0])

    def test_on_a_surface(self):
        """Of a matrix its part in the tangent plane counts: what diffuses across the sphere does nothing."""
        sphere = ["Mesh/Domain=sphere", "Mesh/Radius=1", "Discretization/Method=finite elements", "Mesh/Global refinements=3", "Turing/gamma=20", "Time stepping/Step size=0.02",
                  "Time stepping/End time=0.06", "Output/Interval=0"]
        number, _ = self.ends(*sphere, "Turing/Diffusion u=2", "Turing/gamma=20")
        same, _ = self.ends(*sphere, "Turing/Diffusion tensor u=2, 0, 0, 2, 0, 2")
        self.assert_same(number, same)
        across, _ = self.ends(*sphere, "Turing/Diffusion tensor u=2 + 4*x^2, 4*x*y, 4*x*z, 2 + 4*y^2, 4*y*z, 2 + 4*z^2", "Turing/Diffusion v=20")
        self.assert_same(number, across, delta=2e-3)
        other, _ = self.ends(*sphere, "Turing/Diffusion tensor u=6, 0, 0, 2, 0, 2", "Turing/Diffusion v=20")
        self.assertGreater(max(abs(a - b) for a, b in zip(number, other)), 1e-2)

    def test_axes_can_be_swapped(self):
        first = ["Turing/gamma=100", "Turing/Start from steady state=false", "Turing/Perturbation=0", "Turing/Initial value v=1", "Turing/Diffusion tensor v=20, 0, 5"]
        swapped = [*first[:4], "Turing/Diffusion tensor v=5, 0, 20"]
        start, start_swapped = "0.9 + 0.1*cos(pi*x) + 0.05*cos(3*pi*y)", "0.9 + 0.1*cos(pi*y) + 0.05*cos(3*pi*x)"
        along = ["Turing/Diffusion tensor u=3, 0.5, 1", "Turing/Diffusion tensor u=1, 0.5, 3"]
        one, _ = self.ends(*first, along[0], f"Turing/Initial value u={start}")
        two, _ = self.ends(*swapped, along[1], f"Turing/Initial value u={start_swapped}")
        other, _ = self.ends(*swapped, along[1], f"Turing/Initial value u={start}")
        self.assert_same(one, two)
        self.assert_different(one, other)

    def test_time_loops(self):
        """Fields whose diffusions are the same times a number go through the fused loop, others not; results agree."""
        for settings, says in ((["Turing/Diffusion tensor u=2, 0.3, 1"], "fused"), (["Turing/Diffusion u=1 + x"], "fused"), (["Turing/Diffusion tensor u=2 + x, 0, 1"], "fused"),
                               (["Turing/Diffusion tensor u=2, 0, 1", "Turing/Diffusion tensor v=10, 0, 20"], "depends on x or on the direction"), (["Turing/kappa=10 + x"], "depends on x"),
                               (["Turing/gamma=100 + x"], "fused"), (["Turing/gamma=100*(1 + 50*t)", "Turing/Schnakenberg a=0.1 + 0.1*y^2", *START], "fused"), (["Turing/gamma=100"], "fused")):
            settings = ["Turing/gamma=100", "Turing/Perturbation=0.1", *settings]
            general, _ = self.ends(*settings)
            chosen, said = self.ends(*settings, "Newton/Relative tolerance=1e-9", exact=False)
            self.assertRegex(said, f"time loop: fused, (?!.*cannot)" if says == "fused" else f"time loop: general, since the fused one cannot be used: .*{says}")
            self.assert_same(general, chosen, delta=1e-6)

    def test_sources_and_fluxes_in_the_fused_loop(self):
        settings = ["Turing/gamma=100", "Turing/Perturbation=0.1", "Turing/Boundary fluxes u=1: 3*y; 2: -1", "Turing/Source v=x*y"]
        for scheme in ("BDF2", "SBDF2"):
            general, _ = self.ends(*settings, f"Time stepping/Scheme={scheme}")
            chosen, said = self.ends(*settings, f"Time stepping/Scheme={scheme}", "Newton/Relative tolerance=1e-9", exact=False)
            self.assertIn("time loop: fused", said)
            self.assert_same(general, chosen, delta=1e-6)
            without, _ = self.ends(*settings[:2], f"Time stepping/Scheme={scheme}")
            self.assert_different(general, without)

    def test_sources_and_fluxes_that_depend_on_the_time_in_the_fused_loop(self):
        settings = ["Turing/gamma=100", "Turing/Perturbation=0.1", "Turing/Source u=50*sin(300*t)*x^2 + 30*exp(-100*t)*y + t", "Turing/Boundary fluxes v=*: 3*y*cos(200*t)",
                    "Output/Interval=0", "Output/Log every=1000", "Time stepping/End time=6e-3"]
        for more in ([], ["Discretization/Method=finite elements"], ["Discretization/Method=finite elements", "Mesh/Domain=L-shape"], ["Time stepping/Scheme=BDF2", "Turing/gamma=100*(1 + x + t)"],
                     ["Time stepping/Scheme=SBDF2", "Turing/gamma=100*(1 + x + t)", "Linear solver/Relative tolerance=1e-12"]):
            general, _ = self.ends(*settings, *more)
            balance = self.statistics("tiny_turing")[1][-1][16:18]
            chosen, said = self.ends(*settings, *more, "Newton/Relative tolerance=1e-9", exact=False)
            self.assertIn("time loop: fused", said)
            self.assert_same(general, chosen, delta=1e-6)
            self.assert_same(balance, self.statistics("tiny_turing")[1][-1][16:18], delta=1e-6)
            self.assert_different(general, self.ends(*settings, *more, "Turing/Boundary fluxes v=*: 3*y")[0])
        exponential, said = self.ends(*settings, "Time stepping/Scheme=ETDRK4", "Time stepping/Step size=2e-4", exact=False)
        self.assertIn("time loop: fused", said)
        self.assert_same(exponential, self.ends(*settings, "Time stepping/Step size=1e-5", "Time stepping/Scheme=BDF2")[0], delta=2e-4)
        for setting, says in (("Turing/Source u=sin(x - 9*t)", "'Turing/Source u' is no sum of products"), ("Turing/Source u=if(t > 1, 1/x, 0)", "is not finite everywhere")):
            self.assertRegex(self.ends(*settings, setting, exact=False)[1], f"time loop: general, since the fused one cannot be used: .*{says}")

    def test_what_ranks_share_in_the_fused_loop(self):
        """What varies in place: steps of one rank, by sweeps and (steps longer than the bound) by multigrid."""
        values = ["Turing/Boundary values u=2: 1 + x*t; 0: 0.9", "Turing/Boundary values v=2: 0.9; 0: 1"]
        elements, long = "Discretization/Method=finite elements", ["Time stepping/Step size=2e-2", "Time stepping/End time=0.08", "Output/Interval=0"]
        tight = ["Newton/Relative tolerance=1e-11", "Newton/Error fraction=0", "Linear solver/Relative tolerance=1e-12", "Turing/Perturbation=0.1"]
        for settings in (["Turing/gamma=100*(1 + x*y)", "Mesh/Periodic=y"], ["Turing/gamma=100*(1 + x)*(1 + t)", elements, "Mesh/Domain=ball"],
                         ["Turing/Source u=50*x*exp(-t)", "Turing/Boundary fluxes v=*: 3*y", elements, "Mesh/Domain=L-shape"],
                         [*values, elements, "Turing/Diffusion tensor u=2 + x, 0.1, 1"], [*values, "Turing/gamma=100*(1 + x)", "Time stepping/Scheme=SBDF2"]):
            for more, several in (([], 4), (long, 2)):
                found = {}
                for ranks in (1, several):
                    found[ranks] = self.leopard(TINY, *tight, *settings, *more, "Time stepping/Engine=fused", ranks=ranks), self.statistics("tiny_turing")[1][-1][10:16]
                    self.assertIn("time loop: fused, " + (f"{ranks} ranks" if ranks > 1 else ""), found[ranks][0])
                    self.assert_same(found[ranks][1], found[1][1], delta=1e-7)
                general, _ = self.ends(*settings, *more)
                self.assert_same(general, found[1][1], delta=1e-6)
        self.assertIn("time loop: general, since the fused one cannot be used: at a node some fields have boundary values and others have not", self.leopard(TINY, "Turing/Boundary values u=2: 1", ranks=2))
        few = ["Turing/Boundary values u=*: 1", "Turing/Boundary values v=*: 1", "Time stepping/End time=2e-3", "Mesh/Global refinements=0"]
        for cells, says in (("4, 2", "rank [0-3] owns no node of the mesh"), ("2, 2", "a node is coupled with nodes only that have boundary values")):
            said = self.leopard(TINY, *few, f"Mesh/Cells={cells}", ranks=4)
            self.assertRegex(said, f"time loop: general, since the fused one cannot be used: .*{says}")

    def test_what_is_not_finite_in_the_fused_loop(self):
        later = ["Turing/Perturbation=0.1", "Time stepping/Engine=fused"]
        for settings, says in ((["Turing/gamma=100/abs(x - 0.5)"], ["'100/abs(x - 0.5)' of the entry 'Turing/gamma'", "at (0.5, 0)"]),
                               (["Turing/Schnakenberg a=sqrt(0.0015 - t) + x", *START], ["of the entry 'Turing/Schnakenberg a' is ", "nan at ("]),
                               (["Turing/gamma=100*sqrt(0.0015 - t + x)"], ["of the entry 'Turing/gamma' is ", "nan at (0, 0)"]),
                               (["Turing/gamma=1 + x - 400*t"], ["'1 + x - 400*t' of the entry 'Turing/gamma'", "at (0, 0)"])):
            self.failed_run(TINY, *settings, *later, says=says)

    def test_what_is_negative_for_a_while(self):
        """Between lines of the log, and finite: the step in which it is so fails, and the message has its time."""
        settings = ["Turing/gamma=100*(1 + x) - 1e3*exp(-((t - 0.007)/0.0005)^2)", "Time stepping/End time=0.03", "Output/Log every=1000", "Output/Interval=0", "Turing/Perturbation=0.1"]
        for more in (["Time stepping/Engine=fused"], ["Time stepping/Scheme=ETDRK4"], ["Time stepping/Engine=general"]):
            self.failed_run(TINY, *settings, *more, says=["of the entry 'Turing/gamma' is -900 at (0, 0) and t = 0.007", "in the step from time 0.006", "a finite number >= 0 everywhere",
                                                          "last good state: step 6"])
        self.failed_run(TINY, *settings, "Time stepping/Engine=fused", "Time stepping/Step control=error-controlled", "Time stepping/Largest step=1e-3",
                        says=["of the entry 'Turing/gamma' is -", "at (0, 0) and t = 0.006", "a finite number >= 0 everywhere"])

    def test_sweeps(self):
        runs = self.sweep(TINY, {"gamma": ["100", "100*(1 + x)"], "Diffusion v": ["10", "max(10, 20*x)"]}, "Turing/Diffusion u=1", "Time stepping/End time=2e-3")
        self.assertEqual(len(runs), 4)
        self.assertEqual(len({tuple(self.statistics(name)[1][-1][10:16]) for _, name in runs}), 4)

    def test_on_resume(self):
        """gamma may change; the rest of the run has the new one."""
        self.leopard(TINY, "Time stepping/End time=2e-3")
        said = self.leopard(TINY, "Time stepping/End time=4e-3", "Turing/gamma=100*(1 + x)", options=["--resume"])
        self.assertIn("'Turing/gamma' from 100 to 100*(1 + x)", said)


class DirectionOfStripes(Program):
    STRIPES = ["Turing/gamma=2500", "Turing/Diffusion tensor u=1, 0, 1"]

    def test_is_said_and_found(self):
        """The inhibitor diffuses faster along y: the wave vector is that of y, stripes run along x."""
        said = self.leopard(TINY, *self.STRIPES, "Turing/Diffusion tensor v=10, 0, 20", options=["--validate"])
        self.assertIn("the fastest has the angle 90 degrees to the x axis", said)
        self.assertIn("of stripes across this direction, which run at the angle 0 degrees", said)
        self.assertIn("(0, 7) with k = 21.991", said)
        turned = self.leopard(TINY, *self.STRIPES, "Turing/Diffusion tensor v=17.5, 4.330127, 12.5", options=["--validate"])  # 20 along 30 degrees, 10 across
        self.assertRegex(turned, r"the fastest has the angle (29\.99\d*|30|30\.00\d*) degrees")
        self.assertIn("their number is an estimate", turned)

    def test_proportional_tensors_prefer_none(self):
        said = self.leopard(TINY, "Turing/gamma=2500", "Turing/Diffusion tensor u=1, 0, 4", "Turing/kappa=20", options=["--validate"])
        self.assertIn("all grow equally fast, since the diffusion tensors are proportional, with wavelengths from 0.27057 to 0.5411", said)

    def test_range_over_the_domain(self):
        said = self.leopard(TINY, "Turing/gamma=2500*(1 + x)", "Turing/kappa=20", options=["--validate"])
        self.assertIn("at the centre of the domain, (0.5, 0.5), and t = 0", said)
        self.assertIn("gamma = 2500*(1 + x)", said)
        self.assertRegex(said, "of 25 points of a box around the domain, .* 25 are unstable to a pattern, with wavelengths from 0.1963 to 0.258")
        self.assertIn("expected with these: a pattern of wavelength", said)
        self.assertNotIn("predicted", self.leopard(TINY, "Turing/gamma=200*(1 + x)", "Turing/kappa=20"))  # the centre's wavelength is none of the domain
        self.assertIn("pattern", self.run_json("tiny_turing"))
        self.assertNotIn("predicted_wavelength", self.run_json("tiny_turing")["pattern"])
        some = self.leopard(TINY, "Turing/gamma=2500", "Turing/kappa=20*x", options=["--validate"])
        self.assertRegex(some, "15 are unstable to a pattern")
        constants = self.leopard(TINY, "Turing/gamma=2500", "Turing/kappa=20", "Turing/Schnakenberg a=0.126779 + 0*x", "Turing/Start from steady state=false",
                                 "Turing/Initial value u=x", "Turing/Initial value v=1", options=["--validate"])
        self.assertIn("unstable wave numbers: 13.125 < k < 39.147", constants)


class BadCoefficients(Program):
    def test_files_that_are_refused(self):
        three, tensor = "D_xx, D_xy, D_yy", "Turing/Diffusion tensor u"
        self.invalid([(TINY, [setting], says) for setting, says in (
            ("Turing/gamma=-1", ["'Turing/gamma' is '-1'", "a number >= 0, or an expression in x, y, z, t"]),
            ("Turing/gamma=foo", ["there is no constant 'foo'"]),
            ("Turing/gamma=foo*x", ["'Turing/gamma'", "position 1", "'foo'"]),
            ("Turing/gamma=1 + x)", ["'Turing/gamma'", "position 6"]),
            ("Turing/Schnakenberg a=1 + u*x", ["'Turing/Schnakenberg a'", "'u'"]),
            ("Turing/Schnakenberg a=t", ["'Turing/Start from steady state' is true", "depends on x, y, z or t"]),
            ("Turing/Diffusion u=1 + t", ["'Turing/Diffusion u' is '1 + t', which names the time t", "an expression in x, y, z",
                                             "goes into 'Turing/Cross-diffusion u = u: ...', which is added to it"]),
            ("Turing/kappa=1 + t", ["'Turing/kappa' is '1 + t', which names the time t", "'Turing/Cross-diffusion v = v: ...'"]),
            ("Turing/Diffusion u=-2", ["'Turing/Diffusion u' is '-2'", "a positive number, or an expression in x, y, z"]),
            (f"{tensor}=1, 2, 1", ["'Turing/Diffusion tensor u' is '1, 2, 1', which has the eigenvalue -1", three]),
            (f"{tensor}=-1, 0, 1", ["eigenvalue -1"]),
            (f"{tensor}=1, 0", ["has 2 entries", three]),
            (f"{tensor}=1, 0, 0, 1, 0, 1", ["has six entries, and the domain lies in the plane", three]),
            (f"{tensor}=1, t, 1", ["which names the time t", three]),
            (f"{tensor}=1, ten, 1", ["'Turing/Diffusion tensor u' is 'ten'", three]))])
        self.invalid([(TINY, [f"{tensor}=1, 0, 1", "Dimension=3"], ["has 3 entries", "D_xx, D_xy, D_xz, D_yy, D_yz, D_zz"]),
                      (TINY, [f"{tensor}=1, 0, 1", "Turing/Diffusion u=1"], ["'Turing/Diffusion u' and 'Turing/Diffusion tensor u' are given", "one of the two"]),
                      (TINY, ["Turing/Diffusion tensor v=1, 0, 1", "Turing/kappa=3"], ["'Turing/Diffusion v' and 'Turing/kappa' are given"]),
                      (TINY, ["Mesh/Domain=sphere", "Discretization/Method=finite elements", f"{tensor}=1, 0, 1"], ["has three entries, and the domain lies in space"]),
                      (ROOT / "parameter_files/verification/laplace.prm", ["Laplace/Coefficient tensor=1, 0, 1"], ["'Laplace/Coefficient' and 'Laplace/Coefficient tensor' are given"])])

    def test_values_at_a_place(self):
        """Each is one message with entry, place and value, and nothing is written but that the run failed."""
        start = ["Turing/Start from steady state=false", "Turing/Perturbation=0", "Turing/Initial value u=0.9", "Turing/Initial value v=0.9"]
        for settings, says in ((["Turing/gamma=1/x"], ["'1/x' of the entry 'Turing/gamma' is inf at (0, 0) and t = 0", "a finite number >= 0 everywhere"]),
                               (["Turing/gamma=100*x - 1"], ["of the entry 'Turing/gamma' is -1 at (0, 0) and t = 0"]),
                               (["Turing/Schnakenberg a=log(y)", *start], ["'log(y)' of the entry 'Turing/Schnakenberg a' is -inf at (0, 0)"]),
                               (["Turing/Diffusion u=x - 0.5"], ["the diffusion coefficient of the entry 'Turing/Diffusion u' is -0.5 at (0, 0)", "a finite positive number"]),
                               (["Turing/Boundary values u=0: 1/y"], ["the expression '1/y' of the entry 'Turing/Boundary values u, boundary 0' is inf at (0, 0) and t = 0", "a finite number everywhere"]),
                               (["Turing/Source u=1/x"], ["the expression '1/x' of the entry 'Turing/Source u' is inf at (0, 0) and t = 0"]),
                               (["Turing/kappa=1/x"], ["the diffusion coefficient of the entry 'Turing/kappa' is inf at (0, 0)"]),
                               (["Turing/Diffusion tensor u=1, 2*x, 1"], ["the least eigenvalue of the diffusion tensor of the entry 'Turing/Diffusion tensor u' is ", "a positive definite matrix"]),
                               (["Turing/Diffusion tensor u=1, sqrt(-x), 1"], ["the diffusion tensor of the entry 'Turing/Diffusion tensor u'"])):
            for ranks in (1, 2) if "1/x" in settings[0] else (1,):
                error = self.leopard(TINY, *settings, ranks=ranks, fails=True)
                for words in says:
                    self.assertIn(words, error, settings)
                self.assertEqual(error.count("leopard: "), 1, error)
                self.assertFalse((self.folder / "output/tiny_turing/solution").exists())

    def test_later(self):
        """What is finite at the beginning and not at the end of the first step."""
        self.failed_run(TINY, "Turing/gamma=0.1/max(0, 1e-3 - t)", says=["is inf at (0, 0) and t = 0.001", "last good state: step 0"])
        self.failed_run(TINY, "Turing/gamma=100 - 6e4*t", says=["'Turing/gamma'", "-20"])  # in the second step

    def test_analysis_where_there_is_none(self):
        for setting, says in (("Turing/gamma=1/(x - 0.5)", "no analysis: 'Turing/gamma' = 1/(x - 0.5) is not finite, or less than it may be, at the centre of the domain, (0.5, 0.5)"),
                              ("Turing/Diffusion u=x - 0.5", "no analysis: 'Turing/Diffusion u' is not positive at the centre of the domain")):
            self.assertIn(says, self.leopard(TINY, setting, options=["--validate"]))


if __name__ == "__main__":
    import unittest
    unittest.main()
