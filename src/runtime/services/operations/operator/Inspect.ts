/**
 * Operator views of clients with all their holds, and of single live objects of any machine with their timers and
 * history. No view contains a KYC payload.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Json } from "../../../../machines/shared/Json.ts"
import type { ClientWire } from "../../../../machines/client/ClientWire.ts"
import type { Restriction } from "../../../../machines/client/Restriction.ts"
import type { AccountRisk, RiskState } from "../../../../machines/margin/accountRisk.ts"
import type { Facts } from "../../../../machines/market/Facts.ts"
import { type Kind, kinds } from "../../../../machines/registry.ts"
import { type Currency, isCurrency } from "../../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { accept, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { BlockView } from "../../../../machines/verification/Blocks.ts"
import { ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import { withinTime } from "../../../engine/withinTime.ts"
import { Settings } from "../../../Settings.ts"
import { type ClientFilter, listedClients } from "../../../store/reads/clientReads.ts"
import { type StateCount, stateCounts, timersOf } from "../../../store/reads/machineReads.ts"
import type { BalanceRow } from "../../../tables/ledger.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { accountIn } from "../../account/accountNow.ts"
import { type AuditEntry, AuditTrail } from "./AuditTrail.ts"
import { findClient } from "../../account/findClient.ts"
import { RiskStates } from "../../account/RiskStates.ts"
import {
  clientContext,
  clientSubject,
  clientWire,
  clientWireOf,
  shownRiskState,
  verificationView
} from "../../account/clientState.ts"
import { Directory } from "../../partners/Directory.ts"
import { findInstance, type FoundInstance, type PendingTimer } from "./machineInstances.ts"
import { kindNamed } from "./machineNames.ts"
import { type OwnStep, ownSteps } from "./ownSteps.ts"
import { cutPage, type PageEnd, type PageQuery } from "../../../store/paging.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { VenueCalls } from "../../venue/VenueCalls.ts"
import { ownerOfRef } from "../../../../machines/venue/venueRefs.ts"
import type { Found } from "../../venue/InDoubtCalls.ts"

export interface ClientRowView extends ClientWire {
  readonly partnerId: number
}

/** Amounts in USDC. */
interface MarginView {
  readonly initialMargin: string
  readonly maintenanceMargin: string
  readonly freeMargin: string
  readonly marginLevel: string | null
  readonly riskState: RiskState
  readonly marksFresh: boolean
}

export interface ClientView extends ClientRowView {
  readonly restrictions: ReadonlyArray<Restriction>
  readonly openCases: ReadonlyArray<number>
  /** The margin at the present marks, so that a dry run shows a command's effect on it; null: no venue is attached. */
  readonly margin: MarginView | null
  readonly balances: ReadonlyArray<{
    readonly currency: string
    readonly cash: string
    readonly reserved: string
    readonly total: string
  }>
  readonly blocks: ReadonlyArray<BlockView>
  readonly kycPackage: {
    readonly kycPackageId: number
    readonly revision: number
    readonly status: string
    readonly reviewedBy: string | null
    readonly reviewedAt: number | null
    readonly reviewNote: string | null
  } | null
}

export interface ClientRowPage extends PageEnd {
  readonly clients: ReadonlyArray<ClientRowView>
}

export interface MachineInstance {
  readonly kind: Kind
  readonly id: string
  readonly subject: string
  readonly state: string
  readonly version: string
  readonly context: Json
  readonly timers: ReadonlyArray<PendingTimer>
  /** In-doubt calls to the venue. */
  readonly calls: ReadonlyArray<OpenCall>
  /** Newest last. */
  readonly history: ReadonlyArray<AuditEntry>
  /** Steps without an audit row in the period of this page, oldest first. */
  readonly own: ReadonlyArray<OwnStep>
  /** True if no newer page follows. */
  readonly isNewest: boolean
  /** True if there is older history; `nextBefore` is its cursor. */
  readonly hasMore: boolean
  readonly nextBefore: number | null
}

/** Number of a machine's objects per state. */
export interface MachineCount {
  readonly name: Kind
  readonly states: Readonly<Record<string, number>>
}

export class Inspect extends Context.Service<
  Inspect,
  {
    clients(query: ClientFilter & { readonly partner?: string }): Effect.Effect<Verdict<ClientRowPage>, Unavailable>
    /** A client, by any name that `findClient` accepts. */
    client(idOrUid: string): Effect.Effect<Verdict<ClientView>, Unavailable>
    /** One object with a page of its history. */
    machine(kind: string, id: string, page: PageQuery): Effect.Effect<Verdict<MachineInstance>, Unavailable>
    /** Live objects by machine and state. */
    readonly counts: Effect.Effect<ReadonlyArray<MachineCount>, Unavailable>
  }
>()("brokerage/runtime/services/operations/operator/Inspect") {
  static readonly layer = Layer.effect(
    Inspect,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const states = yield* RiskStates
      const audit = yield* AuditTrail
      const settings = yield* Settings
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const venue = yield* VenueCalls

      return Inspect.of({
        clients: ({ partner, ...filter }) =>
          Effect.gen(function* () {
            const view = partner === undefined ? null : directory.findPartner(partner)
            if (partner !== undefined && view === null) return refuse(unknown("Partner"))
            const page = listedClients(sql, sealing, view?.row.id ?? null, { ...filter, limit: filter.limit + 1 })
            // A search for a part of a name scans rows, so it fails at the time limit of a read.
            const found = yield* withinTime(Effect.catch(page, whenAway), () => new Unavailable({ unknown: false }))
            const { shown, end } = cutPage(found, filter.limit, ({ row }) => row.id)
            const facts = host.facts()
            const clients = shown.map(({ row, usdc }) => ({
              ...clientWireOf(row, { cash: usdc, riskState: shownRiskState(states.of(row.id), facts) }),
              partnerId: row.partnerId
            }))
            return accept({ clients, ...end })
          }),
        client: (idOrUid) =>
          Effect.flatMap(findClient(host, sql, idOrUid), (found) =>
            found.ok
              ? host.read(clientSubject(found.value.id), (state, facts) => {
                  const row = state.one("clients") ?? found.value
                  return accept(clientView(state, row, facts, settings.sourceOfWealthThreshold))
                })
              : Effect.succeed(found)
          ),
        counts: stateCounts(sql).pipe(Effect.map(machineCounts), Effect.catch(whenAway)),
        machine: (name, id, page) =>
          Effect.gen(function* () {
            // Operators type names in any case, as in `closeout list`.
            const named = kindNamed(name)
            if (!named.ok) return named
            const kind = named.value
            const found = yield* findInstance({ host, directory, sql, sealing }, kind, id)
            if (found === null) return refuse(unknown("Object"))
            const timers = yield* Effect.catch(timersOf(sql, found.subject), whenAway)
            const calls = yield* host.read(found.subject, (state) =>
              openCalls(state, { kind, id: Number((found.row as { readonly id?: number }).id ?? 0) }, venue)
            )
            const entries = yield* audit.history({ sources: found.history, ...page, limit: page.limit + 1 })
            const hasMore = entries.length > page.limit
            const history = hasMore ? entries.slice(1) : entries
            const until = yield* endOf(audit, found.history, page.before)
            const from = hasMore ? (history[0]?.ts ?? 0) : 0
            const window = { from, until, limit: page.limit }
            const own = yield* Effect.catch(ownSteps(sql, kind, found.row, window), whenAway)
            return accept({
              kind,
              id,
              subject: found.subject,
              state: found.row.state,
              version: found.row.version,
              // The context was stored as valid JSON, which its type does not show.
              context: found.row.context as Json,
              calls,
              timers: [...timers.filter(({ name }) => found.ownsTimer(name)), ...(found.due ?? [])],
              history,
              own,
              isNewest: page.before === undefined,
              hasMore,
              nextBefore: hasMore ? (history[0]?.auditId ?? null) : null
            })
          })
      })
    })
  )
}

/** The end of the period that a history page covers, Unix ms: the time of the row `before`. The newest page has no end. */
const endOf = (
  audit: AuditTrail["Service"],
  sources: FoundInstance["history"],
  before: number | undefined
): Effect.Effect<number, Unavailable> =>
  before === undefined
    ? Effect.succeed(Number.MAX_SAFE_INTEGER)
    : Effect.map(
        audit.history({ sources, before: before + 1, limit: 1 }),
        ([row]) => row?.ts ?? Number.MAX_SAFE_INTEGER
      )

const machineCounts = (rows: ReadonlyArray<StateCount>): ReadonlyArray<MachineCount> =>
  kinds.map((name) => ({
    name,
    states: Object.fromEntries(rows.filter(({ kind }) => kind === name).map(({ state, n }) => [state, Number(n)]))
  }))

const clientView = (state: SubjectState, row: ClientRow, facts: Facts, threshold: bigint): ClientView => {
  const context = clientContext(row)
  const kyc = state.one("kycPackages")
  const kycContext = kyc?.context
  return {
    ...clientWire(state, row, facts),
    partnerId: row.partnerId,
    restrictions: context.restrictions,
    openCases: context.openCases,
    margin: facts.takenAt === null ? null : marginView(accountIn(state, facts).risk),
    balances: state.all("balances").map(balanceView),
    blocks: verificationView(state, row, threshold).blocks,
    kycPackage:
      kyc === undefined || kycContext === undefined
        ? null
        : {
            kycPackageId: kyc.id,
            revision: kycContext.revision,
            status: kyc.state,
            reviewedBy: kycContext.reviewedBy,
            reviewedAt: kycContext.reviewedAt,
            reviewNote: kycContext.reviewNote
          }
  }
}

const marginView = (risk: AccountRisk): MarginView => ({
  initialMargin: formatAmount(risk.initialMargin, "USDC"),
  maintenanceMargin: formatAmount(risk.maintenanceMargin, "USDC"),
  freeMargin: formatAmount(risk.freeMargin, "USDC"),
  marginLevel: risk.marginLevel,
  riskState: risk.riskState,
  marksFresh: risk.marksFresh
})

const balanceView = (row: BalanceRow) => {
  if (!isCurrency(row.currency)) throw new Error("a balance in an unknown currency")
  const money = (minor: bigint) => formatAmount(minor, row.currency as Currency)
  return {
    currency: row.currency,
    cash: money(row.cash),
    reserved: money(row.reserved),
    total: money(row.cash + row.reserved)
  }
}

export interface OpenCall {
  readonly ref: string
  readonly call: string
  /** Start of the call, Unix ms. */
  readonly at: number
  /** Status queries that this process has sent to the venue. */
  readonly asked: number
  /** The venue's last reply about the call; BEING_MADE: no query was sent yet. */
  readonly found: "BEING_MADE" | Found
}

/** Calls to the venue in flight for one object, the oldest first (D6). */
const openCalls = (
  state: SubjectState,
  { kind, id }: { readonly kind: Kind; readonly id: number },
  { queriesOn }: Pick<VenueCalls["Service"], "queriesOn">
): ReadonlyArray<OpenCall> =>
  state
    .all("venueCalls")
    .filter(({ ref }) => {
      // A close-out waits for all calls of its client.
      if (kind === "closeOut") return true
      const owner = ownerOfRef(ref)
      return owner !== null && owner.owner === kind && owner.id === id
    })
    .toSorted((one, other) => one.at - other.at)
    .map(({ ref, call, at }) => {
      const queries = queriesOn(ref)
      return { ref, call, at, asked: queries?.tries ?? 0, found: queries?.found ?? "BEING_MADE" }
    })
