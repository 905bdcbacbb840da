/**
 * Requests statements while money moves: the statement of a period is filed repeatedly by several processes at once, so
 * that versions race and follow one another (D20; A2-66, STS-29). SQL reads the contents of a real statement, so tests
 * over Postgres check them. Here a statement lists the client's durable postings.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import type { Verdict } from "../../src/machines/shared/Refusal.ts"
import { ActorHost, type Attribution, type DispatchError } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { RowReads } from "../../src/runtime/ports/RowReads.ts"
import { clientSubject } from "../../src/runtime/services/account/clientState.ts"
import { fileStatement } from "../../src/runtime/services/statements/fileStatement.ts"
import type { StatementRow } from "../../src/runtime/tables/statement.ts"
import type { Services } from "./SimProcess.ts"
import type { World } from "./World.ts"

const dayMillis = 86_400_000

export class StatementDesk {
  private readonly world: World
  private readonly random: SeededRandom
  private asked = 0

  constructor(world: World) {
    this.world = world
    this.random = world.fork()
  }

  step(done: () => void): void {
    const { random, world } = this
    const { clients } = random.pick(world.partners)
    if (clients.length === 0) return done()
    const clientId = random.pick(clients.slice(0, 1))
    const by: Attribution = {
      role: "FINANCE",
      keyLabel: "desk",
      requestId: `statement-${++this.asked}`,
      actor: "FINANCE"
    }
    // Two requests of one period at once: one creates the version and the other finds it.
    let left = random.chance(0.5) ? 2 : 1
    const one = (): void => void (--left === 0 && done())
    for (let n = left; n > 0; n--) {
      const asked = world.auditor.commits.statements.lastPosting(clientId)
      world.operate("statement", random, filed(by, clientId, asked), one)
    }
  }
}

/** `asked`: the client's last posting at the time of the request. */
const filed = (
  by: Attribution,
  clientId: number,
  asked: number
): Effect.Effect<Verdict<StatementRow> | null, DispatchError, Services> =>
  Effect.gen(function* () {
    const host = yield* ActorHost
    const stored = yield* RowReads
    const subject = clientSubject(clientId)
    const client = yield* host.read(subject, (state) => state.one("clients") ?? null)
    if (client === null) return null
    yield* host.dispatch({ subject, by, decide: () => {} })
    const conditions = [{ column: "client_id", value: clientId }]
    const postings = yield* stored.page("postings", conditions, { limit: 100_000 })
    const said = postings.map(({ postingId, amount }) => `${postingId} ${amount}`).join("\n")
    const stated = { clientId, partnerId: client.partnerId, clientUid: client.uid, createdAt: client.createdAt }
    return yield* fileStatement(
      { host, stored },
      { by, role: by.role, correction: null },
      {
        client: stated,
        period: { kind: "ACCOUNT", from: 0, to: dayMillis, cutFrom: null, taxYear: null, isBritish: false },
        model: { modelId: 1, sha256: createHash("sha256").update(said).digest("hex"), rows: postings.length },
        fingerprint: `${asked}\n${said}`
      }
    )
  })
