/**
 * Steps that kill: the run's own service with -9, at once or at a point of its commits, and its database, once or for a period.
 * Both are running again when the step ends (SC-PLT-04, SC-PLT-05).
 */
import { Effect, Exit, type Scope } from "effect"
import type { PartnerClient } from "../../partner/PartnerClient.ts"
import type { Answer } from "./Answer.ts"
import { eventually } from "./eventually.ts"
import type { KillStep, SentStep } from "./Scenario.ts"
import { broken, type Broken, type Session } from "./Session.ts"
import { millisOf } from "./variables.ts"
import type { OwnProcesses } from "./World.ts"

/** How the steps of `during` are sent, with and without checking their answers. */
interface Sending {
  readonly send: (session: Session, step: SentStep) => Effect.Effect<Answer, Broken, Scope.Scope>
  readonly answered: (session: Session, step: SentStep) => Effect.Effect<void, Broken, Scope.Scope>
  /** The id of a client that the scenario names. */
  readonly clientIdOf: (session: Session, name: string) => Effect.Effect<unknown, Broken>
}

/**
 * How long a step waits for the service to reach the point of its kill. A service dies within milliseconds of a request that
 * passes the point.
 */
const pointMillis = 15_000
const backMillis = 60_000
const awayMillis = 10_000
/** The pause between two kills of the database. The service needs longer to restart it. */
const againMillis = 20

export const killStep = (
  session: Session,
  step: KillStep,
  sending: Sending
): Effect.Effect<void, Broken, Scope.Scope> => {
  const { own } = session.world
  if (own === null)
    return Effect.fail(broken("A kill step needs a service of the run's own: sim run --own starts one."))
  return step.kill === "service" ? killService(session, own, step, sending) : killDatabase(session, own, step, sending)
}

const killService = (
  session: Session,
  own: OwnProcesses,
  { at = [], client, during }: KillStep,
  { send, clientIdOf }: Sending
): Effect.Effect<void, Broken, Scope.Scope> =>
  Effect.gen(function* () {
    const subject = client === undefined ? undefined : `client:${String(yield* clientIdOf(session, client))}`
    for (const [index, point] of at.entries()) {
      // Waits for work in flight, whose commits would pass the point before the step does.
      yield* session.command("sim", "verify")
      yield* attempt(() => own.dieAt(point, subject), "The service did not accept the kill point.")
      const step = during[index]
      // The service may die before it answers this step; later steps check whether the step was executed.
      const sent = step === undefined ? null : yield* Effect.exit(send(session, step))
      const ended = yield* Effect.timeoutOption(
        Effect.promise(() => own.ended()),
        pointMillis
      )
      // A service that did not reach the point is restarted too. Otherwise it would die during a later step.
      yield* restart(own)
      if (ended._tag === "None") return yield* broken(`The service did not reach ${point}.`)
      if (sent !== null && Exit.isSuccess(sent) && sent.value.succeeded && point !== "after-commit") {
        return yield* broken(`The service answered ${sent.value.status} before it reached ${point}.`)
      }
    }
    if (at.length === 0) yield* restart(own)
  })

const restart = (own: OwnProcesses): Effect.Effect<void, Broken> =>
  attempt(() => own.restart(), "The service did not restart; --keep keeps its log.")

const attempt = (act: () => Promise<void>, sentence: string): Effect.Effect<void, Broken> =>
  Effect.tryPromise({ try: act, catch: () => broken(sentence) })

const killDatabase = (
  session: Session,
  own: OwnProcesses,
  step: KillStep,
  { answered }: Sending
): Effect.Effect<void, Broken, Scope.Scope> =>
  Effect.gen(function* () {
    if (!own.killDatabase()) return yield* broken("The database of the service is not running.")
    const client = yield* session.clientOf(session.world.operatorKey)
    const end = Date.now() + millisOf(step.for ?? "1ms")
    const outage = Effect.gen(function* () {
      while (Date.now() < end) {
        own.killDatabase()
        yield* Effect.sleep(againMillis)
      }
    })
    const meanwhile = Effect.gen(function* () {
      const still = yield* eventually(Effect.map(complaintOf(client), stillWell), awayMillis)
      if (still !== null) return yield* broken(still)
      yield* Effect.forEach(step.during, (each) => answered(session, each), { discard: true })
    })
    yield* Effect.all([outage, meanwhile], { concurrency: 2, discard: true })
    const missing = yield* eventually(complaintOf(client), backMillis)
    if (missing !== null) return yield* broken(`The service did not recover: ${missing}`)
  })

/** The fault of GET /healthz as a sentence; null if it answers 200. */
const complaintOf = (client: PartnerClient): Effect.Effect<string | null> =>
  client.send({ method: "GET", path: "/healthz" }).pipe(
    Effect.map(({ status }) => (status === 200 ? null : `GET /healthz answers ${status}`)),
    Effect.catch(({ detail }) => Effect.succeed(detail))
  )

/**
 * A complaint while /healthz is still well after the database was killed; null otherwise. The killed server's child processes
 * complete their requests before they end, so the caller repeats this check.
 */
const stillWell = (complaint: string | null): string | null =>
  complaint === null ? "The service reports healthy without its database." : null
