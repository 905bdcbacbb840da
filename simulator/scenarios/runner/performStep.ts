/** Performs the steps of a scenario and compares the results with the expectations. */
import { Effect, type Scope } from "effect"
import type { PartnerClient } from "../../partner/PartnerClient.ts"
import type { ReceivedDelivery } from "../../partner/WebhookReceiver.ts"
import { withMembers } from "./bodies.ts"
import { type Answer, ofCommand, ofRoute, unexpectedIn } from "./Answer.ts"
import { eventually, usualLimitMillis } from "./eventually.ts"
import { killStep } from "./killStep.ts"
import { compareDecimals, difference, hasEachBy, Matcher, shown } from "./matching.ts"
import type { AnswerForm, EventStep, OperatorStep, PartnerStep, ReceiverStep, SentStep, Step } from "./Scenario.ts"
import { type Broken, broken, type Firm, reactionOf, type Session } from "./Session.ts"
import { memberAt, millisOf, UnknownVariable } from "./variables.ts"
import { type Method, parseLine } from "./vocabulary.ts"
import { plural } from "../../../src/machines/shared/Text.ts"

type Performed = Effect.Effect<void, Broken, Scope.Scope>

export const performStep = (session: Session, step: Step): Performed => {
  switch (step.kind) {
    case "partner":
    case "operator":
    case "venue":
      return answered(session, step)
    case "clock":
      return clockStep(session, step.clock)
    case "receiver":
      return receiverStep(session, step)
    case "event":
      return eventStep(session, step)
    case "together":
      return togetherStep(session, step)
    case "kill":
      return killStep(session, step, { send, answered, clientIdOf })
  }
}

const clockStep = (session: Session, ahead: string): Performed =>
  Effect.gen(function* () {
    yield* session.checkClock
    const day = nextDay(ahead, session.now())
    yield* session.command("sim", "clock", "advance", ...(day === null ? [ahead] : ["--to", String(day)]))
    yield* session.checkClock
  })

/**
 * Noon UTC of the next day after `now` with the given month and day (`MM-DD`), Unix ms; null when the text is a duration.
 */
const nextDay = (ahead: string, now: number): number | null => {
  const [, month, number] = /^(\d\d)-(\d\d)$/.exec(ahead) ?? []
  if (month === undefined) return null
  const year = new Date(now).getUTCFullYear()
  const noonOf = (of: number): number => Date.UTC(of, Number(month) - 1, Number(number), 12)
  return noonOf(year) > now ? noonOf(year) : noonOf(year + 1)
}

/** Sends the step, repeatedly if it has a `within`, until its answer is as expected. */
const answered = (session: Session, step: SentStep): Performed =>
  Effect.gen(function* () {
    const expect = yield* filled<AnswerForm>(session, step.expect ?? {})
    let last: Answer | null = null
    const check = Effect.map(send(session, step), (answer) => {
      last = answer
      return unexpectedIn(expect, answer)
    })
    const missing = yield* step.within === undefined ? check : eventually(check, millisOf(step.within))
    if (missing !== null) return yield* broken(missing)
    if (last !== null) yield* keep(session, step, last)
    if (last !== null && step.kind === "partner") reportAnswer(session, last)
  })

/** Reports the step's last request with its answer; earlier ones were only polls. */
const reportAnswer = ({ world, sent }: Session, { status, body, text }: Answer): void => {
  if (sent === null) return
  const { method, path } = sent
  const request: unknown = sent.body === undefined ? null : JSON.parse(sent.body)
  world.observe?.({ kind: "route", method, path, request, status, answer: body ?? text })
}

const send = (session: Session, step: SentStep): Effect.Effect<Answer, Broken, Scope.Scope> => {
  if (step.kind === "partner") return sendPartner(session, step)
  if (step.kind === "venue") return sendCommand(session, ["sim", "venue"], step.venue)
  return sendOperator(session, step)
}

const sendPartner = (session: Session, step: PartnerStep): Effect.Effect<Answer, Broken, Scope.Scope> =>
  Effect.gen(function* () {
    const firm = yield* session.firm(step.by)
    const client = yield* clientFor(session, firm, step.key)
    const key = step.idempotencyKey === undefined ? undefined : yield* text(session, step.idempotencyKey)
    const request = yield* requestOf(session, step, key)
    session.sent = request
    return yield* routeAnswer(client, {
      ...request,
      path: `/partner/v1${request.path}`,
      ...(key === undefined ? {} : { idempotencyKey: key })
    })
  })

interface Request {
  readonly method: Method
  readonly path: string
  readonly body?: string
}

const requestOf = (session: Session, step: PartnerStep, key: string | undefined): Effect.Effect<Request, Broken> =>
  Effect.gen(function* () {
    const line = parseLine(step.partner)
    if (line.type === "wrong") return yield* broken(line.sentence)
    const changes = {
      body: yield* filled<unknown>(session, step.body),
      with: yield* filled<Readonly<Record<string, unknown>>>(session, step.with ?? {}),
      without: step.without ?? []
    }
    if (line.type === "route") {
      const body = withMembers(undefined, changes)
      const path = yield* text(session, line.path)
      return { method: line.method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    }
    const words: Record<string, string> = {}
    for (const [name, word] of Object.entries(line.words)) words[name] = yield* text(session, word)
    const named = line.words.CLIENT ?? line.words.NAME ?? ""
    if (words.CLIENT !== undefined && session.variables.has(words.CLIENT)) {
      words.CLIENT = String(session.variables.get(words.CLIENT))
    }
    const path = line.short.path.replaceAll(/\{([A-Z]+)\}/g, (_, name: string) => words[name] ?? "")
    const { sample } = line.short
    if (sample === undefined) return { method: line.short.method, path }
    const { now, reference } = session.traits(key)
    const input = {
      words,
      person: session.personOf(named),
      tag: session.tag.toLowerCase(),
      now,
      fresh: () => reference,
      answers: (outcome: string) =>
        Effect.runPromise(session.command("sim", "answers", outcome)).then(({ version, answers }) => ({
          version,
          answers
        }))
    }
    const made = yield* Effect.tryPromise({
      try: async () => sample(input),
      catch: (error) => broken(error instanceof Error ? error.message : String(error))
    })
    return { method: line.short.method, path, body: JSON.stringify(withMembers(made, changes)) }
  })

/**
 * The firm's HTTP client with the key that the step names: TRADE (the default), READ, `none` for no key, or the key's text.
 */
const clientFor = (
  session: Session,
  firm: Firm,
  key: string | undefined
): Effect.Effect<PartnerClient, Broken, Scope.Scope> =>
  Effect.gen(function* () {
    if (key === undefined || key === "TRADE") return firm.client
    const known = firm.keys.get(key)
    if (known !== undefined) return known
    const secret =
      key === "READ" ? yield* session.issueKey(firm.code, "READ") : key === "none" ? "" : yield* text(session, key)
    const client = yield* session.clientOf(secret)
    firm.keys.set(key, client)
    return client
  })

const sendOperator = (session: Session, step: OperatorStep): Effect.Effect<Answer, Broken, Scope.Scope> =>
  Effect.gen(function* () {
    const [method = "", path = ""] = step.operator.split(" ")
    if (!/^(GET|POST|PUT|DELETE)$/.test(method)) return yield* sendCommand(session, [], step.operator)
    const client = yield* session.clientOf(session.world.operatorKey)
    const body = yield* filled<unknown>(session, step.body)
    return yield* routeAnswer(client, {
      method: method as Method,
      path: `/operator/v1${yield* text(session, path)}`,
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  })

const sendCommand = (session: Session, before: ReadonlyArray<string>, line: string): Effect.Effect<Answer, Broken> =>
  Effect.gen(function* () {
    const words = splitLine(line)
    if (words === null) return yield* broken("A quotation mark is not closed.")
    const args: Array<string> = [...before]
    for (const word of words) args.push(yield* text(session, word))
    return ofCommand(yield* Effect.promise(() => session.world.command(args)))
  })

const routeAnswer = (
  client: PartnerClient,
  request: Request & { readonly idempotencyKey?: string }
): Effect.Effect<Answer, Broken> =>
  client.send(request).pipe(
    Effect.map(ofRoute),
    Effect.mapError(({ detail }) => broken(`The service sent no answer: ${detail}.`))
  )

/** Saves the variables of the step, and the client that `onboard NAME` makes. */
const keep = (session: Session, step: SentStep, answer: Answer): Effect.Effect<void, Broken> =>
  Effect.gen(function* () {
    if (step.kind === "partner") {
      const [short, name = ""] = step.partner.trim().split(/\s+/)
      if (short === "onboard" && answer.succeeded) {
        session.variables.set(name, memberAt(answer.data, ["clientId"]))
        for (const member of ["clientUid", "partnerClientRef", "kycPackageId"]) {
          session.variables.set(`${name}.${member}`, memberAt(answer.data, [member]))
        }
      }
    }
    yield* saveFrom(session, step.save, answer)
  })

const saveFrom = (
  session: Session,
  save: Readonly<Record<string, string>> | undefined,
  found: object
): Effect.Effect<void, Broken> =>
  Effect.gen(function* () {
    for (const [name, path] of Object.entries(save ?? {})) {
      const value = memberAt(found, path.split("."))
      if (value === undefined) return yield* broken(`The result has no ${path} to save as $${name}: ${shown(found)}`)
      session.variables.set(name, value)
    }
  })

const receiverStep = (session: Session, { receiver: name, by, answers, ahead, register }: ReceiverStep): Performed =>
  Effect.gen(function* () {
    const firm = yield* session.firm(by)
    const known = firm.receivers.get(name)
    const receiver = register === false && known !== undefined ? known : yield* session.register(firm, name)
    receiver.playing.aheadMillis = ahead === undefined ? 0 : millisOf(ahead)
    if (answers === undefined) return
    receiver.playing.reactions = answers.map(reactionOf)
    receiver.playing.next = 0
  })

const eventStep = (session: Session, step: EventStep): Performed =>
  Effect.gen(function* () {
    const firm = yield* session.firm(step.by)
    const data = step.data === undefined ? undefined : yield* filled<unknown>(session, step.data)
    const client = step.client === undefined ? undefined : yield* clientIdOf(session, step.client)
    const wanted = step.times ?? 1
    let found: ReadonlyMap<number, ReceivedDelivery> = new Map()
    const check = Effect.sync(() => {
      const arrived = arrivalsOf(firm, step.at).filter(({ event, body }) => event === step.event && body !== null)
      const of = arrived.filter(({ body }) => client === undefined || body?.clientId === client)
      const fitting = of.filter(({ body }) => difference(data ?? {}, body?.data, "data") === null)
      found = new Map(fitting.map((delivery) => [delivery.id ?? 0, delivery]))
      const one = [...found.values()].find(({ receipts }) => receiptsFit(step.receipts, receipts))
      if (found.size >= wanted && (wanted === 0 || one !== undefined)) return null
      return missingEvent(step, of, firm, data)
    })
    const missing = yield* eventually(check, step.within === undefined ? usualLimitMillis : millisOf(step.within))
    if (missing !== null) return yield* broken(missing)
    if (step.times !== undefined && found.size !== step.times) {
      return yield* broken(`${step.event} arrived ${plural(found.size, "time")}, expected ${step.times}.`)
    }
    const [first] = found.values()
    if (first?.body == null) return
    session.world.observe?.({ kind: "event", event: step.event, body: first.body })
    yield* saveFrom(session, step.save, first.body)
  })

const arrivalsOf = (firm: Firm, at: string | undefined): ReadonlyArray<ReceivedDelivery> =>
  [...firm.receivers.values()].filter(({ name }) => at === undefined || name === at).flatMap(({ arrived }) => arrived)

const receiptsFit = (expected: unknown, receipts: number): boolean =>
  expected === undefined ||
  (expected instanceof Matcher
    ? difference(expected, receipts, "") === null
    : compareDecimals(receipts, expected) === 0)

const missingEvent = (
  step: EventStep,
  ofClient: ReadonlyArray<ReceivedDelivery>,
  firm: Firm,
  data: unknown
): string => {
  const [near] = ofClient.slice(-1)
  const why =
    near === undefined
      ? `the receiver got ${shown(arrivalsOf(firm, undefined).map(({ event, problem }) => problem ?? event))}`
      : (difference(data ?? {}, near.body?.data, "data") ?? `it arrived ${plural(near.receipts, "time")}`)
  return `${step.event} did not arrive as expected: ${why}`
}

/** The id of a client that the scenario onboarded under this name. Any other name is a text that may contain variables. */
const clientIdOf = (session: Session, name: string): Effect.Effect<unknown, Broken> =>
  session.variables.has(name) ? Effect.succeed(session.variables.get(name)) : filled(session, name)

const togetherStep = (session: Session, step: Extract<Step, { readonly kind: "together" }>): Performed =>
  Effect.gen(function* () {
    const answers = yield* Effect.forEach(step.together, (each) => send(session, each), { concurrency: "unbounded" })
    const expected = yield* filled<ReadonlyArray<AnswerForm>>(session, step.answers)
    const fits = hasEachBy(expected, answers, (expect, answer) => unexpectedIn(expect, answer) === null)
    if (!fits || expected.length !== answers.length) {
      return yield* broken(`the answers do not match: ${shown(answers.map(({ status, body }) => ({ status, body })))}`)
    }
    for (const [index, answer] of answers.entries()) {
      const each = step.together[index]
      if (each !== undefined && answer.succeeded) yield* keep(session, each, answer)
    }
  })

const filled = <A>(session: Session, value: unknown): Effect.Effect<A, Broken> =>
  guarded(() => session.variables.fill(value) as A)

const text = (session: Session, value: string): Effect.Effect<string, Broken> =>
  guarded(() => session.variables.textOf(value))

const guarded = <A>(make: () => A): Effect.Effect<A, Broken> =>
  Effect.try({
    try: make,
    catch: (error) => {
      if (error instanceof UnknownVariable) return broken(error.message)
      throw error
    }
  })

/**
 * Splits a command line into words at blanks. Quotation marks keep the blanks inside them. Null when a mark is not closed.
 */
export const splitLine = (line: string): ReadonlyArray<string> | null => {
  if (/["']/.test(line.replaceAll(/"[^"]*"|'[^']*'/g, ""))) return null
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"))
}
