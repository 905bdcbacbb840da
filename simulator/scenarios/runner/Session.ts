/**
 * The state of one running scenario: firms with keys and receivers, persons, variables. All unique names derive from the first
 * free partner code, so a scenario can run repeatedly, even with the same seed.
 */
import { Effect, Redacted, Schema, type Scope } from "effect"
import { makePartnerClient, type PartnerClient } from "../../partner/PartnerClient.ts"
import { registerWebhook } from "../../partner/registerWebhook.ts"
import { acknowledge, type Reaction } from "../../partner/WebhookBehaviour.ts"
import { type ReceivedDelivery, startWebhookReceiver, type WebhookReceiver } from "../../partner/WebhookReceiver.ts"
import { shown } from "./matching.ts"
import type { PartnerForm, ReactionForm } from "./Scenario.ts"
import { millisOf, Variables } from "./variables.ts"
import type { World } from "./World.ts"

/** A failed step or invariant; the sentence states the finding. */
export class Broken extends Schema.TaggedError<Broken>()("Broken", { sentence: Schema.String }) {
  override get message(): string {
    return this.sentence
  }
}
export const broken = (sentence: string): Broken => new Broken({ sentence })

export interface Receiver {
  readonly name: string
  readonly webhook: WebhookReceiver
  readonly arrived: Array<ReceivedDelivery>
  readonly playing: Playing
}

/** The planned answers of a receiver, and the position of the next one. */
interface Playing {
  reactions: ReadonlyArray<Reaction>
  next: number
  /** How far the receiver's clock is ahead of the machine's, ms. */
  aheadMillis: number
}

export interface Firm {
  readonly code: string
  /** The firm's HTTP client, with its TRADE key. */
  readonly client: PartnerClient
  readonly receivers: Map<string, Receiver>
  readonly keys: Map<string, PartnerClient>
}

interface Traits {
  /** Business time at the first step with this key, Unix ms. */
  readonly now: number
  readonly reference: string
}

/** A rate limit far above the requests of any scenario. Scenarios about limits set their own. */
const generous = 1_000_000
/** The error code of a creation whose partner code or uid prefix another partner already has. */
const codeTaken = 4092
const connections = 16
const timeoutMillis = 20_000

export class Session {
  readonly world: World
  readonly firms = new Map<string, Firm>()
  readonly variables: Variables
  readonly tag: string
  private readonly persons = new Map<string, number>()
  private readonly keyed = new Map<string, Traits>()
  private readonly firstPerson: number
  private references = 0
  private ahead = 0
  /** The last request of a partner step, for error messages; null before the first. */
  sent: { readonly method: string; readonly path: string; readonly body?: string } | null = null

  constructor(world: World, tag: string, firstPerson: number) {
    this.world = world
    this.tag = tag
    this.firstPerson = firstPerson
    this.variables = new Variables(tag.toLowerCase(), () => this.now())
  }

  /** Business time, Unix ms, by the last read of the clock. */
  now(): number {
    return Date.now() + this.ahead
  }

  /** Runs a command that has to succeed; returns its document. */
  command(...args: ReadonlyArray<string>): Effect.Effect<Readonly<Record<string, unknown>>, Broken> {
    return Effect.flatMap(
      Effect.promise(() => this.world.command(args)),
      ({ exit, document, refusal }) =>
        exit === 0
          ? Effect.succeed((document ?? {}) as Readonly<Record<string, unknown>>)
          : Effect.fail(broken(`${args.join(" ")} was refused: ${refusal?.msg ?? shown(document)}`))
    )
  }

  readonly checkClock: Effect.Effect<void, Broken> = Effect.suspend(() =>
    Effect.map(this.command("sim", "clock", "show"), ({ offsetMillis }) => {
      this.ahead = Number(offsetMillis)
    })
  )

  /** The number of the person that the scenario calls by this name. A new name gets the next number. */
  personOf(name: string): number {
    const known = this.persons.get(name)
    if (known !== undefined) return known
    const number = this.firstPerson + this.persons.size
    this.persons.set(name, number)
    return number
  }

  fresh(): string {
    return `${this.tag.toLowerCase()}-${++this.references}`
  }

  /**
   * The time and the reference that make a sample body unique. Steps with the same Idempotency-Key share them, because such
   * steps must send the same body.
   */
  traits(idempotencyKey: string | undefined): Traits {
    const known = idempotencyKey === undefined ? undefined : this.keyed.get(idempotencyKey)
    const traits = known ?? { now: this.now(), reference: this.fresh() }
    if (idempotencyKey !== undefined) this.keyed.set(idempotencyKey, traits)
    return traits
  }

  firm(name = "partner"): Effect.Effect<Firm, Broken> {
    const firm = this.firms.get(name)
    return firm === undefined
      ? Effect.fail(broken(`The scenario has no partner "${name}": add it to given.partners.`))
      : Effect.succeed(firm)
  }

  clientOf(key: string): Effect.Effect<PartnerClient, never, Scope.Scope> {
    const { url, ca } = this.world
    return makePartnerClient({
      origin: () => url,
      key: Redacted.make(key),
      connections,
      timeoutMillis,
      ...(ca === null ? {} : { ca })
    })
  }

  /**
   * Creates a firm; false if another firm has its code. The service decides that, because another run may take the code
   * meanwhile.
   */
  addFirm(name: string, code: string, form: PartnerForm): Effect.Effect<boolean, Broken, Scope.Scope> {
    const create = Effect.fnUntraced(function* (this: Session) {
      const custody = form.custody ?? "PARTNER"
      const owner = ["--name", `Scenario ${code}`, "--legal-name", `Scenario ${code} AG`, "--country", "DE"]
      const asset = custody === "PARTNER" ? ["--collateral-asset", "EURD"] : []
      const terms = ["--licence", "MICA_CASP", "--custody", custody, "--uid-prefix", code, ...asset]
      const sandbox = form.sandbox === true ? ["--sandbox"] : []
      const words = ["partner", "create", "--code", code, ...owner, ...terms, ...sandbox]
      const { exit, refusal } = yield* Effect.promise(() => this.world.command(words))
      if (refusal?.code === codeTaken) return false
      if (exit !== 0) return yield* broken(`The partner ${code} could not be created: ${refusal?.msg ?? exit}`)
      const { reliance = "APPROVED", read = generous, trade = generous } = form
      if (reliance !== "NONE") yield* this.command("partner", "reliance", code, reliance, "--reason", "scenario")
      yield* this.command("partner", "limits", code, "--read", String(read), "--trade", String(trade))
      const client = yield* this.clientOf(yield* this.issueKey(code, "TRADE"))
      const firm: Firm = { code, client, receivers: new Map(), keys: new Map() }
      this.firms.set(name, firm)
      this.variables.set(name, code)
      return true
    })
    return create.call(this)
  }

  issueKey(code: string, scope: "READ" | "TRADE"): Effect.Effect<string, Broken> {
    return Effect.flatMap(this.command("key", "issue", code, "--label", "scenario", "--scope", scope), ({ key }) =>
      typeof key === "string"
        ? Effect.succeed(key)
        : Effect.fail(broken("The service requires a second operator key: start it with --four-eyes none."))
    )
  }

  /** Starts the receiver if necessary and registers it as the endpoint of the firm. */
  register(firm: Firm, name: string): Effect.Effect<Receiver, Broken, Scope.Scope> {
    const registered = Effect.fnUntraced(function* (this: Session) {
      const receiver = firm.receivers.get(name) ?? (yield* this.startReceiver(firm, name))
      yield* Effect.mapError(registerWebhook(firm.client, receiver.webhook), (error) =>
        broken(
          error._tag === "Unreachable"
            ? `The service could not be reached: ${error.detail}.`
            : `The receiver on 127.0.0.1 was refused (${shown(error.answer)}): the service must run with --demo or --allow-webhook-host 127.0.0.1.`
        )
      )
      return receiver
    })
    return registered.call(this)
  }

  private startReceiver(firm: Firm, name: string): Effect.Effect<Receiver, Broken, Scope.Scope> {
    const arrived: Array<ReceivedDelivery> = []
    const playing: Playing = { reactions: [acknowledge], next: 0, aheadMillis: 0 }
    const behaviour = () => playing.reactions[Math.min(playing.next++, playing.reactions.length - 1)] ?? acknowledge
    return this.world.tls.pipe(
      Effect.flatMap((tls) =>
        startWebhookReceiver({
          tls,
          port: 0,
          onDelivery: (delivery) => void arrived.push(delivery),
          behaviour,
          now: () => Date.now() + playing.aheadMillis
        })
      ),
      Effect.mapError(({ sentence }) => broken(sentence)),
      Effect.map((webhook) => {
        const receiver: Receiver = { name, webhook, arrived, playing }
        firm.receivers.set(name, receiver)
        return receiver
      })
    )
  }
}

export const reactionOf = (form: ReactionForm): Reaction => {
  if (form === "silent" || form === "reset") return { type: form }
  if (typeof form === "number") return { type: "answer", status: form }
  const { status, after, location } = form
  return {
    type: "answer",
    status,
    ...(after === undefined ? {} : { delayMillis: millisOf(after) }),
    ...(location === undefined ? {} : { location })
  }
}
