/** Which of 1,024 shards a client belongs to: stored from the start, so that clients can be spread over processes. */
export const shardOf = (clientId: number): number => clientId % 1_024
