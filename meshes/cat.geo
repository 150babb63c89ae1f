// SPDX-License-Identifier: Apache-2.0
// The skin of a cat, a closed surface in space: body, neck and head are a tube of octagons, legs, ears and tail are square tubes on it.
// About 2.1 long, 0.4 wide and 1.3 high (dimensionless length); x forward, y left, z up.
//   gmsh -2 -format msh22 cat.geo
// Quadrilaterals only, each patch n x n. No boundary; physical surface 1: the skin.

n = 4;

// stations of the spine, from the rump to the nose: centre (x, 0, z), half width, half height, angle of the spine
x[]      = {-0.56, -0.46, -0.24, 0.00, 0.24, 0.44, 0.58, 0.68, 0.73, 0.86, 0.97, 1.04};
z[]      = {0.02, 0.00, 0.00, 0.00, 0.01, 0.04, 0.13, 0.25, 0.38, 0.40, 0.36, 0.345};
width[]  = {0.12, 0.18, 0.21, 0.20, 0.20, 0.18, 0.13, 0.11, 0.14, 0.15, 0.09, 0.06};
height[] = {0.13, 0.19, 0.22, 0.21, 0.22, 0.21, 0.15, 0.115, 0.13, 0.13, 0.085, 0.055};
angle[]  = {0, 0, 0, 0, 0, 0.15, 0.5, 0.85, 0.5, 0, 0, 0};
last     = #x[] - 1;

For i In {0 : last}
  For k In {0 : 7} // from the right side over the top to the left and below
    a = (k + 0.5) * Pi / 4;
    up = height[i] * Sin(a);
    Point(8 * i + k + 1) = {x[i] - up * Sin(angle[i]), -width[i] * Cos(a), z[i] + up * Cos(angle[i])};
  EndFor
EndFor

// a patch between four points
Macro Patch
  l = newl;
  Line(l) = {q[0], q[1]};
  Line(l + 1) = {q[1], q[2]};
  Line(l + 2) = {q[2], q[3]};
  Line(l + 3) = {q[3], q[0]};
  Curve Loop(l + 4) = {l, l + 1, l + 2, l + 3};
  Surface(l + 4) = {l + 4};
Return

// a square tube on the ring r[]: m steps by (dx, dy, dz), each ring `shrink` times the one before; then a lid
Macro Tube
  For step In {1 : m}
    sum[] = {0, 0, 0};
    For j In {0 : 3}
      c[] = Point{r[j]};
      sum[] = {sum[0] + c[0] / 4, sum[1] + c[1] / 4, sum[2] + c[2] / 4};
    EndFor
    fresh[] = {};
    For j In {0 : 3}
      c[] = Point{r[j]};
      p = newp;
      Point(p) = {sum[0] + dx[step - 1] + shrink[step - 1] * (c[0] - sum[0]),
                  sum[1] + dy[step - 1] + shrink[step - 1] * (c[1] - sum[1]),
                  sum[2] + dz[step - 1] + flat * shrink[step - 1] * (c[2] - sum[2])};
      fresh[] += {p};
    EndFor
    For j In {0 : 3}
      q[] = {r[j], r[(j + 1) % 4], fresh[(j + 1) % 4], fresh[j]};
      Call Patch;
    EndFor
    r[] = fresh[];
  EndFor
  q[] = r[];
  Call Patch;
Return

For i In {0 : last - 1}
  For k In {0 : 7}
    at = 8 * i + 1;
    next = (k + 1) % 8;
    r[] = {at + k, at + next, at + 8 + next, at + 8 + k};
    If ((i == 1 || i == 4) && (k == 4 || k == 6)) // legs
      m = 4;
      dx[] = {0, i == 1 ? -0.03 : 0.01, 0, 0.02};
      dy[] = {k == 4 ? -0.01 : 0.01, 0, 0, 0};
      dz[] = {-0.14, -0.15, -0.15, -0.08};
      shrink[] = {0.9, 0.85, 0.9, 1.15};
      flat = 0.15;
      Call Tube;
    ElseIf (i == 8 && (k == 0 || k == 2)) // ears
      m = 1;
      dx[] = {-0.01};
      dy[] = {k == 0 ? -0.02 : 0.02};
      dz[] = {0.12};
      shrink[] = {0.45};
      flat = 0.5;
      Call Tube;
    Else
      q[] = r[];
      Call Patch;
    EndIf
  EndFor
EndFor

// the nose
nose = 8 * last + 1;
q[] = {nose, nose + 1, nose + 2, nose + 3};
Call Patch;
q[] = {nose, nose + 3, nose + 4, nose + 7};
Call Patch;
q[] = {nose + 7, nose + 4, nose + 5, nose + 6};
Call Patch;
// the rump, and the tail in its middle
q[] = {4, 3, 2, 1};
Call Patch;
q[] = {8, 7, 6, 5};
Call Patch;
r[] = {1, 8, 5, 4};
m = 5;
dx[] = {-0.10, -0.13, -0.12, -0.10, -0.06};
dy[] = {0, 0, 0, 0, 0};
dz[] = {0.02, 0.00, -0.03, 0.06, 0.12};
shrink[] = {0.5, 0.9, 0.95, 0.95, 0.9};
flat = 1;
Call Tube;

Coherence;
Transfinite Curve {:} = n + 1;
Transfinite Surface {:};
Recombine Surface {:};
Physical Surface("skin", 1) = {Surface{:}};
