/**
 * The broker's own trading halt. While it is ACTIVE, no action that opens risk is accepted in its scope, whatever the venue
 * reports. It ends by command, or at `until` (doc 2, GET /trading-status; A2-11).
 */
export const haltFamilies = ["PERP", "SPOT", "BARRIER", "STAKING"] as const

export const tradingHaltStates = ["ACTIVE", "ENDED"] as const
export type TradingHaltState = (typeof tradingHaltStates)[number]

/** Longest message for partners, characters. */
export const haltMessageLength = 256

export interface TradingHaltInput {
  readonly haltId: number
  /** The covered markets: ALL, a family, or a symbol. */
  readonly scope: string
  /** The text for partners. */
  readonly message: string
  /** Unix ms, business time. */
  readonly since: number
  /** Unix ms; null when only a command ends it. */
  readonly until: number | null
}

export interface TradingHaltContext extends TradingHaltInput {
  readonly endedAt: number | null
}

export type TradingHaltEvent =
  /** A repeated halt replaces message and end. */
  | { readonly type: "CHANGE"; readonly at: number; readonly message: string; readonly until: number | null }
  | { readonly type: "RESUME"; readonly at: number }
  /** The halt has reached its end `until`. */
  | { readonly type: "ELAPSE"; readonly at: number }

export const haltTimer = "halt.until"
