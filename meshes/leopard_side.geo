// SPDX-License-Identifier: Apache-2.0
// A standing leopard from the side, looking left, about 1.5 x 0.7 (dimensionless length).
//   gmsh -2 -format msh22 leopard_side.geo
// Quadrilaterals only. Boundary id 1: the outline.

h = 0.023; // cell size; less where the outline is curved

// the outline, clockwise from the nose
x[] = {0.028, 0.046, 0.076, 0.100, 0.128, 0.150, 0.160, 0.176, 0.196, 0.206,         // muzzle, brow, ear
       0.228, 0.280, 0.350, 0.430, 0.540, 0.660, 0.780, 0.890, 0.970, 1.030,        // neck, back, rump
       1.080, 1.125, 1.180, 1.250, 1.330, 1.410, 1.462, 1.492, 1.520, 1.545, 1.545, // tail, upper side
       1.510, 1.440, 1.345, 1.245, 1.160, 1.108, 1.078, 1.058,                      // tail, lower side
       1.050, 1.060, 1.086, 1.082, 1.064, 1.054, 1.050, 1.020, 0.960, 0.944, 0.962, 0.990, // hind leg, far
       1.005, 1.002, 0.978, 0.954,
       0.938, 0.930, 0.915, 0.898, 0.890, 0.862, 0.800, 0.784, 0.802, 0.828,        // hind leg, near
       0.840, 0.836, 0.815, 0.785,
       0.720, 0.630, 0.560, 0.518,                                                  // belly
       0.498, 0.488, 0.482, 0.480, 0.452, 0.394, 0.378, 0.394, 0.418,               // fore leg, far
       0.426, 0.422, 0.404,
       0.384, 0.368, 0.356, 0.350, 0.322, 0.262, 0.246, 0.262, 0.288,               // fore leg, near
       0.296, 0.296, 0.290,
       0.274, 0.246, 0.210, 0.165, 0.110, 0.062, 0.034};                            // chest, throat, jaw
y[] = {0.555, 0.576, 0.594, 0.622, 0.643, 0.655, 0.678, 0.694, 0.686, 0.658,
       0.640, 0.628, 0.628, 0.638, 0.626, 0.612, 0.616, 0.624, 0.610, 0.576,
       0.520, 0.440, 0.348, 0.272, 0.240, 0.254, 0.296, 0.340, 0.368, 0.362, 0.320,
       0.248, 0.196, 0.182, 0.212, 0.284, 0.352, 0.386, 0.380,
       0.340, 0.290, 0.236, 0.170, 0.100, 0.056, 0.016, 0.000, 0.000, 0.020, 0.046, 0.072,
       0.130, 0.190, 0.240, 0.268,
       0.252, 0.200, 0.140, 0.090, 0.016, 0.000, 0.000, 0.020, 0.046, 0.072,
       0.130, 0.200, 0.270, 0.320,
       0.330, 0.318, 0.302, 0.276,
       0.230, 0.160, 0.080, 0.016, 0.000, 0.000, 0.020, 0.046, 0.072,
       0.140, 0.206, 0.240,
       0.206, 0.140, 0.080, 0.016, 0.000, 0.000, 0.020, 0.046, 0.072,
       0.140, 0.220, 0.300,
       0.370, 0.430, 0.472, 0.488, 0.486, 0.496, 0.522};

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
Physical Surface("leopard", 1) = {1};

Mesh.MeshSizeMin = h / 2;
Mesh.MeshSizeFromCurvature = 25; // cells on a full turn
Mesh.Algorithm = 6;              // frontal Delaunay (8, for quadrilaterals, crashes in Gmsh 4.8.4)
Mesh.RecombineAll = 1;
Mesh.RecombinationAlgorithm = 1; // blossom; leaves no triangle here, which tests/meshes checks
Mesh.Smoothing = 20;
