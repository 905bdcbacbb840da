/**
 * Where each machine keeps its objects, how an operator names one, and which audit rows and timers are its own (operator
 * surface, machine inspect). A block is named CLIENT:CODE, everything else by its id; partners by code and clients by uid
 * as well.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Kind } from "../../machines/registry.ts"
import { parseId } from "../../machines/shared/Ids.ts"
import type { ActorHost, Unavailable } from "../engine/ActorHost.ts"
import type { Sealing } from "../engine/Sealing.ts"
import type { MachineRow } from "../store/Rows.ts"
import type { AuditQuery } from "./AuditTrail.ts"
import { findClient } from "./clientLookup.ts"
import { clientSubject } from "./clientState.ts"
import type { Directory } from "./Directory.ts"
import { expiryTimers } from "./documentExpiry.ts"
import { type Condition, pageOf } from "./paging.ts"
import { whenAway } from "./whenAway.ts"

interface Sources {
  readonly host: ActorHost["Service"]
  readonly directory: Directory["Service"]
  readonly sql: PgClient.PgClient
  readonly sealing: Sealing
}

export interface FoundInstance {
  readonly row: MachineRow
  readonly subject: string
  /** Its history: the rows that name it; the owner is said too, because the audit is indexed by it. */
  readonly audit: Pick<AuditQuery, "clientId" | "partnerId" | "object">
  /** Which of the mailbox's timers are this object's: a mailbox keeps those of all its objects. */
  readonly ownsTimer: (name: string) => boolean
}

type Finder = (sources: Sources, id: string) => Effect.Effect<FoundInstance | null, Unavailable>

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
  (table: "kycPackages" | "cases" | "collateralReports" | "settlementItems", kind: Kind): Finder =>
  (sources, id) =>
    Effect.map(only(sources, table, byId(id)), (row) =>
      row === null
        ? null
        : {
            row,
            subject: clientSubject(row.clientId),
            audit: { clientId: row.clientId, object: `${kind}:${row.id}` },
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
        audit: { partnerId: view.row.id, clientId: null, object: `partner:${view.row.id}` },
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
              audit: { partnerId, clientId: null, object: `reliance:${partnerId}` },
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
        audit: { partnerId: key.partnerId, clientId: null, object: `apiKey:${key.id}` },
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
            audit: { clientId: row.id, object: `client:${row.id}` },
            ownsTimer: () => true
          }
    ),
  kycPackage: ofClient("kycPackages", "kycPackage"),
  case: ofClient("cases", "case"),
  collateralReport: ofClient("collateralReports", "collateralReport"),
  settlementItem: ofClient("settlementItems", "settlementItem"),
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
              audit: { partnerId, clientId: null, object: `webhookEndpoint:${partnerId}` },
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
            audit: { partnerId: row.partnerId, clientId: null, object: `webhookDelivery:${row.id}` },
            ownsTimer: none
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
              audit: { clientId: client.id, object: `verificationBlock:${client.id}:${code}` },
              ownsTimer: (name) =>
                Object.entries(expiryTimers).some(([block, timer]) => block === code && timer === name)
            }
          })
    )
  },
  approval: (sources, id) =>
    Effect.map(only(sources, "approvals", byId(id)), (row) =>
      row === null
        ? null
        : {
            row,
            subject: "system",
            audit: { partnerId: null, clientId: null, object: `approval:${row.id}` },
            ownsTimer: none
          }
    )
}
