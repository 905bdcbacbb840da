/**
 * For each machine: the table of its objects, their names for operators, their audit rows and their timers. Blocks are
 * named CLIENT:CODE, all other objects by id. Partners may also be named by code, clients by uid. The history of an
 * object includes audit rows of other objects that alone record its transitions.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { mifidSections } from "../../../../machines/mifid/MifidBody.ts"
import type { Kind } from "../../../../machines/registry.ts"
import { type BlockCode, blockLevel } from "../../../../machines/verification/Blocks.ts"
import { parseId } from "../../../../machines/shared/Ids.ts"
import type { ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { Sealing } from "../../../engine/sealing/Sealing.ts"
import type { MachineRow, TableSpec } from "../../../tables/Table.ts"
import { findClient } from "../../account/findClient.ts"
import type { HistorySource } from "../../../store/reads/auditReads.ts"
import { clientSubject } from "../../account/clientState.ts"
import type { Directory } from "../../partners/Directory.ts"
import { expiryTimers } from "../../clients/document/documentExpiry.ts"
import { type Condition, pageOf } from "../../../store/paging.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { objectName } from "../../../effects/advance.ts"
import { catalogue, type MachineTable, tableOfKind, type Tables } from "../../../tables/Catalogue.ts"

interface Sources {
  readonly host: ActorHost["Service"]
  readonly directory: Directory["Service"]
  readonly sql: PgClient.PgClient
  readonly sealing: Sealing
}

export interface FoundInstance {
  readonly row: MachineRow
  readonly subject: string
  /**
   * Sources of the object's history: audit rows that name it, and audit rows of other objects that record its
   * transitions.
   */
  readonly history: ReadonlyArray<HistorySource>
  /** Selects this object's timers. A mailbox keeps the timers of all its objects. */
  readonly ownsTimer: (name: string) => boolean
  /** Due times that are not timers of the mailbox. Deliveries have their own queue. */
  readonly due?: ReadonlyArray<PendingTimer>
}

export interface PendingTimer {
  readonly name: string
  /** The due time in business time, Unix ms. */
  readonly dueAt: number
}

/** The package's audit action in a commit that rejects all twelve blocks (D3). */
const rejectionActions = ["kyc.rejectReliance"]
/**
 * The package's audit actions in commits that change blocks of level MICA: those in which the partner writes them, and
 * the rejection.
 */
const blockActions = ["kyc.store", "kyc.revise", "kyc.reonboard", ...rejectionActions]

const writtenByMifid: ReadonlyArray<string> = Object.values(mifidSections)

/** The client's audit rows of the commits in which the partner writes the MiFID blocks. */
const mifidSource = (clientId: number): HistorySource => ({ object: `client:${clientId}`, actions: ["client.mifid"] })

type Finder = (sources: Sources, id: string) => Effect.Effect<FoundInstance | null, Unavailable>

/** The committed object, or null when none has this name. */
export const findInstance = (
  sources: Sources,
  kind: Kind,
  id: string
): Effect.Effect<FoundInstance | null, Unavailable> =>
  // No text in the database contains this character, so no object has this id.
  id.includes("\u0000") ? Effect.succeed(null) : (finders[kind] ?? byKey(tableOfKind[kind]))(sources, id)

/** The single row of a table that meets the conditions. */
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

/** An object with its own audit rows and no timers of its own. */
const plain = <T extends MachineTable>(table: T, row: Tables[T], subject: string): FoundInstance => ({
  row,
  subject,
  history: [{ object: objectName(table, row) }],
  ownsTimer: none
})

/** The mailbox that changes a row: the table's own mailbox, otherwise that of the client or the partner in the row. */
const subjectOf = ({ residence, columns }: TableSpec, row: Readonly<Record<string, unknown>>): string => {
  if (residence !== null) {
    return residence.column === null ? residence.subject : `${residence.subject}:${String(row[residence.column])}`
  }
  const names = (column: string) => columns.some(({ name, nullable }) => name === column && !nullable)
  if (names("clientId")) return clientSubject(row["clientId"] as number)
  return names("partnerId") ? `partner:${String(row["partnerId"])}` : "system"
}

/** Finds objects by their own id. */
const byOwnId =
  <T extends MachineTable>(table: T): Finder =>
  (sources, id) =>
    Effect.map(only(sources, table, byId(id)), (row) =>
      row === null ? null : plain(table, row, subjectOf(catalogue[table], { ...row }))
    )

/** Finds the single object of a partner, by the partner's id or code. */
const ofPartner =
  <T extends MachineTable>(table: T): Finder =>
  ({ directory, host }, id) => {
    const view = directory.findPartner(id)
    if (view === null) return Effect.succeed(null)
    const subject = `partner:${view.row.id}`
    return Effect.map(
      host.read(subject, (state) => state.one(table)),
      (row) => (row === undefined ? null : plain(table, row, subject))
    )
  }

/** Finds the single object of a client, by the client's id or uid. */
const ofClient =
  <T extends MachineTable>(table: T): Finder =>
  ({ host, sql }, id) =>
    Effect.flatMap(findClient(host, sql, id), (client) => {
      if (!client.ok) return Effect.succeed(null)
      const subject = clientSubject(client.value.id)
      return host.read(subject, (state) => {
        const row = state.one(table)
        return row === undefined ? null : plain(table, row, subject)
      })
    })

/** The finder of a table, derived from its key. */
const byKey = (table: MachineTable): Finder => {
  switch (catalogue[table].key.join()) {
    case "id":
      return byOwnId(table)
    case "partnerId":
      return ofPartner(table)
    case "clientId":
      return ofClient(table)
    default:
      throw new Error(`objects of ${table} need a finder of their own`)
  }
}

/** Finders of kinds with other names, further history, or timers of their own. */
const finders: { readonly [K in Kind]?: Finder } = {
  partner: ({ directory }, id) =>
    Effect.sync(() => {
      const view = directory.findPartner(id)
      return view === null ? null : plain("partners", view.row, `partner:${view.row.id}`)
    }),
  reliance: (sources, id) =>
    Effect.map(ofPartner("reliances")(sources, id), (found) => {
      const view = sources.directory.findPartner(id)
      if (found === null || view === null) return null
      const created: HistorySource = { object: `partner:${view.row.id}`, actions: ["partner.create"] }
      return { ...found, history: [...found.history, created] }
    }),
  closeOut: (sources, id) => byOwnId("closeOuts")(sources, id.replace(/^CO-/i, "")),
  client: ({ host, sql }, id) =>
    Effect.map(findClient(host, sql, id), (found) =>
      found.ok ? { ...plain("clients", found.value, clientSubject(found.value.id)), ownsTimer: () => true } : null
    ),
  webhookDelivery: (sources, id) =>
    Effect.map(only(sources, "webhookDeliveries", byId(id)), (row) =>
      row === null
        ? null
        : {
            ...plain("webhookDeliveries", row, `partner:${row.partnerId}`),
            due: ["PENDING", "RETRYING"].includes(row.state) ? [{ name: "nextAttempt", dueAt: row.nextAt }] : []
          }
    ),
  verificationBlock: ({ host, sql }, id) => {
    const at = id.lastIndexOf(":")
    const code = id.slice(at + 1)
    return Effect.flatMap(findClient(host, sql, id.slice(0, Math.max(at, 0))), (client) =>
      !client.ok
        ? Effect.succeed(null)
        : host.read(clientSubject(client.value.id), (state) => {
            const row = state.all("verificationBlocks").find((block) => block.code === code)
            if (row === undefined) return null
            return {
              row,
              subject: clientSubject(client.value.id),
              history: [
                { object: `verificationBlock:${client.value.id}:${code}` },
                ...state.all("kycPackages").map(({ id }): HistorySource => ({
                  object: `kycPackage:${id}`,
                  actions: blockLevel(code as BlockCode) === "MICA" ? blockActions : rejectionActions
                })),
                ...(writtenByMifid.includes(code) ? [mifidSource(client.value.id)] : [])
              ],
              ownsTimer: (name) =>
                Object.entries(expiryTimers).some(([block, timer]) => block === code && timer === name)
            }
          })
    )
  }
}
