/**
 * Reads of machine objects for the atlas, a map of the state machines: the objects in a state, related objects, and
 * names of partners and clients.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { isKind, type Kind, kinds } from "../../../../machines/registry.ts"
import { parseId } from "../../../../machines/shared/Ids.ts"
import { accept, invalidFields, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { objectName } from "../../../effects/advance.ts"
import { ActorHost, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { type MachineTable, tableOfKind } from "../../../tables/Catalogue.ts"
import {
  type ClientName,
  clientNames,
  instancesInState,
  keyLength,
  type StateInstance
} from "../../../store/reads/instanceReads.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import type { ApprovalRow } from "../../../tables/operator.ts"
import { Directory } from "../../partners/Directory.ts"
import { findInstance } from "./machineInstances.ts"
import { systemSubject } from "../../shared/OperatorCaller.ts"
import { kindNamed, stateNamed } from "./machineNames.ts"

export interface InstancePage {
  readonly kind: Kind
  readonly state: string
  readonly instances: ReadonlyArray<StateInstance>
  readonly hasMore: boolean
  readonly nextAfter: string | null
}

/** An object in the same mailbox, or an approval and its object. */
export interface Related {
  readonly kind: Kind
  readonly id: string
  readonly state: string
  /** The mailbox that holds the object. */
  readonly subject: string
}

export interface PartnerName {
  readonly partnerId: number
  readonly code: string
  readonly name: string
}

/** The newest related objects that are listed per kind. */
const relatedOfKind = 12

export class MachineObjects extends Context.Service<
  MachineObjects,
  {
    /** A page of the objects in a state, oldest first. */
    inState(
      kind: string,
      state: string,
      page: { readonly limit: number; readonly after?: string }
    ): Effect.Effect<Verdict<InstancePage>, Unavailable>
    /**
     * The approvals that the object's next step waits for, and the other objects in a client's or partner's mailbox,
     * newest first in each kind. For an approval: its object.
     */
    related(kind: Kind, id: string, subject: string): Effect.Effect<ReadonlyArray<Related>, Unavailable>
    /** Names of clients, by id. */
    clients(ids: ReadonlyArray<number>): Effect.Effect<ReadonlyArray<ClientName>, Unavailable>
    partner(id: number): PartnerName | null
  }
>()("brokerage/runtime/services/operations/operator/MachineObjects") {
  static readonly layer = Layer.effect(
    MachineObjects,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const sql = yield* PgClient.PgClient
      const sources = { host, directory, sql, sealing: yield* SealingService }

      const approved = (id: string): Effect.Effect<ReadonlyArray<Related>, Unavailable> =>
        Effect.gen(function* () {
          const approval = yield* findInstance(sources, "approval", id)
          const about = approval === null ? null : objectOfApproval(approval.row as ApprovalRow)
          const found = about === null ? null : yield* findInstance(sources, about.kind, about.id)
          return about === null || found === null ? [] : [{ ...about, state: found.row.state, subject: found.subject }]
        })

      /** The pending approvals of an object. The system's mailbox holds PENDING approvals only. */
      const approvalsOf = (kind: Kind, id: string): Effect.Effect<ReadonlyArray<Related>, Unavailable> =>
        host.read(systemSubject, (rows) =>
          rows
            .all("approvals")
            .filter((row) => {
              const about = row.state === "PENDING" ? objectOfApproval(row) : null
              return about?.kind === kind && about.id === id
            })
            .slice(-relatedOfKind)
            .toReversed()
            .map((row) => ({ kind: "approval", id: String(row.id), state: row.state, subject: systemSubject }))
        )

      return MachineObjects.of({
        inState: (name, state, { limit, after }) =>
          Effect.gen(function* () {
            const named = kindNamed(name)
            if (!named.ok) return named
            const kind = named.value
            const found = stateNamed(kind, state)
            if (!found.ok) return found
            const known = found.value
            const key = after === undefined ? null : keyOfName(kind, after)
            if (key === undefined) return refuse(invalidFields({ after: "It must be the id of an object." }))
            const rows = yield* Effect.catch(
              instancesInState(sql, kind, known, { after: key, limit: limit + 1 }),
              whenAway
            )
            const instances = rows.slice(0, limit)
            const hasMore = rows.length > limit
            const nextAfter = hasMore ? (instances.at(-1)?.id ?? null) : null
            return accept({ kind, state: known, instances, hasMore, nextAfter })
          }),
        related: (kind, id, subject) =>
          Effect.gen(function* () {
            if (kind === "approval") return yield* approved(id)
            const waiting = yield* approvalsOf(kind, id)
            if (subject === systemSubject) return waiting
            const held = yield* host.read(subject, (rows) =>
              kinds.flatMap((each) => {
                const table: MachineTable = tableOfKind[each]
                return rows
                  .all(table)
                  .map((row) => ({ kind: each, id: nameOf(table, row), state: row.state, subject }))
                  .filter((row) => row.kind !== kind || row.id !== id)
                  .slice(-relatedOfKind)
                  .toReversed()
              })
            )
            return [...waiting, ...held]
          }),
        clients: (ids) => Effect.catch(clientNames(sql, [...new Set(ids)]), whenAway),
        partner: (partnerId) => {
          const view = directory.findPartner(String(partnerId))
          return view === null ? null : { partnerId, code: view.row.code, name: view.row.name }
        }
      })
    })
  )
}

/** The object's name without its kind. */
const nameOf = (table: MachineTable, row: Parameters<typeof objectName>[1]): string => {
  const name = objectName(table, row as never)
  return name.slice(name.indexOf(":") + 1)
}

/** The key after which a page continues; undefined: the name is no key of the kind. */
const keyOfName = (kind: Kind, name: string): ReadonlyArray<string | bigint> | undefined => {
  // No text in the database contains this character, so it is part of no key.
  if (name.includes("\u0000")) return undefined
  const [first = "", ...rest] = name.split(":")
  const id = parseId(first)
  return id === undefined || rest.length !== keyLength(kind) - 1 ? undefined : [BigInt(id), ...rest]
}

interface ObjectName {
  readonly kind: Kind
  readonly id: string
}

/** In order of precedence: an argument that names a client or a partner counts only if no other object is named. */
const kindOfArgument = [
  ["requestId", "withdrawalRequest"],
  ["breakId", "reconBreak"],
  ["swapId", "swap"],
  ["closeOutId", "closeOut"],
  ["client", "client"],
  ["partner", "partner"]
] as const satisfies ReadonlyArray<readonly [argument: string, kind: Kind]>

/** The object of a pending command, from its arguments. Null: they name none. */
const objectOfApproval = ({ args }: Pick<ApprovalRow, "args">): ObjectName | null => {
  const [named = "", ...rest] = typeof args["object"] === "string" ? args["object"].split(":") : []
  // `venue resolve` calls the kind `contract`.
  const given = named === "contract" ? "barrierContract" : named
  if (isKind(given)) return { kind: given, id: rest.join(":") }
  for (const [argument, kind] of kindOfArgument) {
    const id = args[argument]
    if (typeof id === "string" || typeof id === "number") return { kind, id: String(id) }
  }
  return null
}
