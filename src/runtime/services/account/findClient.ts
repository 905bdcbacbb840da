/**
 * Finds the client that an operator names by id, by uid, by the partner's own reference, or by the e-mail address of an
 * open account. The partner's code may precede the reference (`acme-1`, `ACME/acme-1`). The service never guesses: it
 * refuses a name that several clients share, with a list of them (operator surface, `C`).
 *
 * Digits alone are always an id. A name in the form of a uid is always a uid, so a reference of that form needs its
 * partner's code before it. The address is looked up among the claims that keep it unique. A closed account has
 * released its address; `client list --q` finds it.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { parseId } from "../../../machines/shared/Ids.ts"
import { clientNameShape } from "../../../machines/shared/Text.ts"
import { accept, conflict, refuse, type Refusal, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import type { ActorHost, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../tables/client.ts"
import { clientSubject } from "./clientState.ts"
import { clientIdByUid, clientsNamed, type NamedClient, namedAtMost } from "../../store/reads/clientReads.ts"
import { whenAway } from "../../store/whenAway.ts"

/** The client's committed row; refused when no client has this name, or several have it. */
export const findClient = (
  host: ActorHost["Service"],
  sql: PgClient.PgClient,
  name: string
): Effect.Effect<Verdict<ClientRow>, Unavailable> =>
  Effect.flatMap(clientIdOf(sql, name), (found) =>
    found.ok
      ? host.read(clientSubject(found.value), (state) => {
          const row = state.one("clients")
          return row === undefined ? noClient : accept(row)
        })
      : Effect.succeed(found)
  )

const noClient = refuse(unknown("Client"))

/** Form of a uid: prefix, hyphen, digits (F31). */
const uidShape = /^[A-Z0-9]{1,16}-[0-9]{8,16}$/

const clientIdOf = (sql: PgClient.PgClient, name: string): Effect.Effect<Verdict<number>, Unavailable> => {
  const id = parseId(name)
  if (id !== undefined) return Effect.succeed(accept(id))
  if (uidShape.test(name)) {
    return Effect.catch(
      Effect.map(clientIdByUid(sql, name), (found) => (found === null ? noClient : accept(found))),
      whenAway
    )
  }
  if (!clientNameShape.test(name) || !name.isWellFormed()) return Effect.succeed(noClient)
  return Effect.map(Effect.catch(clientsNamed(sql, name), whenAway), ([one, ...others]) => {
    if (one === undefined) return noClient
    return others.length === 0 ? accept(one.id) : refuse(ambiguous(name, [one, ...others]))
  })
}

const ambiguous = (name: string, clients: ReadonlyArray<NamedClient>): Refusal => {
  const listed = clients.map(({ uid, partner, ref }) => `${uid} (${partner}/${ref})`).join(", ")
  const many = clients.length === namedAtMost ? `at least ${namedAtMost}` : String(clients.length)
  return conflict("AMBIGUOUS", `${name} names ${many} clients: ${listed}. Name one of them by its uid.`, {
    candidates: clients.map(({ id, uid, partner, ref }) => ({
      clientId: id,
      clientUid: uid,
      partner,
      partnerClientRef: ref
    }))
  })
}
