/**
 * Named examples of the refusals that any route can answer, and their assignment to the documented answers. Refusals of only
 * one route are recorded at that route (withExamples.ts). Scenarios record nearly all of them; a few are written by hand,
 * each with the reason (doc 1, Errors).
 */
import type { Reason } from "../../machines/shared/RefusalReason.ts"
import { recorded } from "./recorded.ts"

interface Refused {
  readonly code: number
  readonly msg: string
  readonly error: string
  readonly data?: { readonly reason?: string }
}

export interface RefusalExample {
  readonly summary: string
  readonly value: Refused
}

/** Code and reason of a refusal, which identify it within a status. */
export const kindOfRefusal = ({ code, data }: Refused): string => `${code} ${data?.reason}`

const envelope: ReadonlySet<string> = new Set(["code", "msg", "error", "data"])

/** The first recording of each status and kind that has only the envelope's members. */
const firstRecorded: ReadonlyMap<string, Refused> = new Map(
  Object.values(recorded().operations)
    .flatMap(({ answers }) => Object.entries(answers))
    .flatMap(([status, bodies]) => bodies.map((body) => [status, body as Refused] as const))
    .filter(([status, body]) => Number(status) >= 400 && Object.keys(body).every((name) => envelope.has(name)))
    .toReversed()
    .map(([status, body]) => [`${status} ${kindOfRefusal(body)}`, body])
)

/**
 * Null while the refusal is not recorded. The service must start without the recording, because recording needs the service;
 * a test lists refusals without an example.
 */
const recordedExample = (summary: string, status: number, code: number, reason?: Reason): RefusalExample | null => {
  const value = firstRecorded.get(`${status} ${code} ${reason}`)
  return value === undefined ? null : { summary, value }
}

const refused = (code: number, sentence: string, data?: { readonly [fact: string]: string }): Refused => ({
  code,
  msg: sentence,
  error: sentence,
  ...(data === undefined ? {} : { data })
})

/** Refusals that no scenario can cause, each with the reason. */
const byHand = {
  tooSlow: {
    why: "it takes a minute, or half a minute without a byte",
    summary: "It did not arrive in time",
    value: refused(4000, "The request took too long to arrive.", { reason: "TOO_SLOW" })
  },
  routeCap: {
    why: "a scenario writes its bodies out, and one of that size is unreadable",
    summary: "More than the route takes",
    value: refused(4000, "The request body is larger than this route allows.", { reason: "BODY_TOO_LARGE" })
  },
  edgeCap: {
    why: "the connection ends while the body is still being sent",
    summary: "More than any route takes",
    value: refused(4130, "The request body is larger than 12058624 bytes.")
  },
  unknownRoute: {
    why: "what is recorded belongs to a route",
    summary: "No such route",
    value: refused(4004, "This route or method does not exist.", { reason: "UNKNOWN_ROUTE" })
  },
  inProgress: {
    why: "a request has to take five seconds while another one waits for it",
    summary: "The same request is still in progress",
    value: refused(4092, "The request with this Idempotency-Key is still in progress.", { reason: "IN_PROGRESS" })
  },
  defect: {
    why: "the service has none that could be brought about",
    summary: "A failure of the service",
    value: refused(5000, "The request failed inside the service.", { id: "6f0a1c1e-0b6e-4b53-9a0a-6f6f0f3a2d11" })
  },
  venueAway: {
    why: "the service has to start without ever reaching its venue",
    summary: "Nothing was done",
    value: refused(5020, "The venue can not be reached: nothing was done.")
  },
  unavailable: {
    why: "the database has to be away, or the service full",
    summary: "Overloaded, or the database is away",
    value: refused(5030, "The service can not take this request now: try again shortly.", { reason: "UNAVAILABLE" })
  },
  noVenue: {
    why: "a sandbox always has a venue",
    summary: "No venue is attached",
    value: refused(5030, "No venue is attached to this service.", { reason: "NO_VENUE" })
  }
} as const

/** The names of examples written by hand, each with the reason. */
export const refusalsByHand: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(byHand).map(([name, { why }]) => [name, why])
)

const example = ({ summary, value }: RefusalExample): RefusalExample => ({ summary, value })

const named = {
  fields: recordedExample("Fields that break their rules", 400, 4000, "INVALID_FIELDS"),
  parameters: recordedExample("Parameters that break their rules", 400, 4000, "INVALID_PARAMETERS"),
  unauthorized: recordedExample("No valid key", 401, 4010),
  scope: recordedExample("A key of another scope", 403, 4034),
  suspended: recordedExample("The partner is suspended", 403, 4037),
  unverified: recordedExample("The client's verification lacks a block", 403, 4030),
  unknownClient: recordedExample("No such client of the partner's", 404, 4004, "UNKNOWN_CLIENT"),
  notOffered: recordedExample("No such market, or of another family", 404, 4004, "MARKET_NOT_OFFERED"),
  keyReused: recordedExample("An Idempotency-Key of another request", 409, 4092, "IDEMPOTENCY_KEY_REUSED"),
  accountClosed: recordedExample("The client's account is closed", 409, 4092, "ACCOUNT_CLOSED"),
  rateLimited: recordedExample("Too many requests in a minute", 429, 4290, "RATE_LIMITED"),
  tooSlow: example(byHand.tooSlow),
  routeCap: example(byHand.routeCap),
  edgeCap: example(byHand.edgeCap),
  unknownRoute: example(byHand.unknownRoute),
  inProgress: example(byHand.inProgress),
  defect: example(byHand.defect),
  venueAway: example(byHand.venueAway),
  unavailable: example(byHand.unavailable),
  noVenue: example(byHand.noVenue)
} as const satisfies Readonly<Record<string, RefusalExample | null>>

type Name = keyof typeof named

export const refusalExamples: Readonly<Record<string, RefusalExample>> = Object.fromEntries(
  Object.entries(named).filter((entry): entry is [string, RefusalExample] => entry[1] !== null)
)
type ByStatus = Readonly<Record<number, ReadonlyArray<Name>>>

/** Refusals of a route that is not in `own`. */
const usual: ByStatus = {
  400: ["fields"],
  401: ["unauthorized"],
  403: ["scope", "suspended"],
  404: ["unknownRoute"],
  408: ["tooSlow"],
  409: ["keyReused", "inProgress"],
  413: ["routeCap", "edgeCap"],
  429: ["rateLimited"],
  500: ["defect"],
  502: ["venueAway"],
  503: ["unavailable"]
}

const trading = { 403: ["unverified", "scope", "suspended"], 404: ["notOffered", "unknownClient"] } as const
const venue = { 503: ["unavailable", "noVenue"] } as const
const leverage: ByStatus = { ...venue, 404: trading[404], 409: ["accountClosed", "keyReused", "inProgress"] }

/** Refusals by operation, where they differ from the usual ones. */
const own: Readonly<Record<string, ByStatus>> = {
  "orders.place": { ...trading, ...venue, 409: ["accountClosed", "keyReused", "inProgress"] },
  "orders.explain": { ...trading, ...venue, 409: ["accountClosed"] },
  "orders.cancel": { ...venue, 404: ["unknownClient"], 409: ["accountClosed"] },
  "margin.picture": venue,
  "margin.preview": { ...trading, ...venue, 409: ["accountClosed"] },
  "margin.leverage": { ...venue, 404: trading[404] },
  "margin.chooseLeverage": leverage,
  "margin.postLeverage": leverage
}

/** The usual refusals, of a route with parameters and without a body too. */
const usualOf = (status: number, method: string): ReadonlyArray<Name> =>
  status === 400 && (method === "get" || method === "delete") ? ["parameters"] : (usual[status] ?? [])

/**
 * The examples of a refusal as references to the components, without those recorded at the route. Routes of a client include
 * the unknown client.
 */
export const examplesOfRefusal = (operation: string, method: string, path: string, status: number) => {
  const names = own[operation]?.[status] ?? usualOf(status, method)
  const shown =
    status === 404 && names === usual[404] && path.includes("{clientId}") ? ["unknownClient" as const] : names
  const kinds = (recorded().operations[operation]?.answers[status] ?? []).map((each) => kindOfRefusal(each as Refused))
  return Object.fromEntries(
    shown.flatMap((name) => {
      const found = named[name]
      return found === null || kinds.includes(kindOfRefusal(found.value))
        ? []
        : [[name, { $ref: `#/components/examples/${name}` }] as const]
    })
  )
}
