// SPDX-License-Identifier: Apache-2.0
// An angelfish from the side, looking left, about 1.4 x 0.8 (dimensionless length); the origin is inside, so that it grows in all directions.
//   gmsh -2 -format msh22 fish.geo
// Quadrilaterals only. Boundary id 1: the outline.

h = 0.036; // cell size; less where the outline is curved

// the outline, clockwise from the mouth
x[] = {-0.66, -0.60, -0.52, -0.42, -0.29, -0.13, 0.04, 0.20, 0.34, 0.45, 0.485,  // forehead, back, dorsal fin
       0.44, 0.415, 0.455, 0.52, 0.60, 0.69, 0.735, 0.705, 0.69, 0.705, 0.735,   // tail, upper half and its end
       0.69, 0.60, 0.52, 0.455, 0.415, 0.44, 0.485,                              // tail, lower half
       0.45, 0.34, 0.20, 0.04, -0.13, -0.29, -0.42, -0.52, -0.60, -0.65};        // anal fin, belly, throat
y[] = {0.005, 0.075, 0.15, 0.235, 0.315, 0.365, 0.395, 0.40, 0.375, 0.31, 0.245,
       0.18, 0.105, 0.075, 0.095, 0.145, 0.20, 0.19, 0.10, 0.00, -0.10, -0.19,
       -0.20, -0.145, -0.095, -0.075, -0.105, -0.18, -0.245,
       -0.31, -0.375, -0.40, -0.395, -0.37, -0.32, -0.24, -0.155, -0.075, -0.02};

n = #x[];
outline[] = {};
For i In {0 : n - 1}
  Point(i + 1) = {x[i], y[i], 0, h};
  outline[] += {i + 1};
EndFor
outline[] += {1};

Spline(1) = {outline[]};
Curve Loop(1) = {-1}; // counter-clockwise
Plane Surface(1) = {1};

Physical Curve("outline", 1) = {1};
Physical Surface("fish", 1) = {1};

Mesh.MeshSizeMin = h / 2;
Mesh.MeshSizeFromCurvature = 20; // cells on a full turn
Mesh.Algorithm = 6;              // frontal Delaunay (8, for quadrilaterals, crashes in Gmsh 4.8.4)
Mesh.RecombineAll = 1;
Mesh.RecombinationAlgorithm = 2; // quadrilaterals only
Mesh.Smoothing = 20;
