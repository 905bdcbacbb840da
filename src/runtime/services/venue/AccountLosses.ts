/**
 * Events of an account that the venue has published and does not give. A loss is quarantined once, in a commit of its client.
 * Lost events that arrive later are applied, and the commit of the last one drops the quarantined loss (A2-96, A2-115).
 */
import { Effect } from "effect"
import type { ActorHost, DispatchError, Turn } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { VenueQuarantineRow } from "../../tables/venue.ts"
import { clientSubject } from "../account/clientState.ts"
import { breakOfClient } from "../money/breaks/clientBreaks.ts"
import {
  byVenue,
  lossesRead,
  lossSentence,
  missingIn,
  type MissingOfAccount,
  putDropped,
  putQuarantined,
  type QuarantineAlarms
} from "./venueQuarantine.ts"

/** Limit on the clients with losses in memory. Staff drop the losses of further clients. */
const clientsMost = 10_000

export interface AccountLossesParts {
  readonly host: ActorHost["Service"]
  readonly stored: RowReads["Service"]
  readonly alarms: QuarantineAlarms
}

interface Sequences {
  /** The sequence up to which the account's events are applied or published, as the turn has it. */
  readonly known: (turn: Turn, clientId: number) => number
  /** The sequence of the last quote that was published after a gap and is not stored yet; 0: there is none. */
  readonly quotesGap: (clientId: number) => number
}

export class AccountLosses {
  private readonly parts: AccountLossesParts
  private readonly sequences: Sequences
  /** By client: quarantined losses of which some events are missing, and after whose first event none is applied after a gap. */
  private readonly open = new Map<number, ReadonlyArray<VenueQuarantineRow>>()

  constructor(parts: AccountLossesParts, sequences: Sequences) {
    this.parts = parts
    this.sequences = sequences
  }

  /**
   * Quarantines a loss of events, and opens a break if `isUnproven`: the venue has no money records of the account, so no
   * comparison can find the difference. The account is compared afterwards. False: an event after `lost.after` has been applied
   * in the meantime, so that nothing is lost yet.
   */
  lose(
    clientId: number,
    reason: string,
    lost: MissingOfAccount,
    isUnproven: boolean
  ): Effect.Effect<boolean, DispatchError> {
    const { account } = lost
    const quarantined = { bytes: JSON.stringify(lost), reason, number: null, account }
    const losing = this.parts.host.dispatch({
      subject: clientSubject(clientId),
      by: byVenue,
      lane: "internal",
      decide: (turn) => {
        if (this.sequences.known(turn, clientId) !== lost.after) return "early"
        // A part of an earlier loss has arrived, and this is the rest of it.
        if (this.open.get(clientId)?.some((row) => (missingIn(row)?.to ?? 0) >= lost.to) === true) return "known"
        const partnerId = turn.state.one("clients")?.partnerId ?? null
        turn.draft.claim(`venueAccount:${quarantined.bytes}`, clientId)
        const row = putQuarantined(turn, quarantined, { partnerId, clientId })
        if (isUnproven && partnerId !== null) {
          const reasonOfBreak = `${lossSentence(lost)} It keeps no money of the account: the amount is not known, and this one stands for it.`
          breakOfClient(turn, { partnerId, clientId }, 0n, reasonOfBreak)
        }
        return row
      }
    })
    return Effect.andThen(this.recall(clientId, account), losing).pipe(
      Effect.flatMap((row) => {
        if (row === "early" || row === "known") return Effect.succeed(row === "known")
        this.keep(clientId, [...(this.open.get(clientId) ?? []), row])
        return Effect.as(this.parts.alarms.alarm(quarantined), true)
      }),
      // A lost claim means that the loss is already quarantined.
      Effect.catchTag("ClaimLost", () => Effect.succeed(true))
    )
  }

  /** Reads the losses that an earlier process may have quarantined, and whose missing events can still be applied in order. */
  recall(clientId: number, account: string): Effect.Effect<void, DispatchError> {
    const { host, stored } = this.parts
    const none = { sequence: 0, gapTo: 0 }
    return Effect.gen({ self: this }, function* () {
      const rows = yield* stored.page("venueQuarantine", [{ column: "account", value: account }], { limit: lossesRead })
      const { sequence, gapTo } = yield* host.read(
        clientSubject(clientId),
        (state) => state.one("venueAccounts") ?? none
      )
      const open = this.open.get(clientId) ?? []
      const isNew = ({ id }: VenueQuarantineRow): boolean => open.every((row) => row.id !== id)
      const isOpen = (row: VenueQuarantineRow): boolean => {
        const missing = row.droppedAt === null ? missingIn(row) : null
        return (
          missing !== null &&
          missing.after >= Math.max(gapTo, this.sequences.quotesGap(clientId)) &&
          missing.to > sequence
        )
      }
      this.keep(clientId, [...open, ...rows.filter(isOpen).filter(isNew)])
    })
  }

  private keep(clientId: number, rows: ReadonlyArray<VenueQuarantineRow>): void {
    this.open.delete(clientId)
    if (rows.length > 0 && this.open.size < clientsMost) this.open.set(clientId, rows)
  }

  /** An event after missing ones is applied: the missing ones can't be applied any more. */
  skip(clientId: number): void {
    this.open.delete(clientId)
  }

  /** Drops the losses all of whose events are applied with the event `sequence`. `stored`: the sequence before it. */
  arrive(turn: Turn, clientId: number, stored: number, sequence: number): void {
    const rows = this.open.get(clientId)
    if (rows === undefined) return
    const partnerId = turn.state.one("clients")?.partnerId ?? null
    // A commit before this one has dropped the losses up to `stored`.
    const rest = rows.filter((row) => (missingIn(row)?.to ?? 0) > stored)
    this.keep(clientId, rest)
    for (const row of rest) {
      if ((missingIn(row)?.to ?? 0) > sequence) continue
      putDropped(turn, row, arrived, { partnerId, clientId })
    }
  }
}

const arrived = "the lost events have arrived"
