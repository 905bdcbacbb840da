/** The end of business time: 1 January 2100, 00:00 UTC, Unix ms. The specification's dates end there. */
export const clockEnd = Date.UTC(2100, 0, 1)
