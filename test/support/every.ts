/**
 * Whether all is played that the tests can play (EVERY=1, some hours), or a sample of it that changes with nothing: each fault,
 * each step and each point is in the sample, not each of their combinations.
 */
export const every = process.env["EVERY"] === "1"
