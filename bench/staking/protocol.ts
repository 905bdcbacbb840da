/** The messages between the staking part, its load generator and its reference services. */
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

/** Takes of one offer, client by client in turn, until the window is over or `count` takes are done. */
export interface TakeSlice extends Window {
  readonly kind: "take"
  readonly count: number | null
  readonly offerId: number
  readonly qty: string
}

export type StakingSlice = ReadSlice | TakeSlice

/** An offer of USDC with its terms, which the reference knows in advance. */
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
