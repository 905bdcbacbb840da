/**
 * The part of a matrix that a run plays. `npm test` plays a fixed sample; `npm run test:deep` plays a larger one and a slice of
 * the whole matrix; EVERY=1 plays the whole, which takes hours.
 */
export const every = process.env["EVERY"] === "1"

/** True if this run plays more than the sample of `npm test`. */
export const isDeep = every || process.env["TIER"] === "deep"

interface Samples<A> {
  /** The sample of `npm test`: one round or one cell. */
  readonly usual: ReadonlyArray<A>
  /** Each kind of case at least once; a deep run adds a slice of `every`. */
  readonly deep: ReadonlyArray<A>
  readonly every?: ReadonlyArray<A>
}

/** A slice of the whole matrix; all slices together are the whole. */
export interface Slice {
  /** From 1 to `count`. */
  readonly number: number
  readonly count: number
}

/** The default number of slices: deep runs on 14 days in a row play the whole matrix. */
const slices = 14
const dayMillis = 86_400_000

/** Reads `3/14`; without a text the date selects the slice. Throws one sentence for any other text. */
export const sliceOf = (text: string | undefined, now: number): Slice => {
  if (text === undefined) return { number: (Math.floor(now / dayMillis) % slices) + 1, count: slices }
  const [, number = 0, count = 0] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).map(Number)
  if (number < 1 || number > count)
    throw new Error(`SLICE is "${text}"; it must be a number and a count, such as 3/14.`)
  return { number, count }
}

/** Every `count`-th case, starting with the `number`-th. */
export const inSlice = <A>(cases: ReadonlyArray<A>, { number, count }: Slice): ReadonlyArray<A> =>
  cases.filter((_, index) => index % count === number - 1)

/**
 * The cases of a deep run without duplicates, in the order of `every`, because later cases may depend on earlier ones.
 */
export const deepSample = <A>(
  { deep, every: whole = deep }: Pick<Samples<A>, "deep" | "every">,
  slice: Slice
): ReadonlyArray<A> => {
  const named = (cases: ReadonlyArray<A>) => cases.map((each) => [JSON.stringify(each), each] as const)
  const chosen = new Map(named([...deep, ...inSlice(whole, slice)]))
  return [...new Map([...named(whole), ...chosen])].flatMap(([name, each]) => (chosen.has(name) ? [each] : []))
}

/** The cases that this run plays. */
export const played = <A>(samples: Samples<A>): ReadonlyArray<A> => {
  if (every) return samples.every ?? samples.deep
  return isDeep ? deepSample(samples, sliceOf(process.env["SLICE"], Date.now())) : samples.usual
}
