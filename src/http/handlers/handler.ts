/**
 * What a handler of the contract is: typed by its endpoint, from parameters and query to what the success schema says, so
 * that the compiler holds both equal. Thin by design: one service call each. A body is judged by the service, whose
 * sentences are documented, and so arrives unread (A1-02: gates 11 and 12).
 */
import { Effect } from "effect"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import {
  renderJson,
  renderRefusal,
  type Rendered,
  type Refusing,
  renderVerdict
} from "../../machines/shared/answerText.ts"
import type { Verdict } from "../../machines/shared/Refusal.ts"
import { type DispatchError, type StoreAnswer, storeNothing } from "../../runtime/engine/mailbox/ActorHost.ts"
import { type KeyedRequest, AnswerKeeper } from "../../runtime/services/shared/KeyedRequest.ts"
import type { Kept } from "../../runtime/services/venue/VenueGateway.ts"
import type { PartnerPrincipal, Principal } from "../../runtime/services/partners/Principal.ts"
import {
  type AnswerForm,
  type AnswerHeaders,
  type Outgoing,
  renderShared,
  renderSuccess
} from "../middleware/answers.ts"
import type { Exchange } from "../middleware/Exchange.ts"
import { type Ended } from "../middleware/idempotency.ts"
import { gateRefusals, toWire, type WireRefusal } from "../../machines/shared/wireRefusal.ts"

/** An endpoint of any contract. */
export type Endpoint = HttpApiEndpoint.ConstraintRequest & { readonly method: string }

/** What is answered on success: `data` of the envelope, or the whole of a bare answer. */
type DataOf<Success> = Success extends { readonly code: 0; readonly data: infer Data }
  ? // An answer with members besides these is bare.
    keyof Success extends "code" | "data"
    ? Data
    : Success
  : Success
/** Success data of an endpoint, as its contract says. */
export type Data<E extends Endpoint> = DataOf<E["~Success"]["Type"]>

/** A list's `limit` is always there: the contract's default when it was not sent. */
type WithLimit<Q> = Q extends { readonly limit?: number } ? Q & { readonly limit: number } : Q

/** A success with its data and, where the contract has several statuses, which; or a refusal. */
export type Reply<A> =
  | {
      readonly ok: true
      readonly data: A
      readonly status: number | null
      readonly shared?: true
      readonly link?: string
      readonly own?: AnswerHeaders
    }
  /** The caller has it already (RFC 9110, 15.4.5). */
  | { readonly ok: "unchanged"; readonly own: AnswerHeaders }
  | { readonly ok: false; readonly refusal: WireRefusal }

export const done = <A>(data: A, status: number | null = null): Reply<A> => ({ ok: true, data, status })
/** As `done`, of a list that goes on at `next`, a reference (RFC 8288); null: it ends here. */
export const doneUntil = <A>(data: A, next: string | null): Reply<A> => ({
  ok: true,
  data,
  status: null,
  ...(next === null ? {} : { link: `<${next}>; rel="next"` })
})
/** As `done`, with headers of the answer's own. */
export const doneWith = <A>(data: A, own: AnswerHeaders): Reply<A> => ({ ok: true, data, status: null, own })
/** 304, with the headers that a 200 would have. */
export const unchanged = (own: AnswerHeaders): Reply<never> => ({ ok: "unchanged", own })
/** As `done`, with an object that many readers get and that never changes: it is written as JSON once. */
export const shared = <A extends object>(data: A): Reply<A> => ({ ok: true, data, status: null, shared: true })
export const refused = (refusal: WireRefusal): Reply<never> => ({ ok: false, refusal })
/** What a service found of a client; null: it is none of the caller's. */
export const orUnknown = <A>(found: A | null): Reply<A> =>
  found === null ? refused(gateRefusals.unknownClient) : done(found)
/** As `orUnknown`, of an object that many readers get. */
export const sharedOrUnknown = <A extends object>(found: A | null): Reply<A> =>
  found === null ? refused(gateRefusals.unknownClient) : shared(found)
/** A service's verdict as it is. */
export const orRefused = <A>(verdict: Verdict<A>): Reply<A> =>
  verdict.ok ? done(verdict.value) : refused(toWire(verdict.refusal))

/** As `orRefused`, of an object that many readers get. */
export const sharedOrRefused = <A extends object>(verdict: Verdict<A>): Reply<A> =>
  verdict.ok ? shared(verdict.value) : refused(toWire(verdict.refusal))

/** What every handler is given. */
interface Input<E extends Endpoint, P extends Principal> {
  readonly caller: P["caller"]
  readonly params: E["~Params"]["Type"]
}

export interface ReadInput<E extends Endpoint, P extends Principal = PartnerPrincipal> extends Input<E, P> {
  readonly exchange: Exchange<P>
  readonly query: WithLimit<E["~Query"]["Type"]>
}

type ReadRun<E extends Endpoint, P extends Principal> = (
  input: ReadInput<E, P>
) => Effect.Effect<Reply<Data<E>>, DispatchError>

/** A handler of a GET; with `lookUp` where a query names something that is unknown before the query is refused. */
export type Read<E extends Endpoint, P extends Principal = PartnerPrincipal> =
  | ReadRun<E, P>
  | {
      readonly run: ReadRun<E, P>
      /** Of a query that is refused: what could be read of it. Null: what it names is there. */
      readonly lookUp: (
        input: Input<E, P> & { readonly query: Partial<E["~Query"]["Type"]> }
      ) => Effect.Effect<WireRefusal | null, DispatchError>
    }

export interface WriteInput<E extends Endpoint, P extends Principal = PartnerPrincipal> extends Input<E, P> {
  readonly body: unknown
  /** The JSON that the body was parsed from; of a `verbatim` write alone. */
  readonly text: string | undefined
  /** Null for a request without Idempotency-Key. */
  readonly key: KeyedRequest | null
  readonly form: AnswerForm
}

/** A handler of any other method. */
export interface Write<E extends Endpoint, P extends Principal = PartnerPrincipal> {
  /** The row that its commit stored, or the answer of a request that stored none. */
  readonly run: (input: WriteInput<E, P>) => Effect.Effect<Ended, DispatchError>
  /**
   * Needs more than one commit, and its first does not begin its key (`CommitBuilder.beginKey`): whether that has an answer is
   * looked up before the first.
   */
  readonly manyCommits?: true
  /** How its refusals are shown, where they have members of their own; those of an unread body too. */
  readonly refusing?: Refusing
  /** Keeps something exactly as it is written, so it is handed the body's text too. */
  readonly verbatim?: true
  /** Whether what the path names is there, for a request whose body can't be handed to the service. Null: it is. */
  readonly lookUp?: (input: Input<E, P>) => Effect.Effect<WireRefusal | null, DispatchError>
}

type Run<E extends Endpoint, P extends Principal, A> = (
  input: WriteInput<E, P>,
  store: StoreAnswer<Verdict<A>>
) => Effect.Effect<Verdict<A>, DispatchError>

type Rest<E extends Endpoint, P extends Principal> = Omit<Write<E, P>, "run">

/** A write from the service call behind it, whose value `success` brings into the contract's form. */
export const writeAs = <E extends Endpoint, A, P extends Principal = PartnerPrincipal>(
  success: (value: A) => Reply<Data<E>>,
  run: Run<E, P, A>,
  rest: Rest<E, P> = {}
): Write<E, P> => ({
  ...rest,
  run: (input) => {
    const { key, form } = input
    const render = (verdict: Verdict<A>): Rendered =>
      verdict.ok ? rendered(form, success(verdict.value)) : renderRefusal(refusalOf(rest, toWire(verdict.refusal)))
    if (key === null) return Effect.mapEager(run(input, storeNothing), render)
    const keeper = new AnswerKeeper(key, render)
    return Effect.mapEager(run(input, keeper), (verdict) => keeper.stored ?? render(verdict))
  }
})

/** A write whose service answers in the contract's form. */
export const write = <E extends Endpoint, P extends Principal = PartnerPrincipal>(
  run: Run<E, P, Data<E>>,
  rest: Rest<E, P> = {}
): Write<E, P> => writeAs<E, Data<E>, P>(done, run, rest)

/** A write that calls the venue: its service stores the answer, in the form of the route. */
export const writeCall = <E extends Endpoint>(
  run: (input: WriteInput<E>) => Effect.Effect<Kept<Data<E>>, DispatchError>,
  rest: Rest<E, PartnerPrincipal> = {}
): Write<E> => ({
  ...rest,
  run: (input) =>
    Effect.mapEager(run(input), ({ verdict, row }) => row ?? renderVerdict(input.form, verdict, rest.refusing))
})

/** A refusal as its route shows it. */
export const refusalOf = ({ refusing }: Pick<Write<Endpoint>, "refusing">, refusal: WireRefusal): WireRefusal =>
  refusing === undefined ? refusal : refusing(refusal)

/** A reply of a write as the text that is stored and sent. */
export const rendered = (form: AnswerForm, reply: Reply<unknown>): Rendered =>
  reply.ok === true ? renderJson(form, reply.data, reply.status) : renderRefusal(refusalIn(reply))

/** What only reads answer a write never does. */
const refusalIn = (reply: Exclude<Reply<unknown>, { readonly ok: true }>): WireRefusal => {
  if (reply.ok === "unchanged") throw new Error("a write answers nothing that its caller has")
  return reply.refusal
}

/** A reply of a read in the form of its route. */
export const outgoing = (form: AnswerForm, reply: Reply<unknown>): Outgoing => {
  if (reply.ok === "unchanged") return { status: 304, body: "", own: reply.own }
  if (!reply.ok) return renderRefusal(reply.refusal)
  if (reply.shared === true) return renderShared(form, reply.data as object)
  const { link, own } = reply
  return {
    ...renderSuccess(form, reply.data, reply.status),
    ...(link === undefined ? {} : { link }),
    ...(own === undefined ? {} : { own })
  }
}

type HandlerOf<E, P extends Principal> = E extends Endpoint
  ? E["method"] extends "GET"
    ? Read<E, P>
    : Write<E, P>
  : never

/** The handlers of a group, one an endpoint and named as it. */
export type Handlers<G extends HttpApiGroup.Constraint, P extends Principal = PartnerPrincipal> = {
  readonly [Name in keyof G["endpoints"]]: HandlerOf<G["endpoints"][Name], P>
}
