/**
 * Completes a venue's options with the defaults of this code: markets and knobs. Books keep them from their beginning, so that
 * a release with other defaults replays to the same books. Constants without an option, such as staking boards and price bands,
 * are part of the log's format: changing them needs a new format version.
 */
import { type Base, bases, marketsOf, usualLadder, walkOf } from "./defaultMarkets.ts"
import { usualHalfLifeMillis } from "./Prices.ts"
import { textOf } from "./texts.ts"
import { usuallyKept } from "./usuallyKept.ts"
import type { VenueOptions } from "./VenueInput.ts"
import { defaultDealers, defaultTakers, defaultWriters, type VenueKnobs } from "./VenueKnobs.ts"

/** Older logs stored incomplete options. A missing part means the default of that time, which is still the default here. */
export const completeOptions = (options: VenueOptions): VenueOptions => {
  const markets = options.markets ?? bases
  const { knobs } = options
  return {
    ...options,
    markets,
    kept: options.kept ?? usuallyKept,
    knobs: {
      ...knobs,
      processes: merged(usualProcesses(markets), knobs.processes ?? {}),
      basisHalfLifeMillis: knobs.basisHalfLifeMillis ?? usualHalfLifeMillis,
      books: merged(usualBooks(markets), knobs.books ?? {}),
      takers: knobs.takers ?? defaultTakers,
      dealers: knobs.dealers ?? defaultDealers,
      writers: { ...defaultWriters, ...knobs.writers }
    }
  }
}

const usualProcesses = (markets: ReadonlyArray<Base>): NonNullable<VenueKnobs["processes"]> =>
  Object.fromEntries(markets.map((base) => [base.base, walkOf(base)] as const))

const usualBooks = (markets: ReadonlyArray<Base>): NonNullable<VenueKnobs["books"]> =>
  Object.fromEntries(
    markets.flatMap((base) =>
      marketsOf([base])
        .filter(({ family }) => family !== "BARRIER")
        .map(({ symbol, lotDecimals }) => {
          const { levels, spread, size } = usualLadder(base)
          return [symbol, { levels, spread, size: textOf(size, lotDecimals) }] as const
        })
    )
  )

/** Merges entries part by part; those of `over` take precedence. */
const merged = <Part extends object>(
  usual: Readonly<Record<string, Part>>,
  over: Readonly<Record<string, Part>>
): Readonly<Record<string, Part>> => ({
  ...usual,
  ...Object.fromEntries(Object.entries(over).map(([key, part]) => [key, { ...usual[key], ...part }]))
})
