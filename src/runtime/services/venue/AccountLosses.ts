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

export class AccountLosses {
  private readonly parts: AccountLossesParts
  /** The sequence up to which the account's events are applied or published, as the turn has it. */
  private readonly knownIn: (turn: Turn, clientId: number) => number
  /** By client: quarantined losses before which no event is missing, and after which none is applied. */
  private readonly open = new Map<number, ReadonlyArray<VenueQuarantineRow>>()

  constructor(parts: AccountLossesParts, knownIn: (turn: Turn, clientId: number) => number) {
    this.parts = parts
    this.knownIn = knownIn
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
        if (this.knownIn(turn, clientId) !== lost.after) return null
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
    return losing.pipe(
      Effect.flatMap((row) => {
        if (row === null) return Effect.succeed(false)
        this.keep(clientId, [...(this.open.get(clientId) ?? []), row])
        return Effect.as(this.parts.alarms.alarm(quarantined), true)
      }),
      // A lost claim means that the loss is already quarantined.
      Effect.catchTag("ClaimLost", () => Effect.succeed(true))
    )
  }

  /** Reads the losses that an earlier process may have quarantined after the sequence `known`. */
  recall(clientId: number, account: string, known: number): Effect.Effect<void, DispatchError> {
    const rows = this.parts.stored.page("venueQuarantine", [{ column: "account", value: account }], {
      limit: lossesRead
    })
    return Effect.map(rows, (found) => {
      const open = this.open.get(clientId) ?? []
      const isNew = ({ id }: VenueQuarantineRow): boolean => open.every((row) => row.id !== id)
      const next = found.filter((row) => row.droppedAt === null && missingIn(row)?.after === known)
      this.keep(clientId, [...open, ...next.filter(isNew)])
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
