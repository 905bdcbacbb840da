/** Runs one scenario: participants, steps in order, then the invariants. Never fails: the result holds the failure. */
import { Cause, Effect, Exit, type Scope } from "effect"
import { SeededRandom } from "../../partner/SeededRandom.ts"
import { brokenInvariant } from "./invariants.ts"
import { performStep } from "./performStep.ts"
import { otherFirms, type Scenario, type Step } from "./Scenario.ts"
import { type Broken, broken, Session } from "./Session.ts"
import type { World } from "./World.ts"

export interface ScenarioResult {
  readonly id: string
  readonly title: string
  readonly file: string
  readonly ok: boolean
  readonly millis: number
  /** Number of completed steps. */
  readonly done: number
  readonly steps: number
  /** Null if the scenario passed; `line` is null if no step failed. */
  readonly failure: { readonly line: number | null; readonly step: string; readonly sentence: string } | null
}

export interface Watcher {
  readonly began: (scenario: Scenario) => void
  /** Called at the start of a step: its number from 1, and its text. */
  readonly at: (scenario: Scenario, number: number, step: string) => void
  readonly ended: (scenario: Scenario, result: ScenarioResult) => void
}

/** A firm's code is also its uid prefix, which has at most eight characters. That limits the runs of one seed. */
const mostRuns = 36 ** 2

export const runScenario = (
  world: World,
  scenario: Scenario,
  seed: number,
  watcher: Watcher
): Effect.Effect<ScenarioResult> =>
  Effect.gen(function* () {
    const startedAt = Date.now()
    watcher.began(scenario)
    const at: Place = { line: null, step: "given", done: 0 }
    const exit = yield* Effect.exit(Effect.scoped(play(world, scenario, seed, at, watcher)))
    const { id, title, file, steps } = scenario
    const result: ScenarioResult = {
      id,
      title,
      file,
      ok: Exit.isSuccess(exit),
      millis: Date.now() - startedAt,
      done: at.done,
      steps: steps.length,
      failure: Exit.isSuccess(exit) ? null : { line: at.line, step: at.step, sentence: sentenceOf(exit.cause) }
    }
    watcher.ended(scenario, result)
    return result
  })

interface Place {
  line: number | null
  step: string
  done: number
}

const play = (
  world: World,
  scenario: Scenario,
  seed: number,
  at: Place,
  watcher: Watcher
): Effect.Effect<void, Broken, Scope.Scope> =>
  Effect.gen(function* () {
    const random = new SeededRandom(seed ^ hashOf(scenario.id))
    const session = yield* openSession(world, scenario, random)
    for (const name of firmsWithEvents(scenario)) yield* session.register(yield* session.firm(name), "main")
    const given = (line: string) => performStep(session, { kind: "partner", line: 0, partner: line })
    for (const name of scenario.given.clients ?? []) yield* given(`onboard ${name}`)
    for (const name of scenario.given.traders ?? []) {
      for (const line of [`onboard ${name}`, `mifid ${name}`, `answer ${name} PASS`, `report ${name} DEPOSIT 1000`])
        yield* given(line)
    }
    for (const step of scenario.steps) {
      at.line = step.line
      at.step = textOf(step)
      watcher.at(scenario, at.done + 1, at.step)
      yield* performStep(session, step)
      at.done++
    }
    at.line = null
    at.step = "invariants"
    watcher.at(scenario, at.done, at.step)
    const difference = yield* brokenInvariant(session)
    if (difference !== null) return yield* broken(difference)
  })

/** The first free code of the seed's series names the run; the codes of further firms derive from it. */
const openSession = (
  world: World,
  { given, steps }: Scenario,
  random: SeededRandom
): Effect.Effect<Session, Broken, Scope.Scope> =>
  Effect.gen(function* () {
    const stem = `S${random
      .between(0, 36 ** 5 - 1)
      .toString(36)
      .padStart(5, "0")}`.toUpperCase()
    const firstPerson = random.between(1, 90_000)
    for (let run = 0; run < mostRuns; run++) {
      const tag = `${stem}${run.toString(36).toUpperCase()}`
      const session = new Session(world, tag, firstPerson)
      yield* session.checkClock
      if (!(yield* session.addFirm("partner", `${tag}X`, given.partner ?? {}))) continue
      for (const [index, [name, form]] of Object.entries(given.partners ?? {}).entries()) {
        const code = `${tag}${otherFirms[index]}`
        if (!(yield* session.addFirm(name, code, form))) return yield* broken(`Another partner has the code ${code}.`)
      }
      const bends = steps.some(({ kind }) => kind === "venue")
      yield* Effect.addFinalizer((exit) => leave(session, bends && Exit.isFailure(exit)))
      return session
    }
    return yield* broken("This seed has run too often on this service: choose another.")
  })

/**
 * Removes endpoints, because the service would retry deliveries to them for hours. Clears the venue's faults too, because a
 * scenario may have failed before its own `clear`.
 */
const leave = (session: Session, venueIsBent: boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (venueIsBent) yield* Effect.ignore(session.command("sim", "venue", "clear"))
    for (const { client, receivers } of session.firms.values()) {
      if (receivers.size > 0) yield* Effect.ignore(client.send({ method: "DELETE", path: "/partner/v1/webhook" }))
    }
  })

/** Partners with expected events whose receiver no step registers. */
const firmsWithEvents = ({ steps }: Scenario): ReadonlySet<string> => {
  const by = (kind: "event" | "receiver") => steps.flatMap((step) => (step.kind === kind ? [step.by ?? "partner"] : []))
  const own = by("receiver")
  return new Set(by("event").filter((name) => !own.includes(name)))
}

/** The step as one line for reports: its kind, then its main value, such as `clock: 2d`. */
export const textOf = (step: Step): string => {
  switch (step.kind) {
    case "partner":
      return `partner: ${step.partner}`
    case "operator":
      return `operator: ${step.operator}`
    case "venue":
      return `venue: ${step.venue}`
    case "clock":
      return `clock: ${step.clock}`
    case "receiver":
      return `receiver: ${step.receiver}`
    case "event":
      return `event: ${step.event}`
    case "together":
      return `together: ${step.together.map(textOf).join(" | ")}`
    case "kill":
      return `kill: ${step.kill}`
  }
}

const sentenceOf = (cause: Cause.Cause<Broken>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

/** The FNV-1a hash of the id, so that scenarios of one seed make different choices. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193)
  return hash >>> 0
}
