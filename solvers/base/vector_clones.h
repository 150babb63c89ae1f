// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Before a function with long inner loops: it is compiled for several generations of x86 processors, and the program
 * takes what the machine has. Where the compiler cannot do that, and with sanitizers, which do not know such functions,
 * there is one version.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LEOPARD_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LEOPARD_VECTOR_CLONES
#endif
