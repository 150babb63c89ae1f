// SPDX-License-Identifier: Apache-2.0
// The cube [0,1]^2 x [0,0.5] with a round hole of radius 0.2 along its middle axis (dimensionless length).
//   gmsh -3 -format msh22 block_with_hole.geo
// Hexahedra only. Boundary ids 1: the four outer sides, 2: hole, 3: bottom (z = 0), 4: top.

radius = 0.2;
height = 0.5;
around = 4; // cells on each of the four sectors
out    = 4; // cells from the hole to the side
layers = 4;

Point(9) = {0.5, 0.5, 0};
For i In {0 : 3}
  angle = (2 * i + 1) * Pi / 4;
  Point(1 + i) = {0.5 + Sqrt(0.5) * Cos(angle), 0.5 + Sqrt(0.5) * Sin(angle), 0};
  Point(5 + i) = {0.5 + radius * Cos(angle), 0.5 + radius * Sin(angle), 0};
EndFor
For i In {0 : 3}
  j = (i + 1) % 4;
  Line(1 + i) = {1 + i, 1 + j};         // side
  Circle(5 + i) = {5 + i, 9, 5 + j};    // hole
  Line(9 + i) = {5 + i, 1 + i};         // between
EndFor
For i In {0 : 3}
  j = (i + 1) % 4;
  Curve Loop(1 + i) = {9 + i, 1 + i, -(9 + j), -(5 + i)};
  Plane Surface(1 + i) = {1 + i};
EndFor
Transfinite Curve {1 : 8} = around + 1;
Transfinite Curve {9 : 12} = out + 1 Using Progression 1.15;
Transfinite Surface {1 : 4};
Recombine Surface {1 : 4};

sides[] = {};
hole[] = {};
top[] = {};
volumes[] = {};
For i In {1 : 4}
  e[] = Extrude {0, 0, height} { Surface{i}; Layers{layers}; Recombine; };
  top[] += e[0];
  volumes[] += e[1];
  sides[] += e[3];
  hole[] += e[5];
EndFor

Physical Surface("sides", 1) = {sides[]};
Physical Surface("hole", 2) = {hole[]};
Physical Surface("bottom", 3) = {1 : 4};
Physical Surface("top", 4) = {top[]};
Physical Volume("block", 1) = {volumes[]};
