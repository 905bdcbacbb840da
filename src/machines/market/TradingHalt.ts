/**
 * The broker's own trading halt: while it is ACTIVE nothing that opens risk is accepted in its scope, whatever the venue
 * reports. It ends by command, or at `until` (doc 2, GET /trading-status; A2-11).
 */
export const haltFamilies = ["PERP", "SPOT", "BARRIER", "STAKING"] as const

export const tradingHaltStates = ["ACTIVE", "ENDED"] as const
export type TradingHaltState = (typeof tradingHaltStates)[number]

/** The longest message that partners are shown. */
export const haltMessageLength = 256

export interface TradingHaltInput {
  readonly haltId: number
  /** ALL, a family, or a symbol. */
  readonly scope: string
  /** The text for partners. */
  readonly message: string
  /** Unix ms, business time. */
  readonly since: number
  /** Unix ms; null: until it is resumed. */
  readonly until: number | null
}

export interface TradingHaltContext extends TradingHaltInput {
  readonly endedAt: number | null
}

export type TradingHaltEvent =
  /** A repeated halt replaces message and end. */
  | { readonly type: "CHANGE"; readonly at: number; readonly message: string; readonly until: number | null }
  | { readonly type: "RESUME"; readonly at: number }
  /** The time `until` is reached. */
  | { readonly type: "ELAPSE"; readonly at: number }

export const haltTimer = "halt.until"
