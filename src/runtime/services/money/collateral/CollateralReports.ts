/**
 * Collateral reports of PARTNER custody. One call books or refuses a report; its gates run in the published order.
 * Custody model and fields are checked before the client's turn. The turn checks the custody model again, replays a
 * reference that the client already used, then runs standing and economic gates (collateralGates.ts). A report that
 * an economic gate refuses is a row too, and is committed although the verdict is a refusal.
 *
 * This is the hot path: a new reference costs no lookup (`fileOnce` with `lookup: "late"`).
 *
 * D11; doc 3, Collateral report rules.
 */
import { Context, Effect, Layer } from "effect"
import {
  type CollateralAnswer,
  type CollateralBalances,
  type CollateralReport,
  type CollateralStatus,
  reportOf
} from "../../../../machines/collateral/CollateralReport.ts"
import { type CollateralBody, decodeCollateral } from "../../../../machines/collateral/CollateralBody.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { accept, conflict, refuse, type Refusal, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import { ActorHost, type DispatchError, type StoreAnswer, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { balanceOf } from "../../../ledger/Ledger.ts"
import { Settings } from "../../../Settings.ts"
import type { CollateralReportRow } from "../../../tables/collateral.ts"
import { accountInTurn } from "../../account/accountNow.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { clientSubject, instanceOf, ownClient } from "../../account/clientState.ts"
import { type CollateralFacts, collateralReason, economicGates, rowlessGates } from "./collateralGates.ts"
import { Directory, type PartnerView } from "../../partners/Directory.ts"
import { firstRefusal } from "../../../../machines/shared/Gates.ts"
import type { PageEnd, PageQuery } from "../../../store/paging.ts"
import { fileOnce, rowFiled } from "../../shared/fileOnce.ts"
import { ofPartner, rowPage } from "../../account/listReads.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { shardOf } from "../../../store/shard.ts"
import { start } from "../../../effects/advance.ts"
import { balancesOf, keptBalances, withBalances } from "./collateralBalances.ts"
import { referenceClaim } from "../../../tables/Catalogue.ts"

/** 201: the report is booked now. 200: replay of a reference that the client already used. */
export type CollateralVerdict = Verdict<{ readonly status: 200 | 201; readonly data: CollateralAnswer }>

export interface CollateralPage extends PageEnd {
  readonly reports: ReadonlyArray<CollateralReport>
}

export class CollateralReports extends Context.Service<
  CollateralReports,
  {
    report(
      caller: Caller,
      clientId: number,
      body: unknown,
      store: StoreAnswer<CollateralVerdict>
    ): Effect.Effect<CollateralVerdict, DispatchError>
    list(
      partnerId: number,
      query: PageQuery & { readonly clientId?: number; readonly status?: CollateralStatus }
    ): Effect.Effect<CollateralPage | null, Unavailable>
  }
>()("brokerage/runtime/services/money/collateral/CollateralReports") {
  static readonly layer = Layer.effect(
    CollateralReports,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const directory = yield* Directory
      const settings = yield* Settings
      const stored = yield* RowReads

      const filedAs = rowFiled(stored, "collateralReports")

      return CollateralReports.of({
        report: (caller, clientId, body, store) => {
          const early = refuseEarly(caller, body, clock.now())
          if (!early.ok) return Effect.succeed(early)
          const request = early.value
          const partnerId = caller.partner.row.id
          return fileOnce(
            { host, stored },
            {
              subject: clientSubject(clientId),
              by: caller.by,
              partner: () => directory.stamp(partnerId),
              claim: collateralClaim(partnerId, request.partnerRef),
              read: (reportId) => Effect.flatMap(filedAs(reportId), (row) => withBalances(stored, row)),
              lookup: "late",
              decide: (turn, filed) => {
                const client = ownClient(turn.state, partnerId)
                if (client === null) return refuse(unknown("Client"))
                const balance = balanceOf(turn, client.id, client.partnerId, "USDC")
                const threshold = settings.sourceOfWealthThreshold
                return decide({ turn, client, balance, caller, directory, request, filed, threshold })
              },
              store
            }
          )
        },
        list: (partnerId, { clientId, ...query }) =>
          Effect.gen(function* () {
            const conditions = yield* ofPartner(host, partnerId, clientId)
            if (conditions === null) return null
            const { shown, end } = yield* rowPage(stored, "collateralReports", conditions, query, (row) => row.id)
            return { reports: shown.map(wireReport), ...end }
          })
      })
    })
  )
}

export const collateralClaim = (partnerId: number, partnerRef: string): string =>
  referenceClaim("collateralReports", partnerId, partnerRef)

export const wireReport = (row: CollateralReportRow): CollateralReport => reportOf(row.context, row.state)

export const notUnderPartner = conflict(
  "BROKER_CUSTODY",
  "This partner is under BROKER custody: use deposit notices and withdrawal requests."
)

/** The gates that need no client: custody model, then the fields. */
const refuseEarly = (caller: Caller, body: unknown, now: number): Verdict<CollateralBody> =>
  caller.partner.row.custodyModel === "PARTNER" ? checkCollateral(body, now) : refuse(notUnderPartner)

/** Checks the fields of a report. Returns the request, or a refusal with the errors of all failing fields. */
export const checkCollateral = (body: unknown, now: number): Verdict<CollateralBody> => {
  const decoded = decodeCollateral(body, { now })
  return decoded.ok ? accept(decoded.body) : refuse(invalidBody(decoded))
}

interface Decision extends CollateralFacts {
  readonly caller: Caller
  readonly directory: Directory["Service"]
}

const decide = (input: Decision): CollateralVerdict => {
  const { caller, client, filed } = input
  const partner = partnerNow(input.directory, caller)
  if (partner.row.custodyModel !== "PARTNER") return refuse(notUnderPartner)
  if (filed?.clientId === client.id) return answerOf(filed, 200)
  const refusal = firstRefusal(rowlessGates, input)
  return refusal === null ? book(input, partner) : refuse(refusal)
}

/** The client's USDC figures after the booking. The free margin changes by the same amount as the cash (F4, F7). */
const balancesAfter = ({ turn, client, balance, request: { direction, amount } }: Decision): CollateralBalances => {
  const moved = direction === "DEPOSIT" ? amount : -amount
  const { freeMargin } = accountInTurn(turn, client).risk
  return balancesOf({ cash: balance.cash + moved, reserved: balance.reserved, freeMargin: freeMargin + moved })
}

/** Books the report, or stores it as REFUSED by the first economic gate that refuses. */
const book = (input: Decision, partner: PartnerView): CollateralVerdict => {
  const { turn, client, request } = input
  const reportId = turn.nextId("collateral")
  const refused = firstRefusal(economicGates, input)
  const refusal = refused === null ? null : sentenceOf(refused)
  const txId = refusal === null ? turn.nextId("transaction") : null
  turn.draft.claim(collateralClaim(client.partnerId, request.partnerRef), reportId)
  const instance = instanceOf(client, partner)
  const balances = refusal === null ? balancesAfter(input) : null
  const row = start(turn, "collateralReports", {
    of: txId === null ? instance : { ...instance, txId },
    input: {
      reportId,
      partnerId: client.partnerId,
      clientId: client.id,
      clientUid: client.uid,
      partnerRef: request.partnerRef,
      direction: request.direction,
      currency: "USDC",
      amount: formatAmount(request.amount, "USDC"),
      sourceAsset: request.sourceAsset ?? partner.row.collateralAsset,
      txRef: request.txRef,
      occurredAt: request.occurredAt
    },
    event: { type: "REPORT", at: turn.now, refusal, ledgerTxId: txId, balances },
    columns: {
      id: reportId,
      partnerId: client.partnerId,
      clientId: client.id,
      shard: shardOf(client.id),
      createdAt: turn.now
    }
  })
  return answerOf(row, 201)
}

const sentenceOf = (refusal: Refusal): string => {
  if (refusal._tag !== "Conflict") throw new Error("an economic gate refuses with a conflict")
  return refusal.sentence
}

/** The refusal that a stored REFUSED report repeats for its reference. */
export const refusalOf = (report: CollateralReport): Refusal => {
  const { reportId } = report
  const refusal = report.refusal ?? ""
  return conflict(collateralReason(refusal), refusal, { reportId, status: "REFUSED", refusal, report })
}

/**
 * The reply for a stored report. A reference keeps its report for ever: BOOKED with the balances after its own booking,
 * REFUSED with its refusal.
 */
const answerOf = (row: CollateralReportRow, status: 200 | 201): CollateralVerdict => {
  const report = wireReport(row)
  if (report.status === "REFUSED") return refuse(refusalOf(report))
  const balances = keptBalances(row)
  if (balances === null) throw new Error(`report ${report.reportId} was booked without its balances`)
  const { reportId, ledgerTxId } = report
  return accept({ status, data: { reportId, status: report.status, ledgerTxId, balances, report } })
}
