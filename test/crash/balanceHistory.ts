/**
 * Proves that reads of one client's balances are linearizable (architecture, Proof; SC-PLT-04). Every amount of a
 * history is a different power of two, a coin. A balance is therefore the set of the coins at one place, and a read
 * shows for each coin how many of its steps were done. From this the checker builds an order of all steps and reads in
 * which each read returns what it returned, and in which no operation precedes one that had ended before it began.
 *
 * The order is built by a rule, and then proved by a replay with plain figures. The rule finds an order if there is
 * one: reads are ordered by what they returned, and each step is placed directly before the first read that shows it.
 */

/** The place of a coin: outside of the client's books, in its cash, or in its reserve. */
export type Place = "away" | "cash" | "reserved"

export interface Coin {
  readonly currency: string
  /** Minor units, a power of two. No other coin of the client and the currency has this amount. */
  readonly amount: bigint
}

/** A movement of a coin. It took effect once between both moments; without an end also later, or never. */
export interface Step {
  /** Index of the coin. The steps of a coin are in order, and each begins after the end of the previous one. */
  readonly coin: number
  readonly to: Place
  readonly start: number
  /** Infinity: the answer never arrived, so the outcome is unknown. */
  readonly end: number
}

export interface Balance {
  readonly cash: bigint
  readonly reserved: bigint
}

/**
 * An answered snapshot of all balances. Moments are values of one counter, which increases with every request and every
 * answer. At most one step of a coin may overlap a read; otherwise a balance would not show how often the coin had
 * moved.
 */
export interface Read {
  readonly start: number
  readonly end: number
  readonly balances: ReadonlyMap<string, Balance>
  /** Index of the step of which this is the answer. The read must show that step. */
  readonly ownStep?: number
}

export interface History {
  readonly coins: ReadonlyArray<Coin>
  readonly steps: ReadonlyArray<Step>
  readonly reads: ReadonlyArray<Read>
}

export interface Judgement {
  /** Faults as sentences; empty if the history is proved. */
  readonly faults: ReadonlyArray<string>
  /** Steps without an answer that a later read has shown as done. */
  readonly settledLate: number
}

/** Limit on the sentences: one fault often causes many. */
const faultLimit = 20

interface Chain {
  readonly index: number
  readonly steps: ReadonlyArray<{ readonly index: number; readonly step: Step }>
}

/** For each coin, the number of steps that a read showed as done. */
interface Seen {
  readonly read: Read
  readonly done: ReadonlyArray<number>
  readonly total: number
}

export const judgeHistory = (history: History): Judgement => {
  const faults: Array<string> = []
  const chains = chainsOf(history, faults)
  const seen = history.reads.flatMap((read, index) => {
    const done = decodeRead(history, chains, read, index, faults)
    return done === null ? [] : [{ read, done, total: done.reduce((sum, count) => sum + count, 0) }]
  })
  seen.sort((one, other) => one.total - other.total || one.read.start - other.read.start)
  checkContainment(seen, faults)
  if (faults.length === 0) verifyOrder(history, orderOf(history, chains, seen), faults)
  return { faults: faults.slice(0, faultLimit), settledLate: settledLate(chains, seen.at(-1)) }
}

const chainsOf = ({ coins, steps }: History, faults: Array<string>): ReadonlyArray<Chain> => {
  const chains = coins.map((_, index) => ({ index, steps: [] as Array<{ index: number; step: Step }> }))
  for (const [index, step] of steps.entries()) {
    const own = chains[step.coin]?.steps
    const last = own?.at(-1)?.step
    if (own === undefined) faults.push(`Step ${index} moves a coin that does not exist.`)
    else if (last !== undefined && (last.end >= step.start || last.to === step.to))
      faults.push(`Step ${index} does not follow the step of its coin before it.`)
    own?.push({ index, step })
  }
  return chains
}

const placeAfter = ({ steps }: Chain, count: number): Place =>
  count === 0 ? "away" : (steps[count - 1]?.step.to ?? "away")

/** Null if the read fits no state that was possible at its time. */
const decodeRead = (
  { coins, steps }: History,
  chains: ReadonlyArray<Chain>,
  read: Read,
  index: number,
  faults: Array<string>
): ReadonlyArray<number> | null => {
  const before = faults.length
  const left = new Map([...read.balances].map(([currency, balance]) => [currency, { ...balance }]))
  const done = coins.map((coin, at) => {
    const balance = left.get(coin.currency)
    const inCash = ((balance?.cash ?? 0n) & coin.amount) !== 0n
    const inReserve = ((balance?.reserved ?? 0n) & coin.amount) !== 0n
    if (balance !== undefined && inCash) balance.cash -= coin.amount
    if (balance !== undefined && inReserve) balance.reserved -= coin.amount
    if (inCash && inReserve) faults.push(`Read ${index} has coin ${at} twice, in cash and in the reserve.`)
    return countDone(chains[at] as Chain, read, inCash ? "cash" : inReserve ? "reserved" : "away", index, faults)
  })
  for (const [currency, { cash, reserved }] of left)
    if (cash !== 0n || reserved !== 0n)
      faults.push(`Read ${index} has ${cash} ${currency} in cash and ${reserved} in the reserve from nobody.`)
  const own = read.ownStep === undefined ? undefined : steps[read.ownStep]
  if (own !== undefined && placeOf(chains[own.coin], done[own.coin]) !== own.to)
    faults.push(`Read ${index} is the answer of step ${read.ownStep} and does not hold it.`)
  return faults.length === before ? done : null
}

const placeOf = (chain: Chain | undefined, done: number | undefined): Place =>
  chain === undefined || done === undefined ? "away" : placeAfter(chain, done)

const countDone = (chain: Chain, read: Read, place: Place, index: number, faults: Array<string>): number => {
  let least = 0
  let most = 0
  for (const { step } of chain.steps) {
    if (step.end < read.start) least++
    if (step.start < read.end) most++
  }
  if (most - least > 1) faults.push(`Read ${index} lies across two steps of coin ${chain.index}: it proves nothing.`)
  for (let count = least; count <= most; count++) if (placeAfter(chain, count) === place) return count
  faults.push(
    `Read ${index} has coin ${chain.index} ${place}; ${least} to ${most} of its steps were done: ${placeAfter(chain, least)}${
      most > least ? ` or ${placeAfter(chain, most)}` : ""
    }.`
  )
  return least
}

/** Checks that of any two reads one shows everything that the other shows. */
const checkContainment = (seen: ReadonlyArray<Seen>, faults: Array<string>): void => {
  for (const [index, { done }] of seen.entries()) {
    const next = seen[index + 1]?.done
    const lost = next === undefined ? -1 : done.findIndex((count, coin) => count > (next[coin] ?? 0))
    if (lost >= 0)
      faults.push(`Two reads contradict each other about coin ${lost}: each saw something the other did not.`)
  }
}

type Entry = { readonly step: Step } | { readonly read: Read }

const orderOf = (history: History, chains: ReadonlyArray<Chain>, seen: ReadonlyArray<Seen>): ReadonlyArray<Entry> => {
  const placed = new Set<number>()
  const order: Array<Entry> = []
  const add = (indexes: ReadonlyArray<number>): void => {
    for (const index of indexes) placed.add(index)
    const steps = indexes.map((index) => history.steps[index] as Step)
    order.push(...steps.toSorted((one, other) => one.start - other.start).map((step) => ({ step })))
  }
  const reached = chains.map(() => 0)
  for (const { read, done } of seen) {
    const fresh: Array<number> = []
    for (const [coin, count] of done.entries())
      for (; (reached[coin] as number) < count; reached[coin]!++)
        fresh.push((chains[coin] as Chain).steps[reached[coin] as number]?.index as number)
    add(fresh)
    order.push({ read })
  }
  add([...history.steps.keys()].filter((index) => !placed.has(index)))
  return order
}

/**
 * Replays the order with plain figures: every read must return these figures, and no operation may precede one that had
 * ended before it began.
 */
const verifyOrder = ({ coins }: History, order: ReadonlyArray<Entry>, faults: Array<string>): void => {
  const books = new Map<string, { cash: bigint; reserved: bigint }>()
  const at: Array<Place> = coins.map(() => "away")
  for (const { currency } of coins) books.set(currency, { cash: 0n, reserved: 0n })
  let latestStart = -Infinity
  for (const entry of order) {
    const { start, end } = "step" in entry ? entry.step : entry.read
    if (end < latestStart) faults.push(`What ended at ${end} is in effect only after what began at ${latestStart}.`)
    latestStart = Math.max(latestStart, start)
    if ("step" in entry) {
      const { coin, to } = entry.step
      const { currency, amount } = coins[coin] as Coin
      const book = books.get(currency) as { cash: bigint; reserved: bigint }
      const from = at[coin] as Place
      if (from !== "away") book[from] -= amount
      if (to !== "away") book[to] += amount
      at[coin] = to
    } else
      for (const [currency, book] of books) {
        const { cash, reserved } = entry.read.balances.get(currency) ?? { cash: 0n, reserved: 0n }
        if (cash !== book.cash || reserved !== book.reserved)
          faults.push(`A read has ${cash} and ${reserved} ${currency} where ${book.cash} and ${book.reserved} are due.`)
      }
  }
}

const settledLate = (chains: ReadonlyArray<Chain>, last: Seen | undefined): number =>
  chains.filter((chain, coin) => {
    const done = last?.done[coin] ?? 0
    return done > 0 && chain.steps[done - 1]?.step.end === Infinity
  }).length
