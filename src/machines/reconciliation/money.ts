/**
 * The money of an account at the service and at the venue, as one comparable figure per asset. The ledger's house account
 * `venue` holds all payments to and from a client. For perpetuals it holds only results, which are rounded and depend on the
 * booking order of the trades. So this file replaces the results by the value of each trade. Both sides are then equal to the
 * last minor unit, in any order and for any number of trades, as long as a tick times a lot is a whole minor unit of the
 * payment currency. The venue's fees are not included (A2-103, F11, F12).
 */
import { postingRules } from "../postingRules.ts"
import { isCurrency } from "../shared/Currency.ts"
import { MoneyDecimal, toDecimal } from "../shared/Money.ts"
import type { VenueAccount, VenueMoneyKind } from "../venue/venueObjects.ts"

/** The stored money of a client for the comparison. Minor units. */
export interface OwnMoney {
  readonly balances: ReadonlyArray<{ readonly currency: string; readonly fromVenue: bigint }>
  /** Micro-USDC; undefined when the client has never traded. */
  readonly totals: { readonly perpFlow: bigint; readonly fillsPnl: bigint } | undefined
}

/** Amounts by asset, without zeros. */
export type MoneyFigures = ReadonlyMap<string, MoneyDecimal>

export const ownMoney = ({ balances, totals }: OwnMoney): MoneyFigures => {
  const sums = new Map<string, MoneyDecimal>()
  for (const { currency, fromVenue } of balances)
    if (isCurrency(currency)) add(sums, currency, toDecimal(fromVenue, currency))
  if (totals !== undefined) add(sums, "USDC", toDecimal(totals.perpFlow - totals.fillsPnl, "USDC"))
  return present(sums)
}

/** Kinds that the service books. Other kinds, such as those of a product that is not offered, are not compared. */
const bookedKinds: ReadonlySet<VenueMoneyKind | null> = new Set(Object.values(postingRules).map(({ venue }) => venue))

/** The venue's money of an account. Null when the venue has not kept the whole history. */
export const venueMoney = ({ money }: Pick<VenueAccount, "money">): MoneyFigures | null => {
  if (money === null) return null
  const sums = new Map<string, MoneyDecimal>()
  for (const { kind, asset, amount } of money) if (bookedKinds.has(kind)) add(sums, asset, new MoneyDecimal(amount))
  return present(sums)
}

export interface MoneyDifference {
  readonly asset: string
  readonly ours: MoneyDecimal
  readonly theirs: MoneyDecimal
}

/** Assets with different amounts on the two sides. */
export const moneyApart = (ours: MoneyFigures, theirs: MoneyFigures): ReadonlyArray<MoneyDifference> =>
  [...new Set([...ours.keys(), ...theirs.keys()])].toSorted().flatMap((asset) => {
    const [here, there] = [ours.get(asset) ?? nothing, theirs.get(asset) ?? nothing]
    return here.eq(there) ? [] : [{ asset, ours: here, theirs: there }]
  })

const nothing = new MoneyDecimal(0)

const add = (sums: Map<string, MoneyDecimal>, asset: string, amount: MoneyDecimal): void =>
  void sums.set(asset, (sums.get(asset) ?? nothing).plus(amount))

const present = (sums: ReadonlyMap<string, MoneyDecimal>): MoneyFigures =>
  new Map([...sums].filter(([, amount]) => !amount.isZero()))

/** The explanation when the money of some accounts is not compared. */
export const olderThanMoney = "accounts whose money was not compared: they are older than what the venue keeps of it"
