/**
 * The bulk settlement report. Its entries concern many clients, so it can't be one commit: the entries of one client
 * are decided in order in one turn of its mailbox, and the clients are independent of each other.
 *
 * Under an Idempotency-Key each of those commits also stores its results, as the client's part of the reply. A request
 * that is repeated after a crash, or after the service was busy for some clients, reuses the stored parts and decides
 * only the rest. So its reply states the result of the request, whichever attempt produced it. Without a key a
 * repetition is another request: it finds its items changed already.
 *
 * Limits: 500 entries, so 500 clients; as many rows are read, in one query. A part is deleted after 24 hours
 * (workers/AnswerSweep.ts); from then on its key is free. Doc 3, Settlement reporting rules; A3-21, A1-51, A1-52,
 * A1-53.
 */
import { Context, Effect, Exit, Layer } from "effect"
import {
  acceptedRow,
  type BulkAnswer,
  bulkAnswer,
  type BulkEntry,
  type BulkRow,
  decodeBulkReport,
  type PlacedRow,
  rowOfRefusal
} from "../../../../machines/settlement/BulkReportBody.ts"
import { decodeSettlementReport } from "../../../../machines/settlement/SettlementReportBody.ts"
import { idempotency } from "../../../../machines/shared/Limits.ts"
import { accept, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import { ActorHost, type DispatchError, type Turn, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import type { BulkPartRow, SettlementItemRow } from "../../../tables/settlement.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { clientSubject } from "../../account/clientState.ts"
import { Directory, type PartnerView } from "../../partners/Directory.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { isSame, type KeyedRequest } from "../../shared/KeyedRequest.ts"
import { applyReport, changesOfItem, isLostToReports, noItem } from "./settlementDecisions.ts"

/** Clients decided in parallel: a busy mailbox delays its own client only. */
const clientsAtOnce = 64

export class BulkReports extends Context.Service<
  BulkReports,
  {
    /**
     * Applies the entries. Fails when a client could not be decided now: results for the other clients stay, and the
     * same request under the same key continues from there.
     */
    report(caller: Caller, body: unknown, key: KeyedRequest | null): Effect.Effect<Verdict<BulkAnswer>, DispatchError>
  }
>()("brokerage/runtime/services/money/settlement/BulkReports") {
  static readonly layer = Layer.effect(
    BulkReports,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const directory = yield* Directory
      const stored = yield* RowReads

      /** Reads the partner's items that these entries name. */
      const itemsOf = (partnerId: number, entries: ReadonlyArray<BulkEntry>) => {
        const ids = [...new Set(entries.map(({ itemId }) => itemId))].filter((id) => id > 0)
        if (ids.length === 0) return Effect.succeed(new Map<number, SettlementItemRow>())
        return Effect.map(
          stored.among("settlementItems", ids),
          (rows) => new Map(rows.filter((row) => row.partnerId === partnerId).map((row) => [row.id, row]))
        )
      }

      /** Results of earlier attempts of the request, by client; parts too old for a replay do not count. */
      const partsOf = (partnerId: number, { key }: KeyedRequest) =>
        Effect.map(
          stored.page(
            "bulkReportParts",
            [
              { column: "partner_id", value: partnerId },
              { column: "key", value: key }
            ],
            { limit: partsMax }
          ),
          (rows) => rows.filter((row) => clock.now() - row.decidedAt < idempotency.replayMillis)
        )

      /** One turn of one client's mailbox; items that concurrent reports changed are read again. */
      const decideClient = (
        caller: Caller,
        clientId: number,
        entries: ReadonlyArray<BulkEntry>,
        found: ReadonlyMap<number, SettlementItemRow>,
        key: KeyedRequest | null
      ): Effect.Effect<ReadonlyArray<PlacedRow>, DispatchError> => {
        const partnerId = caller.partner.row.id
        const attempt = (items: ReadonlyMap<number, SettlementItemRow>, tries: number) =>
          Effect.catchIf(
            host.dispatch({
              subject: clientSubject(clientId),
              by: caller.by,
              partner: () => directory.stamp(partnerId),
              decide: (turn) => {
                const rows = decideEntries(turn, entries, items, partnerNow(directory, caller))
                if (key !== null)
                  putPart(turn, { partnerId, key: key.key, clientId, fingerprint: key.fingerprint }, rows)
                return rows
              }
            }),
            isLostToReports,
            () => (tries === 0 ? Effect.fail(new Unavailable({ unknown: false })) : again(tries - 1))
          )
        const again = (tries: number): Effect.Effect<ReadonlyArray<PlacedRow>, DispatchError> =>
          Effect.gen(function* () {
            // The report that changed the items may be an earlier attempt of this request whose result was unknown.
            const items = yield* itemsOf(partnerId, entries)
            const parts = key === null ? [] : yield* partsOf(partnerId, key)
            const done = parts.find((part) => part.clientId === clientId)
            return done === undefined ? yield* attempt(items, tries) : restOf(entries, rowsOfPart(done))
          })
        return attempt(found, changesOfItem * entries.length)
      }

      return BulkReports.of({
        report: (caller, body, key) =>
          Effect.gen(function* () {
            const decoded = decodeBulkReport(body)
            if (!decoded.ok) return refuse(decoded.refusal)
            const { count, entries, refused } = decoded.body
            const partnerId = caller.partner.row.id
            // Items are read before parts, because an earlier attempt whose result is unknown may commit in between.
            // This read then finds either the attempt's part, or the items as they were before the attempt. In the
            // second case, the commit below loses to the attempt's claims.
            const items = yield* itemsOf(partnerId, entries)
            const parts = key === null ? [] : yield* partsOf(partnerId, key)
            if (key !== null && !parts.every((part) => isSame(part.fingerprint, key)))
              return refuse({ _tag: "KeyReused" })
            const byClient = Map.groupBy(entries, ({ itemId }) => items.get(itemId)?.clientId ?? 0)
            const missing = (byClient.get(0) ?? []).map(unknownRow)
            byClient.delete(0)
            const done = new Map(parts.map((part) => [part.clientId, part]))
            // Each client runs to its end, even if others fail: an interruption would waste decided work.
            const ended = yield* Effect.forEach(
              byClient,
              ([clientId, own]) => {
                const part = done.get(clientId)
                if (part !== undefined) return Effect.succeed(Exit.succeed(restOf(own, rowsOfPart(part))))
                return Effect.exit(decideClient(caller, clientId, own, items, key))
              },
              { concurrency: clientsAtOnce }
            )
            const rows: Array<PlacedRow> = [...refused, ...missing]
            for (const exit of ended) {
              if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause)
              rows.push(...exit.value)
            }
            return accept(bulkAnswer(count, rows))
          }).pipe(Effect.uninterruptible)
      })
    })
  )
}

/** The most stored parts of a request, which has at most as many clients as entries. */
const partsMax = 500

const unknownRow = ({ place, itemId }: BulkEntry): PlacedRow => [place, rowOfRefusal(itemId, noItem)]

/**
 * The results of a client's entries from a decided part. An entry without a result names an item that was created
 * later: it counts as unknown.
 */
const restOf = (entries: ReadonlyArray<BulkEntry>, rows: ReadonlyMap<number, BulkRow>): ReadonlyArray<PlacedRow> =>
  entries.map((entry) => {
    const row = rows.get(entry.place)
    return row === undefined ? unknownRow(entry) : [entry.place, row]
  })

const rowsOfPart = ({ results }: BulkPartRow): ReadonlyMap<number, BulkRow> => new Map(results)

const putPart = (turn: Turn, part: Omit<BulkPartRow, "results" | "decidedAt">, rows: ReadonlyArray<PlacedRow>): void =>
  turn.draft.put("bulkReportParts", { ...part, results: rows, decidedAt: turn.now })

/** Decides one client's entries in order. Each entry sees its item as the previous entry left it. */
const decideEntries = (
  turn: Turn,
  entries: ReadonlyArray<BulkEntry>,
  items: ReadonlyMap<number, SettlementItemRow>,
  partner: PartnerView
): ReadonlyArray<PlacedRow> => {
  const present = new Map(items)
  return entries.map(({ place, itemId, report }) => {
    const row = present.get(itemId)
    if (row === undefined) return [place, rowOfRefusal(itemId, noItem)]
    const decoded = decodeSettlementReport(report, { now: turn.now })
    if (!decoded.ok) return [place, rowOfRefusal(itemId, invalidBody(decoded))]
    const applied = applyReport(turn, row, decoded.body, partner)
    if (!applied.ok) return [place, rowOfRefusal(itemId, applied.refusal)]
    present.set(itemId, applied.value.row)
    return [place, acceptedRow(itemId, applied.value.changed, decoded.body.status)]
  })
}
