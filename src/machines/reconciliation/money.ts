/**
 * The money of an account as service and venue have it, in one figure an asset (A2-103). The house account `venue` of the ledger
 * has what a client was paid and has paid; of perpetuals only the results, which hang on the order in which trades were
 * booked and are rounded (F11). So they are taken out, and the value of each trade put in their place: what both sides then
 * have is the same to the last minor unit, whatever the order and however many trades, wherever a tick times a lot is a whole
 * minor unit of what is paid. Fees of the venue's are none of it (F12).
 */
import { postingRules } from "../ledger/postingRules.ts"
import { isCurrency } from "../shared/Currency.ts"
import { MoneyDecimal, toDecimal } from "../shared/Money.ts"
import type { VenueAccount, VenueMoneyKind } from "../venue/venueObjects.ts"

/** What of a client is compared, as it is stored. Minor units. */
export interface OwnMoney {
  readonly balances: ReadonlyArray<{ readonly currency: string; readonly fromVenue: bigint }>
  /** Micro-USDC; undefined: it has never traded. */
  readonly totals: { readonly perpFlow: bigint; readonly fillsPnl: bigint } | undefined
}

/** Amounts by asset; what is nothing is left out. */
export type MoneyFigures = ReadonlyMap<string, MoneyDecimal>

export const ownMoney = ({ balances, totals }: OwnMoney): MoneyFigures => {
  const sums = new Map<string, MoneyDecimal>()
  for (const { currency, fromVenue } of balances)
    if (isCurrency(currency)) add(sums, currency, toDecimal(fromVenue, currency))
  if (totals !== undefined) add(sums, "USDC", toDecimal(totals.perpFlow - totals.fillsPnl, "USDC"))
  return present(sums)
}

/** Kinds that are booked here; what is not, such as a kind of trading that is not offered, is not compared. */
const bookedKinds: ReadonlySet<VenueMoneyKind | null> = new Set(Object.values(postingRules).map(({ venue }) => venue))

/** Null: the venue has not kept all of it. */
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

/** Assets of which the two sides say different amounts. */
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

/** Why the money of some accounts is not compared, for whoever reads the figure. */
export const olderThanMoney = "accounts whose money was not compared: they are older than what the venue keeps of it"
