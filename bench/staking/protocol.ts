/** What the staking part asks of its load generator and of its reference services. */
import type { Slice } from "../load/protocol.ts"
import type { ServerKeys } from "../reference/partnerServer.ts"
import type { Style } from "../reference/protocol.ts"
import type { VenueAddress } from "../reference/VenueSide.ts"

export const readKinds = ["balances", "overview"] as const
export type ReadKind = (typeof readKinds)[number]

interface Window extends Pick<Slice, "port" | "ca" | "partnerKey" | "connections" | "millis"> {
  readonly clientIds: ReadonlyArray<number>
}

export interface ReadSlice extends Window {
  readonly kind: ReadKind
}

/** Takes of one offer, client by client in turn, until the window is over or there are `count` of them. */
export interface TakeSlice extends Window {
  readonly kind: "take"
  readonly count: number | null
  readonly offerId: number
  readonly qty: string
}

export type StakingSlice = ReadSlice | TakeSlice

/** An offer of USDC with the terms that a reference knows by heart. */
export interface HeldOffer {
  readonly offerId: number
  readonly rateBps: number
  readonly tenorDays: number
}

/** A reference service that takes an offer at the venue. */
export interface TakeServerQuestion extends ServerKeys, VenueAddress {
  readonly style: Style
  readonly databaseUrl: string
  readonly offer: HeldOffer
}

/** The mark of a SPOT market as it stood when the reference was started, with the places of its grid. */
export interface HeldMark {
  readonly symbol: string
  readonly price: string
  readonly places: number
}

/** A reference service that reads balances and overviews, and adds up what is behind them. */
export interface ReadServerQuestion extends ServerKeys {
  readonly databaseUrl: string
  readonly marks: ReadonlyArray<HeldMark>
}

/**
 * Ends one swap of each of these ids in a transaction of its own, its rows one by one (`steps`) or all by one statement (`one`).
 */
export interface PlainMaturities {
  readonly databaseUrl: string
  readonly way: PlainWay
  readonly concurrency: number
  readonly swapIds: ReadonlyArray<number>
}

export const plainWays = ["steps", "one"] as const
export const plainNames = { steps: "row by row", one: "one statement a swap" } as const
export type PlainWay = (typeof plainWays)[number]
