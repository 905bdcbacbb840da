/** 1 January 2100, 00:00 UTC: the dates in the rules end there, so business time stays before it. Unix ms. */
export const clockEnd = Date.UTC(2100, 0, 1)
