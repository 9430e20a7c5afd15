/* SPDX-License-Identifier: MIT */
/* peer_none.c: the peers that were not found when weft was configured.
 */
#include "peer.h"

#include <stddef.h>

#if !defined(WEFT_PEER_OPENMP)
const weft_peer *weft_peer_openmp(void)
{
    return NULL;
}
#endif

#if !defined(WEFT_PEER_TBB)
const weft_peer *weft_peer_tbb(void)
{
    return NULL;
}
#endif
