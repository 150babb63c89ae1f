// SPDX-License-Identifier: Apache-2.0
// A tapering tail: a trapezoid 2 long, 0.30 wide at the base (x = 0) and 0.06 at the tip (dimensionless length).
// Where it is narrower than about a wavelength, spots become stripes: J. D. Murray, A pre-pattern formation
// mechanism for animal coat markings, J. Theor. Biol. 88 (1981) 161-199.
//   gmsh -2 -format msh22 tail.geo
// Quadrilaterals only, near squares. Boundary ids 1: both sides, 2: base, 3: tip.

length = 2;
base   = 0.30;
tip    = 0.06;
across = 4; // cells across

// cells as long as they are wide: their lengths shrink geometrically towards the tip
along = Ceil(across * length / (base - tip) * Log(base / tip));
ratio = (tip / base) ^ (1 / along);

Point(1) = {0, -base / 2, 0};
Point(2) = {length, -tip / 2, 0};
Point(3) = {length, tip / 2, 0};
Point(4) = {0, base / 2, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};

Transfinite Curve {1, -3} = along + 1 Using Progression ratio;
Transfinite Curve {2, 4} = across + 1;
Transfinite Surface {1};
Recombine Surface {1};

Physical Curve("sides", 1) = {1, 3};
Physical Curve("base", 2) = {4};
Physical Curve("tip", 3) = {2};
Physical Surface("tail", 1) = {1};
