// SPDX-License-Identifier: Apache-2.0
// A spread leopard pelt: head up, tail down, symmetric about x = 0, about 1 x 1.4 (dimensionless length).
//   gmsh -2 -format msh22 leopard_pelt.geo
// Quadrilaterals only. Boundary id 1: the outline.

h = 0.025; // cell size; less where the outline is curved

// right half of the outline, clockwise from the nose to the tip of the tail
x[] = {0,     0.040, 0.068, 0.082, 0.100, 0.130, 0.138, 0.118, 0.102, 0.112, 0.155, // muzzle, ear, neck
       0.230, 0.320, 0.400, 0.452, 0.490, 0.500, 0.470, 0.405, 0.335, 0.280,        // fore leg
       0.252, 0.244, 0.248, 0.266,                                                  // flank
       0.305, 0.365, 0.420, 0.462, 0.496, 0.500, 0.472, 0.425, 0.370, 0.305,        // hind leg
       0.230, 0.155, 0.095, 0.062,                                                  // rump
       0.050, 0.046, 0.046, 0.040, 0.024, 0};                                       // tail
y[] = {1.400, 1.390, 1.355, 1.310, 1.275, 1.262, 1.230, 1.200, 1.165, 1.125, 1.098,
       1.096, 1.128, 1.168, 1.180, 1.158, 1.115, 1.082, 1.045, 0.995, 0.930,
       0.850, 0.760, 0.660, 0.570,
       0.500, 0.445, 0.390, 0.335, 0.292, 0.248, 0.218, 0.232, 0.275, 0.312,
       0.330, 0.335, 0.325, 0.295,
       0.240, 0.165, 0.090, 0.040, 0.010, 0};

n = #x[];
outline[] = {};
For i In {0 : n - 1} // right half, down
  Point(i + 1) = {x[i], y[i], 0, h};
  outline[] += {i + 1};
EndFor
For i In {n - 2 : 1 : -1} // left half, up
  Point(2 * n - 1 - i) = {-x[i], y[i], 0, h};
  outline[] += {2 * n - 1 - i};
EndFor
outline[] += {1};

Spline(1) = {outline[]};
Curve Loop(1) = {-1}; // counter-clockwise
Plane Surface(1) = {1};

Physical Curve("outline", 1) = {1};
Physical Surface("pelt", 1) = {1};

Mesh.MeshSizeMin = h / 2;
Mesh.MeshSizeFromCurvature = 20; // cells on a full turn
Mesh.Algorithm = 6;              // frontal Delaunay (8, for quadrilaterals, crashes in Gmsh 4.8.4)
Mesh.RecombineAll = 1;
Mesh.RecombinationAlgorithm = 2; // quadrilaterals only
Mesh.Smoothing = 20;
