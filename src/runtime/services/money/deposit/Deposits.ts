/**
 * Deposit notices of BROKER custody: filed by the partner, decided by the operator's finance, each in the client's
 * mailbox, which holds its PENDING notices only (D9; A3-01..A3-06).
 */
import { Context, Effect, Layer } from "effect"
import type { DepositNotice, DepositStatus } from "../../../../machines/deposit/DepositNotice.ts"
import { decodeDeposit, type DepositBody } from "../../../../machines/deposit/DepositBody.ts"
import { accept, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import { cleanText } from "../../../../machines/shared/Text.ts"
import {
  ActorHost,
  type DispatchError,
  type StoreAnswer,
  type Turn,
  type Unavailable
} from "../../../engine/mailbox/ActorHost.ts"
import { Settings } from "../../../Settings.ts"
import type { DepositNoticeRow } from "../../../tables/deposit.ts"
import type { Caller } from "../../partners/Caller.ts"
import { clientSubject } from "../../account/clientState.ts"
import {
  ruleOnDeposit,
  depositClaim,
  type DepositRuling,
  fileDeposit,
  repeatedRuling,
  wireNotice
} from "./depositDecisions.ts"
import { Directory } from "../../partners/Directory.ts"
import { brokerClient, financeLabel, notUnderBroker, rereading } from "../brokerCustody.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import type { Condition, PageEnd, PageQuery } from "../../../store/paging.ts"
import { fileOnce, rowFiled } from "../../shared/fileOnce.ts"
import { ofPartner, ofPartners, rowPage } from "../../account/listReads.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { RowReads } from "../../../ports/RowReads.ts"

/** 201: the notice is filed now. 200: the client's original notice under a repeated reference. */
export type DepositVerdict = Verdict<{ readonly status: 200 | 201; readonly notice: DepositNotice }>

export interface DepositPage extends PageEnd {
  readonly deposits: ReadonlyArray<DepositNotice>
}

interface DepositQuery extends PageQuery {
  readonly status?: DepositStatus
}

type Ruled = Effect.Effect<Verdict<DepositNotice>, DispatchError>

export class Deposits extends Context.Service<
  Deposits,
  {
    file(
      caller: Caller,
      clientId: number,
      body: unknown,
      store: StoreAnswer<DepositVerdict>
    ): Effect.Effect<DepositVerdict, DispatchError>
    /** Notices of the partner, newest first; null when `clientId` is another partner's client. */
    list(
      partnerId: number,
      query: DepositQuery & { readonly clientId?: number }
    ): Effect.Effect<DepositPage | null, Unavailable>
    /** Notices of all partners or of one, by id or code, newest first. */
    listAll(query: DepositQuery & { readonly partner?: string }): Effect.Effect<Verdict<DepositPage>, Unavailable>
    /** One notice of any partner, by id. */
    show(noticeId: number): Effect.Effect<Verdict<DepositNotice>, Unavailable>
    /** Credits the client; a confirmed notice is returned unchanged. */
    confirm(caller: OperatorCaller, noticeId: number, note: string | null): Ruled
    /** Closes the notice without a posting; a rejected notice is returned unchanged. */
    reject(caller: OperatorCaller, noticeId: number, reason: string): Ruled
  }
>()("brokerage/runtime/services/money/deposit/Deposits") {
  static readonly layer = Layer.effect(
    Deposits,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const settings = yield* Settings
      const stored = yield* RowReads

      const filedAs = rowFiled(stored, "depositNotices")

      const byId = (noticeId: number): Effect.Effect<DepositNoticeRow | null, Unavailable> =>
        firstRow(stored, "depositNotices", [{ column: "id", value: noticeId }])

      const page = (conditions: ReadonlyArray<Condition>, query: DepositQuery) =>
        Effect.map(
          rowPage(stored, "depositNotices", conditions, query, (row) => row.id),
          ({ shown, end }): DepositPage => ({ deposits: shown.map(wireNotice), ...end })
        )

      /**
       * Rules on a notice. Its row is read again when the mailbox no longer holds it, because a concurrent ruling has ended the
       * notice.
       */
      const rule = (caller: OperatorCaller, noticeId: number, ruling: DepositRuling): Ruled =>
        rereading(
          Effect.gen(function* () {
            const row = yield* byId(noticeId)
            if (row === null) return refuse(unknown("Deposit notice"))
            if (row.state !== "PENDING") return repeatedRuling(row, ruling.to)
            return yield* host.dispatch({
              subject: clientSubject(row.clientId),
              by: caller.by,
              partner: () => directory.stamp(row.partnerId),
              decide: (turn) => ruleOnPending(turn, directory, noticeId, ruling)
            })
          })
        )

      return Deposits.of({
        file: (caller, clientId, body, store) => {
          const early = refuseEarly(caller, body)
          if (!early.ok) return Effect.succeed(early)
          const request = early.value
          const threshold = settings.sourceOfWealthThreshold
          const partnerId = caller.partner.row.id
          return fileOnce(
            { host, stored },
            {
              subject: clientSubject(clientId),
              by: caller.by,
              partner: () => directory.stamp(partnerId),
              claim: depositClaim(partnerId, request.partnerRef),
              read: filedAs,
              lookup: "first",
              decide: (turn, filed) => decideFiling(turn, caller, directory, request, filed, threshold),
              store
            }
          )
        },
        list: (partnerId, { clientId, ...query }) =>
          Effect.flatMap(ofPartner(host, partnerId, clientId), (conditions) =>
            conditions === null ? Effect.succeed(null) : page(conditions, query)
          ),
        listAll: ({ partner, ...query }) => {
          const conditions = ofPartners(directory, partner)
          return conditions.ok ? Effect.map(page(conditions.value, query), accept) : Effect.succeed(conditions)
        },
        show: (noticeId) =>
          Effect.map(byId(noticeId), (row) =>
            row === null ? refuse(unknown("Deposit notice")) : accept(wireNotice(row))
          ),
        confirm: (caller, noticeId, note) =>
          rule(caller, noticeId, {
            to: "CONFIRMED",
            by: financeLabel(caller),
            note: note === null ? null : cleanText(note) || null
          }),
        reject: (caller, noticeId, reason) =>
          rule(caller, noticeId, { to: "REJECTED", by: financeLabel(caller), reason: cleanText(reason) })
      })
    })
  )
}

/** The gates that need no client: custody model, then the fields. */
const refuseEarly = (caller: Caller, body: unknown): Verdict<DepositBody> =>
  caller.partner.row.custodyModel === "BROKER" ? checkDeposit(body) : refuse(notUnderBroker)

/** Checks the fields of a notice. Returns the request, or a refusal with the errors of all failing fields. */
export const checkDeposit = (body: unknown): Verdict<DepositBody> => {
  const decoded = decodeDeposit(body)
  return decoded.ok ? accept(decoded.body) : refuse(invalidBody(decoded))
}

/** The gates that need the client, in the published order (A3-02). */
const decideFiling = (
  turn: Turn,
  caller: Caller,
  directory: Directory["Service"],
  request: DepositBody,
  filed: DepositNoticeRow | null,
  threshold: bigint
): DepositVerdict => {
  const found = brokerClient(turn, directory, caller)
  if (!found.ok) return found
  const { client, partner } = found.value
  // A row in the mailbox is newer than the result of the lookup, so it takes precedence.
  const held = turn.state.all("depositNotices").find((row) => wireNotice(row).partnerRef === request.partnerRef)
  const own = held ?? (filed?.clientId === client.id ? filed : undefined)
  if (own !== undefined) return accept({ status: 200, notice: wireNotice(own) })
  const verdict = fileDeposit({ turn, client, partner, request, threshold, filed })
  return verdict.ok ? accept({ status: 201, notice: verdict.value }) : verdict
}

/** Rules on a PENDING notice. Null: the mailbox no longer holds it, because it is decided. */
const ruleOnPending = (
  turn: Turn,
  directory: Directory["Service"],
  noticeId: number,
  ruling: DepositRuling
): Verdict<DepositNotice> | null => {
  const row = turn.state.get("depositNotices", String(noticeId))
  if (row === undefined) return null
  const client = turn.state.one("clients")
  const partner = directory.partner(row.partnerId)
  if (client === undefined || partner === null) throw new Error("a deposit notice without its client")
  return ruleOnDeposit(turn, row, client, partner, ruling)
}
