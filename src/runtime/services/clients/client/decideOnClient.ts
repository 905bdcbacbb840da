/**
 * Runs an operator's command on a client: finds the client by id or uid, and decides in its mailbox. If the command
 * also depends on rows outside the mailbox, they are read first, and the decision counts only if the mailbox has not
 * changed in between.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { accept, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { RoleLabel } from "../../../../machines/verification/Block.ts"
import type { ActorHost, DispatchError, Turn, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { TableName } from "../../../tables/Catalogue.ts"
import type { ClientTurn } from "./clientDecisions.ts"
import { findClient } from "../../account/findClient.ts"
import { clientSubject, instanceOf } from "../../account/clientState.ts"
import type { Directory } from "../../partners/Directory.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { readThenDecide } from "../../shared/readThenDecide.ts"

/** The verdict of a decision holds the client's id. The caller reads the client's new state from its actor. */
export type Ruled = Effect.Effect<Verdict<number>, DispatchError>

export interface CommandTools {
  readonly host: ActorHost["Service"]
  readonly directory: Directory["Service"]
  readonly sql: PgClient.PgClient
}

/** The role of a caller who decides for compliance. The route admits only these two roles; another role here is a defect. */
const complianceLabel = ({ role }: OperatorCaller): RoleLabel => {
  if (role !== "COMPLIANCE" && role !== "ADMIN") throw new Error("a compliance decision needs a compliance role")
  return role
}

/** The verdict with the client's id instead of its row. */
export const idOf = (verdict: Verdict<ClientRow>): Verdict<number> => (verdict.ok ? accept(verdict.value.id) : verdict)

/** Finds the client and decides on its state in the mailbox. The verdict holds the client's id. */
export const decideOnClient = (
  tools: CommandTools,
  caller: OperatorCaller,
  client: string,
  decide: (at: ClientTurn, row: ClientRow) => Verdict<ClientRow>
): Ruled => ruleOnClient(tools, caller, client, (at, row) => idOf(decide(at, row)))

/** Like `decideOnClient`, with a result of the caller's choice. */
export const ruleOnClient = <A>(
  tools: CommandTools,
  caller: OperatorCaller,
  client: string,
  decide: (at: ClientTurn, row: ClientRow) => Verdict<A>
): Effect.Effect<Verdict<A>, DispatchError> =>
  Effect.flatMap(findClient(tools.host, tools.sql, client), (found) =>
    found.ok
      ? tools.host.dispatch({
          ...addressOf(tools, caller, found.value),
          decide: (turn) => asCompliance(tools, caller, turn, decide)
        })
      : Effect.succeed(found)
  )

/**
 * Decides on the state in the mailbox and on facts that `read` finds outside it. Both are of the same moment. `how`:
 * options of `readThenDecide`.
 */
export const decideOnFacts = <Facts, A>(
  tools: CommandTools,
  caller: OperatorCaller,
  client: string,
  read: (found: ClientRow) => Effect.Effect<Facts, Unavailable>,
  decide: (at: ClientTurn, row: ClientRow, facts: Facts) => Verdict<A>,
  how: {
    readonly restsOn?: ReadonlyArray<TableName>
    readonly heldAtLast?: boolean
  } = {}
): Effect.Effect<Verdict<A>, DispatchError> =>
  Effect.flatMap(findClient(tools.host, tools.sql, client), (found) =>
    found.ok
      ? readThenDecide(tools.host, {
          ...addressOf(tools, caller, found.value),
          ...how,
          read: (state) => read(state.one("clients") ?? found.value),
          decide: (turn, facts) => asCompliance(tools, caller, turn, (at, row) => decide(at, row, facts))
        })
      : Effect.succeed(found)
  )

const addressOf = ({ directory }: CommandTools, { by }: OperatorCaller, { id, partnerId }: ClientRow) => ({
  subject: clientSubject(id),
  by,
  partner: () => directory.stamp(partnerId)
})

const asCompliance = <A>(
  { directory }: CommandTools,
  caller: OperatorCaller,
  turn: Turn,
  decide: (at: ClientTurn, row: ClientRow) => Verdict<A>
): Verdict<A> => {
  const row = turn.state.one("clients")
  const partner = row === undefined ? null : directory.partner(row.partnerId)
  if (row === undefined || partner === null) return refuse(unknown("Client"))
  return decide({ turn, instance: instanceOf(row, partner), by: complianceLabel(caller) }, row)
}
