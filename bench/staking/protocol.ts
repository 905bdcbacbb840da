/** What the benchmark of account reads asks of its load generator and of its reference service. */
import type { Slice } from "../load/protocol.ts"
import type { ServerKeys } from "../reference/partnerServer.ts"

export const readKinds = ["balances", "overview"] as const
export type ReadKind = (typeof readKinds)[number]

export interface ReadSlice extends Pick<Slice, "port" | "ca" | "partnerKey" | "connections" | "millis"> {
  readonly kind: ReadKind
  readonly clientIds: ReadonlyArray<number>
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
