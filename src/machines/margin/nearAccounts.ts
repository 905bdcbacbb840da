/** Accounts by their distance to a close-out in a market, declared once (operator surface, margin watch; F8). */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { decimalText, MoneyDecimal } from "../shared/Money.ts"
import type { RiskState } from "./accountRisk.ts"
import type { MarginPicture } from "./marginPicture.ts"

const riskStates = ["NORMAL", "MARGIN_CALL", "CLOSE_OUT"] as const

/** An account with a position in the market, as the margin watch lists it. Money is USDC. */
export const NearAccount = Schema.Struct({
  clientId: Id,
  clientUid: Schema.String,
  netQty: Schema.String,
  avgEntryPrice: Schema.String,
  unrealizedPnl: Schema.String.annotate({ description: "Of the position." }),
  marginLevel: Schema.NullOr(Schema.String).annotate({ description: "Of the account, percent." }),
  recorded: Schema.Literals(riskStates),
  riskState: Schema.Literals(riskStates).annotate({ description: "On live marks." }),
  estLiquidationPrice: Schema.NullOr(Schema.String).annotate({
    description: "Where the account would be closed out if this market alone moved."
  }),
  distancePct: Schema.NullOr(Schema.String).annotate({
    description: "How far the mark is from there, percent of the mark; zero and less: it is beyond."
  }),
  closeOutId: Schema.NullOr(Id).annotate({ description: "Of the episode that goes on." })
}).annotate({ identifier: "NearAccount" })
export type NearAccount = typeof NearAccount.Type

/** The accounts of one market that are nearest to a close-out, the nearest first. */
export const NearAccounts = Schema.Struct({
  asOf: Schema.Int,
  symbol: Schema.String,
  mark: Schema.NullOr(Schema.String),
  markFresh: Schema.Boolean,
  holders: Schema.Int.annotate({ description: "Accounts with a position in the market." }),
  accounts: Schema.Array(NearAccount)
}).annotate({ identifier: "NearAccounts" })
export type NearAccounts = typeof NearAccounts.Type

export interface NearWhose {
  readonly clientUid: string
  readonly recorded: RiskState
  readonly closeOutId: number | null
}

/** The row of an account in the list of a market; null when it has no position there. */
export const nearAccountOf = (picture: MarginPicture, symbol: string, whose: NearWhose): NearAccount | null => {
  const position = picture.positions.find((each) => each.symbol === symbol)
  if (position === undefined) return null
  const { netQty, avgEntryPrice, unrealizedPnl, estLiquidationPrice, mark } = position
  return {
    clientId: picture.clientId,
    ...whose,
    netQty,
    avgEntryPrice,
    unrealizedPnl,
    marginLevel: picture.marginLevel,
    riskState: picture.riskState,
    estLiquidationPrice,
    distancePct: distancePct(netQty, mark, estLiquidationPrice)
  }
}

const distancePct = (netQty: string, mark: string | null, line: string | null): string | null => {
  if (mark === null || line === null) return null
  const away = new MoneyDecimal(mark).minus(line).div(mark).mul(100)
  return decimalText((netQty.startsWith("-") ? away.neg() : away).toDecimalPlaces(2, MoneyDecimal.ROUND_FLOOR), 2)
}

const gravity: { readonly [S in RiskState]: number } = { CLOSE_OUT: 0, MARGIN_CALL: 1, NORMAL: 2 }

/** Sort order: by distance, accounts without a distance last; then the graver state, then the older account first. */
export const nearestFirst = (one: NearAccount, other: NearAccount): number =>
  distanceOf(one) - distanceOf(other) ||
  gravity[one.recorded] - gravity[other.recorded] ||
  one.clientId - other.clientId

const distanceOf = ({ distancePct: pct }: NearAccount): number => (pct === null ? Number.MAX_VALUE : Number(pct))
