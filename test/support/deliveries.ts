/** The ways in which events of the venue may be delivered: doubled, late, out of order, not at all (A2-96). */

let said = 0
/** Delays below `limit` ms, in no order. */
export const scattered = (limit: number): number => (++said * 97) % limit
/** No delivery for each n-th event, one without delay for all others. */
export const allBut = (n: number): ReadonlyArray<number> => (++said % n === 0 ? [] : [0])

/** The delays at which one event is delivered, each with a name for test titles. */
export const deliveries = [
  ["twice", () => [0, 30]],
  ["late and out of order", () => [scattered(300)]],
  ["twice, out of order", () => [scattered(200), scattered(400)]],
  ["but for every third", () => allBut(3)],
  ["not at all", () => []]
] as const satisfies ReadonlyArray<readonly [string, () => ReadonlyArray<number>]>
