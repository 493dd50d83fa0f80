/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TARN_NETINET_TCP_H
#define TARN_NETINET_TCP_H

#define TCP_NODELAY 1

#endif
