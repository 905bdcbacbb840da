/** The service's records of its communication with the venue: calls in flight, event checkpoints, quarantine, probes. */
import type { JsonObject } from "../../machines/shared/Json.ts"
import type { KeptMarket } from "../../machines/venueChecks/VenueMisfit.ts"
import type { VenueCallName } from "../../machines/venue/venueCalls.ts"
import { type MachineRow, machineColumns, ofClient, onlyIn, table } from "./Table.ts"

/** A call in flight: the row exists from the commit that requests it until the commit of its result (A2-26). */
export interface VenueCallRow {
  readonly ref: string
  readonly partnerId: number
  readonly clientId: number
  readonly call: VenueCallName
  /** The request that the venue receives, including the ref. */
  readonly request: JsonObject
  /** Business time of the decision to call, Unix ms. */
  readonly at: number
}

/** The checkpoint of a client account's events (A2-96). */
export interface VenueAccountRow {
  readonly clientId: number
  readonly sequence: number
  /**
   * The latest venue time of the applied events, Unix ms; 0: unknown. Later events of the account have this time or a later one.
   */
  readonly takenTo: number
  /** The sequence of the last event that was applied after a gap; 0: none was. */
  readonly gapTo: number
}

/** A single row: every venue event up to this number is applied. */
export interface VenueCursorRow {
  readonly id: number
  readonly number: number
}

/** A quarantined message of the venue, as bytes: it could not be applied (A2-115). */
export interface VenueQuarantineRow {
  readonly id: number
  readonly at: number
  /** The event number; null if it can't be read. */
  readonly number: number | null
  readonly account: string | null
  readonly reason: string
  readonly bytes: string
  /** Set once staff have dropped the message. */
  readonly droppedAt: number | null
}

/** An object whose report by the venue contradicts the request. */
export interface VenueMisfitRow extends MachineRow<"venueMisfit"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly ref: string
  /** The amount of the break if the misfit stands, micro-USDC. Never zero. */
  readonly worth: bigint
  readonly at: number
  /** The break that pauses the client's money; null until the misfit stands. */
  readonly breakId: number | null
  readonly market: KeptMarket
  /** The contract that the object closes, if the object is a request to close; otherwise null. */
  readonly contractId: number | null
}

export interface VenueProbeRow extends MachineRow<"venueProbe"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly startedAt: number
}

export const venueTables = {
  venueCalls: table<VenueCallRow>()({
    title: "venue call",
    machine: null,
    key: ["ref"],
    mode: "insert",
    columns: { ref: "text", partnerId: "id", clientId: "id", call: "text", request: "json", at: "id" },
    residence: ofClient
  }),
  venueAccounts: table<VenueAccountRow>()({
    title: "venue account",
    machine: null,
    key: ["clientId"],
    mode: "upsert",
    columns: { clientId: "id", sequence: "id", takenTo: "id", gapTo: "id" },
    residence: ofClient
  }),
  venueCursor: table<VenueCursorRow>()({
    title: "venue cursor",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: { id: "id", number: "id" }
  }),
  venueQuarantine: table<VenueQuarantineRow>()({
    title: "quarantined event",
    machine: null,
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      at: "id",
      number: "id?",
      account: "text?",
      reason: "text",
      bytes: "text",
      droppedAt: "id?"
    },
    id: ["venueQuarantine", "usual"]
  }),
  venueMisfits: table<VenueMisfitRow>()({
    title: "venue misfit",
    machine: "venueMisfit",
    // Version 2 counts only the answers to the misfit's own reads. No such read is under way in a row of version 1.
    upcasters: [({ state, context }) => ({ state, context: { ...(context as object), isAwaited: false } })],
    open: null,
    mirrors: ({ ref }) => ({ ref }),
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id",
      ...machineColumns,
      ref: "text",
      worth: "money",
      at: "id",
      breakId: "id?",
      market: "json",
      contractId: "id?"
    },
    check: ({ worth }) => worth !== 0n,
    residence: { ...ofClient, only: onlyIn("READING", "STANDING") },
    id: ["venueMisfit", "usual"]
  }),
  venueProbes: table<VenueProbeRow>()({
    title: "venue probe",
    machine: "venueProbe",
    open: null,
    key: ["id"],
    mode: "upsert",
    columns: { id: "id", partnerId: "id", clientId: "id", ...machineColumns, startedAt: "id" },
    residence: ofClient,
    id: ["venueProbe", "usual"]
  })
}
