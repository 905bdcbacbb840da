/** GET .../margin: the account's margin on the wire, declared once (doc 2, Margin picture; A2-99, A2-112). */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { decimalText, formatAmount, MoneyDecimal } from "../shared/Money.ts"
import type { Instrument } from "../market/Facts.ts"
import type { AccountRisk } from "./accountRisk.ts"
import { closeOutPct, estLiquidationPrice, isFlat, marginCallPct, type PerpPosition, roiPct } from "./perpetual.ts"
import type { PerpRisk } from "./perpRisk.ts"

const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places; may be negative." })
const price = Schema.String.annotate({ description: "Decimal string on the market's price grid." })
const percent = Schema.String.annotate({ description: "Percent, decimal string with two places; may be negative." })

/** A perpetual position of the margin picture. */
export const MarginPosition = Schema.Struct({
  symbol: Schema.String,
  netQty: Schema.String.annotate({ description: "Signed decimal string on the market's quantity grid." }),
  avgEntryPrice: Schema.String.annotate({ description: "Decimal string, as exactly as it is kept: up to 18 places." }),
  mark: Schema.NullOr(price),
  markFresh: Schema.Boolean,
  unrealizedPnl: usdc,
  initialMargin: usdc,
  roiPct: percent,
  leverage: Schema.Int,
  realizedPnl: usdc,
  estLiquidationPrice: Schema.NullOr(price)
}).annotate({ identifier: "MarginPosition" })
export type MarginPosition = typeof MarginPosition.Type

export const MarginPicture = Schema.Struct({
  clientId: Id,
  equity: usdc,
  cash: usdc.annotate({ description: "Without what is reserved." }),
  unrealizedPnl: usdc.annotate({ description: "Of perpetuals." }),
  reserved: usdc,
  initialMargin: usdc,
  maintenanceMargin: usdc,
  positionMargin: usdc,
  orderMargin: usdc,
  freeMargin: usdc,
  marginLevel: Schema.NullOr(percent).annotate({ description: "Rounded down; null while no margin is tied up." }),
  riskState: Schema.Literals(["NORMAL", "MARGIN_CALL", "CLOSE_OUT"]).annotate({ description: "On live marks." }),
  categorization: Schema.Literals(["RETAIL", "PROFESSIONAL"]),
  marksFresh: Schema.Boolean.annotate({ description: "All marks that the figures use are at most 10 s old." }),
  closeOutPct: Schema.Int,
  marginCallPct: Schema.Int,
  positions: Schema.Array(MarginPosition),
  openOrders: Schema.Int.annotate({ description: "Working orders." }),
  barrierMargin: usdc,
  barrierUnrealizedPnl: usdc,
  barrierMarksFresh: Schema.Boolean,
  pendingAcceptMargin: usdc.annotate({ description: "Of accepts that the venue has not answered." }),
  closeOutEquity: usdc.annotate({ description: "Equity without the profits of open knock-out contracts." }),
  barriers: Schema.Int.annotate({ description: "Open knock-out contracts." })
}).annotate({ identifier: "MarginPicture" })
export type MarginPicture = typeof MarginPicture.Type

export interface PicturedAccount {
  readonly clientId: number
  readonly categorization: MarginPicture["categorization"]
  /** Micro-USDC, like the reserve. */
  readonly cash: bigint
  readonly reserved: bigint
  /** The number of open knock-out contracts. */
  readonly barriers: number
  /** The number of working orders. */
  readonly openOrders: number
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly risk: AccountRisk
}

export const marginPictureOf = (account: PicturedAccount): MarginPicture => {
  const { clientId, categorization, barriers, openOrders, risk } = account
  return {
    clientId,
    equity: text(risk.equity),
    cash: text(account.cash),
    unrealizedPnl: text(risk.unrealizedPnl),
    reserved: text(account.reserved),
    initialMargin: text(risk.initialMargin),
    maintenanceMargin: text(risk.maintenanceMargin),
    positionMargin: text(risk.positionMargin),
    orderMargin: text(risk.orderMargin),
    freeMargin: text(risk.freeMargin),
    marginLevel: risk.marginLevel,
    riskState: risk.riskState,
    categorization,
    marksFresh: risk.marksFresh,
    closeOutPct,
    marginCallPct,
    positions: positionsOf(account),
    openOrders,
    barrierMargin: text(risk.barrierMargin),
    barrierUnrealizedPnl: text(risk.barrierUnrealizedPnl),
    barrierMarksFresh: risk.barrierMarksFresh,
    pendingAcceptMargin: text(risk.pendingAcceptMargin),
    closeOutEquity: text(risk.closeOutEquity),
    barriers
  }
}

const positionsOf = (account: PicturedAccount): ReadonlyArray<MarginPosition> =>
  account.risk.perps
    .flatMap((perp) => {
      const { position } = perp.holding
      return position === null || isFlat(position) ? [] : [positionAt(position, perp, account)]
    })
    .toSorted((one, other) => (one.symbol < other.symbol ? -1 : 1))

const positionAt = (
  position: PerpPosition,
  { holding, mark, markFresh, unrealizedPnl, initialMargin }: PerpRisk,
  { instruments, risk }: PicturedAccount
): MarginPosition => {
  const {
    symbol,
    terms: { leverage }
  } = holding
  const instrument = instruments.get(symbol)
  const part = { unrealizedPnl, initialMargin, leverage, closeOutPct }
  return {
    symbol,
    netQty: position.netQty,
    avgEntryPrice: averagePrice(position.avgEntry, instrument),
    mark: mark === null ? null : decimalText(mark.price, mark.places),
    markFresh,
    unrealizedPnl: text(unrealizedPnl),
    initialMargin: text(initialMargin),
    roiPct: roiPct(position, unrealizedPnl, leverage),
    leverage,
    realizedPnl: text(position.realizedPnl),
    estLiquidationPrice:
      instrument === undefined ? null : estLiquidationPrice(position, { ...part, tick: instrument.priceTick }, risk)
  }
}

/** An average price as text. It usually lies between two ticks, so it is shown at its stored precision. */
export const averagePrice = (average: string, instrument: Instrument | undefined): string => {
  const price = new MoneyDecimal(average)
  return decimalText(price, Math.max(instrument?.priceDecimals ?? 0, price.decimalPlaces()))
}

const text = (micro: bigint): string => formatAmount(micro, "USDC")
