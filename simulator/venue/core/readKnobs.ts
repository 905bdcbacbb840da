/** Reads a tester's files: knobs (`sim venue set`) and markets (`sim venue serve --markets`). */
import { Schema } from "effect"
import { assetClasses, venueFamilies } from "../../../src/machines/venue/VenueMarket.ts"
import { DecimalText, VenueText } from "../../../src/machines/venue/values.ts"
import type { Base } from "./defaultMarkets.ts"
import { type Read, readYaml } from "./readYaml.ts"
import { unitsOf } from "./Market.ts"
import { VenueKnobs } from "./VenueKnobs.ts"

export const readKnobs = (text: string): Read<VenueKnobs> => readYaml(VenueKnobs, text)

/**
 * Highest opening price of a base, USDC. Above it one lot could be worth more than the largest order of a market, and
 * prices in ticks would not be exact.
 */
const highestOpening = 1_000_000
const places = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 }))

/** A base with its markets, as `Base`; tick and lot are decimal places. */
export const MarketBase = Schema.Struct({
  base: Schema.String.check(Schema.isPattern(/^[A-Z0-9]{1,12}$/)),
  name: VenueText.check(Schema.isMinLength(1)),
  assetClass: Schema.Literals(assetClasses),
  tick: places,
  lot: places,
  opening: DecimalText,
  volatility: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 20 })),
  families: Schema.Array(Schema.Literals(venueFamilies)).check(Schema.isMinLength(1), Schema.isUnique())
}).check(
  Schema.makeFilter((base) =>
    base.tick + base.lot > 6
      ? "tick and lot have more than the six places of USDC together"
      : (unitsOf(base.opening, base.tick) ?? 0) === 0
        ? "the opening price lies between two ticks, or is nothing"
        : Number(base.opening) > highestOpening
          ? "the opening price is more than 1,000,000"
          : undefined
  )
)

const MarketsFile = Schema.Struct({
  bases: Schema.Array(MarketBase).check(Schema.isMinLength(1), Schema.isMaxLength(100))
})

/** Bases with their markets; a repeated base is reported at its second place. */
export const readMarkets = (text: string): Read<ReadonlyArray<Base>> => {
  const read = readYaml(MarketsFile, text)
  if (!read.ok) return read
  const { bases } = read.value
  const twice = bases.find(({ base }, n) => bases.findIndex((other) => other.base === base) !== n)
  if (twice === undefined) return { ok: true, value: bases }
  const message = `${twice.base} is there twice.`
  return { ok: false, problems: [{ line: 1, message }], message }
}
