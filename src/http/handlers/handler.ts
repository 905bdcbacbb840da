/**
 * The types of handlers, derived from the endpoint: parameters and query in, data of the success schema out, so that the
 * compiler holds handler and contract together. A handler makes one service call. A body arrives undecoded, because the
 * service validates it with the documented error sentences (A1-02: gates 11 and 12).
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

/** The data of a success: `data` of the envelope, or the complete bare answer. */
type DataOf<Success> = Success extends { readonly code: 0; readonly data: infer Data }
  ? // An answer with further members is bare.
    keyof Success extends "code" | "data"
    ? Data
    : Success
  : Success
/** The data of a success, in the form in which a handler of the endpoint returns it. */
export type Data<E extends Endpoint> = DataOf<E["~Success"]["Type"]>

/** The query with `limit` always set: a list's limit has a default in the contract. */
type WithLimit<Q> = Q extends { readonly limit?: number } ? Q & { readonly limit: number } : Q

/** A success with its data (and its status when the contract has several), an unchanged answer, or a refusal. */
export type Reply<A> =
  | {
      readonly ok: true
      readonly data: A
      readonly status: number | null
      readonly shared?: true
      readonly link?: string
      readonly own?: AnswerHeaders
    }
  /** The caller's copy is still current (RFC 9110, 15.4.5). */
  | { readonly ok: "unchanged"; readonly own: AnswerHeaders }
  | { readonly ok: false; readonly refusal: WireRefusal }

export const done = <A>(data: A, status: number | null = null): Reply<A> => ({ ok: true, data, status })
/** A success of a list. `next` is the reference at which the list continues (RFC 8288); null when the list ends here. */
export const doneUntil = <A>(data: A, next: string | null): Reply<A> => ({
  ok: true,
  data,
  status: null,
  ...(next === null ? {} : { link: `<${next}>; rel="next"` })
})
/** A success with additional headers. */
export const doneWith = <A>(data: A, own: AnswerHeaders): Reply<A> => ({ ok: true, data, status: null, own })
/** 304 with the headers of the 200 answer. */
export const unchanged = (own: AnswerHeaders): Reply<never> => ({ ok: "unchanged", own })
/** A success with an object that never changes and that many callers read: its JSON is rendered once. */
export const shared = <A extends object>(data: A): Reply<A> => ({ ok: true, data, status: null, shared: true })
export const refused = (refusal: WireRefusal): Reply<never> => ({ ok: false, refusal })
/** A success with the row found, or 404 for null. */
export const orUnknown = <A>(found: A | null): Reply<A> =>
  found === null ? refused(gateRefusals.unknownClient) : done(found)
/** Like `orUnknown`, for an object that many callers read. */
export const sharedOrUnknown = <A extends object>(found: A | null): Reply<A> =>
  found === null ? refused(gateRefusals.unknownClient) : shared(found)
/** The verdict as a success or a refusal. */
export const orRefused = <A>(verdict: Verdict<A>): Reply<A> =>
  verdict.ok ? done(verdict.value) : refused(toWire(verdict.refusal))

/** Like `orRefused`, for an object that many callers read. */
export const sharedOrRefused = <A extends object>(verdict: Verdict<A>): Reply<A> =>
  verdict.ok ? shared(verdict.value) : refused(toWire(verdict.refusal))

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

/**
 * A handler of a GET. `lookUp` is needed when the query may name an unknown object, because the 404 precedes errors of the
 * query.
 */
export type Read<E extends Endpoint, P extends Principal = PartnerPrincipal> =
  | ReadRun<E, P>
  | {
      readonly run: ReadRun<E, P>
      /** Checks that the objects exist that the readable part of an invalid query names; null when they do. */
      readonly lookUp: (
        input: Input<E, P> & { readonly query: Partial<E["~Query"]["Type"]> }
      ) => Effect.Effect<WireRefusal | null, DispatchError>
    }

export interface WriteInput<E extends Endpoint, P extends Principal = PartnerPrincipal> extends Input<E, P> {
  readonly body: unknown
  /** The JSON text of the body; for `verbatim` writes only. */
  readonly text: string | undefined
  /** Null for a request without Idempotency-Key. */
  readonly key: KeyedRequest | null
  readonly form: AnswerForm
}

/** A handler of a method other than GET. */
export interface Write<E extends Endpoint, P extends Principal = PartnerPrincipal> {
  /** Returns the row that its commit stored, or the answer when no commit stored one. */
  readonly run: (input: WriteInput<E, P>) => Effect.Effect<Ended, DispatchError>
  /**
   * Set for a write of several commits whose first does not begin the key (`CommitBuilder.beginKey`): the dispatcher then
   * looks up a stored answer before the first commit.
   */
  readonly manyCommits?: true
  /** Adds members to the refusals of this route, also to the refusal of an unreadable body. */
  readonly refusing?: Refusing
  /** Set for a write that stores text unchanged: the write receives the text of the body too. */
  readonly verbatim?: true
  /** Checks that the objects of the path exist, for a request with an unreadable body; null when they do. */
  readonly lookUp?: (input: Input<E, P>) => Effect.Effect<WireRefusal | null, DispatchError>
}

type Run<E extends Endpoint, P extends Principal, A> = (
  input: WriteInput<E, P>,
  store: StoreAnswer<Verdict<A>>
) => Effect.Effect<Verdict<A>, DispatchError>

type Rest<E extends Endpoint, P extends Principal> = Omit<Write<E, P>, "run">

/** Makes a write from a service call; `success` converts its value to the form of the contract. */
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

/** Makes a write from a service that already returns the form of the contract. */
export const write = <E extends Endpoint, P extends Principal = PartnerPrincipal>(
  run: Run<E, P, Data<E>>,
  rest: Rest<E, P> = {}
): Write<E, P> => writeAs<E, Data<E>, P>(done, run, rest)

/** A write that calls the venue; its service stores the answer in the form of the route. */
export const writeCall = <E extends Endpoint>(
  run: (input: WriteInput<E>) => Effect.Effect<Kept<Data<E>>, DispatchError>,
  rest: Rest<E, PartnerPrincipal> = {}
): Write<E> => ({
  ...rest,
  run: (input) =>
    Effect.mapEager(run(input), ({ verdict, row }) => row ?? renderVerdict(input.form, verdict, rest.refusing))
})

/** Renders a refusal in the form of its route. */
export const refusalOf = ({ refusing }: Pick<Write<Endpoint>, "refusing">, refusal: WireRefusal): WireRefusal =>
  refusing === undefined ? refusal : refusing(refusal)

/** Renders a write's reply as the text to store and send. */
export const rendered = (form: AnswerForm, reply: Reply<unknown>): Rendered =>
  reply.ok === true ? renderJson(form, reply.data, reply.status) : renderRefusal(refusalIn(reply))

/** The refusal of a write's reply. Some replies exist for reads only; one of those is a defect here. */
const refusalIn = (reply: Exclude<Reply<unknown>, { readonly ok: true }>): WireRefusal => {
  if (reply.ok === "unchanged") throw new Error("a write answers nothing that its caller has")
  return reply.refusal
}

/** Renders a read's reply in the form of its route. */
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

/** The handlers of a group, by the names of its endpoints. */
export type Handlers<G extends HttpApiGroup.Constraint, P extends Principal = PartnerPrincipal> = {
  readonly [Name in keyof G["endpoints"]]: HandlerOf<G["endpoints"][Name], P>
}
