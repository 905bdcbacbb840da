/** The one of 1,024 shards that a client belongs to: stored from the start, so that clients can be distributed over processes. */
export const shardOf = (clientId: number): number => clientId % 1_024
