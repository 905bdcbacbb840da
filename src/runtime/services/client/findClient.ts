/** Finds the client an operator names by id or uid (operator surface: C is a client id or uid). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { parseId } from "../../../machines/shared/Ids.ts"
import type { ActorHost, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import { clientSubject } from "./clientState.ts"
import { clientIdByUid } from "../../store/reads/clientReads.ts"
import { whenAway } from "../../store/whenAway.ts"

/** The client's committed row, or null when nobody has this id or uid. */
export const findClient = (
  host: ActorHost["Service"],
  sql: PgClient.PgClient,
  idOrUid: string
): Effect.Effect<ClientRow | null, Unavailable> =>
  Effect.flatMap(clientIdOf(sql, idOrUid), (clientId) =>
    clientId === null
      ? Effect.succeed(null)
      : host.read(clientSubject(clientId), (state) => state.one("clients") ?? null)
  )

/** Prefix, hyphen, digits (F31). The database refuses some texts outright (U+0000), so it is asked for uids only. */
const uidShape = /^[A-Z0-9]{1,16}-[0-9]{8,16}$/

const clientIdOf = (sql: PgClient.PgClient, idOrUid: string): Effect.Effect<number | null, Unavailable> => {
  const id = parseId(idOrUid)
  if (id !== undefined) return Effect.succeed(id)
  if (!uidShape.test(idOrUid)) return Effect.succeed(null)
  return Effect.catch(clientIdByUid(sql, idOrUid), whenAway)
}
