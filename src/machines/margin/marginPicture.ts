/** GET .../margin: the account's margin as partners read it (doc 2, Margin picture; A2-99, A2-112), declared once. */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { formatAmount } from "../shared/Money.ts"
import { type AccountRisk, closeOutPct, marginCallPct } from "./accountRisk.ts"

const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places; may be negative." })
const price = Schema.String.annotate({ description: "Decimal string on the market's price grid." })
const percent = Schema.String.annotate({ description: "Percent, decimal string with two places; may be negative." })

/** A perpetual position of the margin picture. */
export const MarginPosition = Schema.Struct({
  symbol: Schema.String,
  netQty: Schema.String.annotate({ description: "Signed decimal string on the market's quantity grid." }),
  avgEntryPrice: price,
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
  /** Open contracts. */
  readonly barriers: number
  readonly risk: AccountRisk
}

/** No perpetuals are held here yet: positions and their margin, orders and theirs are none. */
export const marginPictureOf = (account: PicturedAccount): MarginPicture => {
  const { clientId, categorization, barriers, risk } = account
  return {
    clientId,
    equity: text(risk.equity),
    cash: text(account.cash),
    unrealizedPnl: text(risk.unrealizedPnl),
    reserved: text(account.reserved),
    initialMargin: text(risk.initialMargin),
    maintenanceMargin: text(risk.maintenanceMargin),
    positionMargin: text(0n),
    orderMargin: text(0n),
    freeMargin: text(risk.freeMargin),
    marginLevel: risk.marginLevel,
    riskState: risk.riskState,
    categorization,
    marksFresh: risk.marksFresh,
    closeOutPct,
    marginCallPct,
    positions: [],
    openOrders: 0,
    barrierMargin: text(risk.barrierMargin),
    barrierUnrealizedPnl: text(risk.barrierUnrealizedPnl),
    barrierMarksFresh: risk.barrierMarksFresh,
    pendingAcceptMargin: text(risk.pendingAcceptMargin),
    closeOutEquity: text(risk.closeOutEquity),
    barriers
  }
}

const text = (micro: bigint): string => formatAmount(micro, "USDC")
