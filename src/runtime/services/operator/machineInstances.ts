/**
 * Where each machine keeps its objects, how an operator names one, and which audit rows and timers are its own (operator
 * surface, machine inspect). A block is named CLIENT:CODE, everything else by its id; partners by code and clients by uid
 * as well. Where another object's audit row tells of a transition too, so that none of its own is written, the history
 * takes that row in.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { mifidSections } from "../../../machines/mifid/MifidRequest.ts"
import type { Kind } from "../../../machines/registry.ts"
import { type BlockCode, blockLevel } from "../../../machines/verification/Blocks.ts"
import { parseId } from "../../../machines/shared/Ids.ts"
import type { ActorHost, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { Sealing } from "../../engine/sealing/Sealing.ts"
import type { MachineRow, TableName } from "../../store/Rows.ts"
import type { HistorySource } from "./AuditTrail.ts"
import { findClient } from "../client/clientLookup.ts"
import { clientSubject } from "../client/clientState.ts"
import type { Directory } from "../partner/Directory.ts"
import { expiryTimers } from "../document/documentExpiry.ts"
import { type Condition, pageOf } from "../../store/paging.ts"
import { whenAway } from "../../store/whenAway.ts"

interface Sources {
  readonly host: ActorHost["Service"]
  readonly directory: Directory["Service"]
  readonly sql: PgClient.PgClient
  readonly sealing: Sealing
}

export interface FoundInstance {
  readonly row: MachineRow
  readonly subject: string
  /** Its history: the rows that name it, and those through which another object tells of it. */
  readonly history: ReadonlyArray<HistorySource>
  /** Which of the mailbox's timers are this object's: a mailbox keeps those of all its objects. */
  readonly ownsTimer: (name: string) => boolean
  /** What is due without a timer of the mailbox: deliveries wait in their own queue. */
  readonly due?: ReadonlyArray<PendingTimer>
}

export interface PendingTimer {
  readonly name: string
  /** Unix ms. */
  readonly dueAt: number
}

/** The package's row of the commit in which compliance rejects all twelve blocks (D3). */
const tellsOfAll = ["kyc.rejectReliance"]
/** Besides it, the package's rows of the commits in which the partner writes the blocks of level MICA. */
const tellsOfBlocks = ["kyc.store", "kyc.revise", "kyc.reonboard", ...tellsOfAll]

const writtenByMifid: ReadonlyArray<string> = Object.values(mifidSections)

/** The client's row of the commits in which the partner writes the MiFID blocks. */
const tellsOfMifid = (clientId: number): HistorySource => ({ object: `client:${clientId}`, actions: ["client.mifid"] })

type Finder = (sources: Sources, id: string) => Effect.Effect<FoundInstance | null, Unavailable>

/** The table of each machine's objects. Partner keys alone are apiKeys here: the operator's own are not inspected. */
export const tableOf = {
  partner: "partners",
  reliance: "reliances",
  apiKey: "apiKeys",
  client: "clients",
  kycPackage: "kycPackages",
  verificationBlock: "verificationBlocks",
  assessment: "assessments",
  case: "cases",
  approval: "approvals",
  watchImport: "watchImports",
  screeningPass: "screeningPasses",
  depositNotice: "depositNotices",
  collateralReport: "collateralReports",
  settlementItem: "settlementItems",
  withdrawalRequest: "withdrawalRequests",
  reconBreak: "reconBreaks",
  webhookEndpoint: "webhookEndpoints",
  webhookDelivery: "webhookDeliveries"
} as const satisfies Readonly<Record<Kind, TableName>>

/** The committed object, or null when nothing has this name. */
export const findInstance = (
  sources: Sources,
  kind: Kind,
  id: string
): Effect.Effect<FoundInstance | null, Unavailable> => finders[kind](sources, id)

/** The one row of a table under conditions. */
const only = <T extends Parameters<typeof pageOf>[2]>(
  { sql, sealing }: Sources,
  table: T,
  conditions: ReadonlyArray<Condition>
) =>
  pageOf(sql, sealing, table, conditions, { limit: 1 }).pipe(
    Effect.map(([row]) => row ?? null),
    Effect.catch(whenAway)
  )

const byId = (id: string): ReadonlyArray<Condition> => [{ column: "id", value: BigInt(parseId(id) ?? 0) }]

const none = (): boolean => false

/** Objects that live in a client's mailbox, found by their own id. */
const ofClient =
  (
    table: "kycPackages" | "cases" | "depositNotices" | "collateralReports" | "settlementItems" | "withdrawalRequests",
    kind: Kind
  ): Finder =>
  (sources, id) =>
    Effect.map(only(sources, table, byId(id)), (row) =>
      row === null
        ? null
        : {
            row,
            subject: clientSubject(row.clientId),
            history: [{ object: `${kind}:${row.id}` }],
            ownsTimer: none
          }
    )

const finders: { readonly [K in Kind]: Finder } = {
  partner: ({ directory }, id) =>
    Effect.sync(() => {
      const view = directory.findPartner(id)
      if (view === null) return null
      return {
        row: view.row,
        subject: `partner:${view.row.id}`,
        history: [{ object: `partner:${view.row.id}` }],
        ownsTimer: none
      }
    }),
  reliance: (sources, id) => {
    const view = sources.directory.findPartner(id)
    if (view === null) return Effect.succeed(null)
    const partnerId = view.row.id
    return Effect.map(
      sources.host.read(`partner:${partnerId}`, (state) => state.one("reliances") ?? null),
      (row) =>
        row === null
          ? null
          : {
              row,
              subject: `partner:${partnerId}`,
              history: [
                { object: `reliance:${partnerId}` },
                { object: `partner:${partnerId}`, actions: ["partner.create"] }
              ],
              ownsTimer: none
            }
    )
  },
  apiKey: ({ directory }, id) =>
    Effect.sync(() => {
      const key = directory.key(parseId(id) ?? 0)
      if (key === null) return null
      return {
        row: key,
        subject: `partner:${key.partnerId}`,
        history: [{ object: `apiKey:${key.id}` }],
        ownsTimer: none
      }
    }),
  client: ({ host, sql }, id) =>
    Effect.map(findClient(host, sql, id), (row) =>
      row === null
        ? null
        : {
            row,
            subject: clientSubject(row.id),
            history: [{ object: `client:${row.id}` }],
            ownsTimer: () => true
          }
    ),
  kycPackage: ofClient("kycPackages", "kycPackage"),
  case: ofClient("cases", "case"),
  depositNotice: ofClient("depositNotices", "depositNotice"),
  collateralReport: ofClient("collateralReports", "collateralReport"),
  settlementItem: ofClient("settlementItems", "settlementItem"),
  withdrawalRequest: ofClient("withdrawalRequests", "withdrawalRequest"),
  reconBreak: (sources, id) =>
    Effect.map(only(sources, "reconBreaks", byId(id)), (row) =>
      row === null ? null : { row, subject: "system", history: [{ object: `reconBreak:${row.id}` }], ownsTimer: none }
    ),
  webhookEndpoint: (sources, id) => {
    const view = sources.directory.findPartner(id)
    if (view === null) return Effect.succeed(null)
    const partnerId = view.row.id
    return Effect.map(
      sources.host.read(`partner:${partnerId}`, (state) => state.one("webhookEndpoints") ?? null),
      (row) =>
        row === null
          ? null
          : {
              row,
              subject: `partner:${partnerId}`,
              history: [{ object: `webhookEndpoint:${partnerId}` }],
              ownsTimer: none
            }
    )
  },
  webhookDelivery: (sources, id) =>
    Effect.map(only(sources, "webhookDeliveries", byId(id)), (row) =>
      row === null
        ? null
        : {
            row,
            subject: `partner:${row.partnerId}`,
            history: [{ object: `webhookDelivery:${row.id}` }],
            ownsTimer: none,
            due: ["PENDING", "RETRYING"].includes(row.state) ? [{ name: "nextAttempt", dueAt: row.nextAt }] : []
          }
    ),
  verificationBlock: ({ host, sql }, id) => {
    const at = id.lastIndexOf(":")
    const code = id.slice(at + 1)
    return Effect.flatMap(findClient(host, sql, id.slice(0, Math.max(at, 0))), (client) =>
      client === null
        ? Effect.succeed(null)
        : host.read(clientSubject(client.id), (state) => {
            const row = state.all("verificationBlocks").find((block) => block.code === code)
            if (row === undefined) return null
            return {
              row,
              subject: clientSubject(client.id),
              history: [
                { object: `verificationBlock:${client.id}:${code}` },
                ...state.all("kycPackages").map(({ id }): HistorySource => ({
                  object: `kycPackage:${id}`,
                  actions: blockLevel(code as BlockCode) === "MICA" ? tellsOfBlocks : tellsOfAll
                })),
                ...(writtenByMifid.includes(code) ? [tellsOfMifid(client.id)] : [])
              ],
              ownsTimer: (name) =>
                Object.entries(expiryTimers).some(([block, timer]) => block === code && timer === name)
            }
          })
    )
  },
  assessment: ({ host, sql }, id) =>
    Effect.flatMap(findClient(host, sql, id), (client) =>
      client === null
        ? Effect.succeed(null)
        : host.read(clientSubject(client.id), (state) => {
            const row = state.one("assessments")
            if (row === undefined) return null
            return {
              row,
              subject: clientSubject(client.id),
              history: [{ object: `assessment:${client.id}` }],
              ownsTimer: none
            }
          })
    ),
  watchImport: (sources, id) =>
    Effect.map(only(sources, "watchImports", byId(id)), (row) =>
      row === null ? null : { row, subject: "system", history: [{ object: `watchImport:${row.id}` }], ownsTimer: none }
    ),
  screeningPass: (sources, id) =>
    Effect.map(only(sources, "screeningPasses", byId(id)), (row) =>
      row === null
        ? null
        : { row, subject: "system", history: [{ object: `screeningPass:${row.id}` }], ownsTimer: none }
    ),
  approval: (sources, id) =>
    Effect.map(only(sources, "approvals", byId(id)), (row) =>
      row === null
        ? null
        : {
            row,
            subject: "system",
            history: [{ object: `approval:${row.id}` }],
            ownsTimer: none
          }
    )
}
