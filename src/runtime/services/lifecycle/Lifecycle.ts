/**
 * The operator's decisions on a client's lifecycle: final refusal of the person, closing, reopening, downgrading, and
 * the categorization. Decisions that end a client pass the zero check in the client's mailbox, which also books its
 * money (D1; A1-38, A1-47).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Verdict } from "../../../machines/shared/Refusal.ts"
import { personClaims } from "../../../machines/kyc/personKey.ts"
import { cleanText } from "../../../machines/shared/Text.ts"
import { ActorHost, type DispatchError, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { withinTime } from "../../engine/withinTime.ts"
import type { ClientRow } from "../../tables/client.ts"
import { type AccountFacts, accountBlockers, closeClient } from "./closingDecisions.ts"
import {
  type CommandTools,
  type Ruled,
  decideOnClient,
  decideOnFacts,
  idOf,
  ruleOnClient
} from "../clients/client/decideOnClient.ts"
import {
  type Categorization,
  type Categorized,
  categorizeClient,
  downgradeClient,
  reopenClient
} from "./lifecycleDecisions.ts"
import { Directory } from "../partners/Directory.ts"
import { rejectPerson } from "../clients/kyc/reviewDecisions.ts"
import type { OperatorCaller } from "../shared/OperatorCaller.ts"
import { freeClaims } from "../../store/reads/clientReads.ts"
import { whenAway } from "../../store/whenAway.ts"
import { openOutside } from "../../store/openRows.ts"

type Ruling = (caller: OperatorCaller, client: string, reason: string) => Ruled

export class Lifecycle extends Context.Service<
  Lifecycle,
  {
    /** Refuses the person for good. The decision is refused while the client has money or open objects. */
    readonly rejectPerson: Ruling
    /** Closes the account for good. The decision is refused while the client has money or open objects. */
    readonly close: Ruling
    /** Returns a refused person to review by compliance; the client then waits in KYC_PENDING. */
    readonly reopen: Ruling
    /** Lowers the level from MICA_MIFID to MICA, which only a new appropriateness test raises again. */
    readonly downgrade: Ruling
    /**
     * Changes the categorization. Refused if the account's margin does not allow it; returns the effect on the account
     * (A2-102).
     */
    categorize(
      caller: OperatorCaller,
      client: string,
      wanted: Categorization
    ): Effect.Effect<Verdict<Categorized>, DispatchError>
  }
>()("brokerage/runtime/services/lifecycle/Lifecycle") {
  static readonly layer = Layer.effect(
    Lifecycle,
    Effect.gen(function* () {
      const tools: CommandTools = { host: yield* ActorHost, directory: yield* Directory, sql: yield* PgClient.PgClient }
      const facts = accountFacts(tools.sql)
      return Lifecycle.of({
        rejectPerson: (caller, client, reason) =>
          decideOnFacts(
            tools,
            caller,
            client,
            facts,
            (at, row, found) => idOf(rejectPerson(at, row, cleanText(reason), accountBlockers(at.turn.state, found))),
            ending
          ),
        close: (caller, client, reason) =>
          decideOnFacts(
            tools,
            caller,
            client,
            facts,
            (at, row, found) => idOf(closeClient(at, row, cleanText(reason), found)),
            ending
          ),
        reopen: (caller, client, reason) =>
          decideOnClient(tools, caller, client, (at, row) => reopenClient(at, row, cleanText(reason))),
        downgrade: (caller, client, reason) =>
          decideOnClient(tools, caller, client, (at, row) => downgradeClient(at, row, cleanText(reason))),
        categorize: (caller, client, wanted) =>
          ruleOnClient(tools, caller, client, (at, row) =>
            categorizeClient(at, row, { ...wanted, reason: cleanText(wanted.reason) })
          )
      })
    })
  )
}

/**
 * The zero check is repeated while these tables change. Settlement items are written with postings, and postings with
 * balances, so the two tables cover all facts read. The last round holds the mailbox, so that steady postings do not block
 * the decision.
 */
const ending = { restsOn: ["clients", "balances"], heldAtLast: true } as const

/**
 * The facts of the zero check that the mailbox does not hold: open settlement items, and claims of the person that can be
 * released.
 */
const accountFacts =
  (sql: PgClient.PgClient) =>
  (client: ClientRow): Effect.Effect<AccountFacts, Unavailable> =>
    withinTime(
      Effect.gen(function* () {
        const openItems = yield* openOutside(sql, client.id)
        // Claims are released even if their holder is closed or has become another person. Another open client of the
        // person without a claim is found by the search (A1-28).
        return { openItems, personClaims: yield* freeClaims(sql, personClaims(client.personKey), client.id) }
      }).pipe(Effect.catch(whenAway)),
      () => new Unavailable({ unknown: false })
    )
