/** Requests with large bodies that are refused before the body is read, and the servers that refuse them. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { keys } from "./canned.ts"
import { type RunningEdge, startStubEdge } from "./stubEdge.ts"
import { type Running, startStubServer } from "./stubServer.ts"

const mebibyte = 1024 * 1024

/** A request that is refused before its body is read. */
export interface Refused {
  readonly name: string
  readonly path: string
  readonly key: string
  readonly bytes: number
  readonly status: number
  readonly code: number
  /** Sent to the server whose partner has used up its request limit. */
  readonly busy?: true
  /** The declared length alone causes the refusal. */
  readonly declared?: true
}

const onboarding = "/partner/v1/clients"
export const refusals: ReadonlyArray<Refused> = [
  { name: "an unknown key", path: onboarding, key: "pbk_unknown", bytes: 8 * mebibyte, status: 401, code: 4010 },
  { name: "a key that may only read", path: onboarding, key: keys.read, bytes: 8 * mebibyte, status: 403, code: 4034 },
  {
    name: "too many requests",
    path: onboarding,
    key: keys.trade,
    bytes: 8 * mebibyte,
    status: 429,
    code: 4290,
    busy: true
  },
  {
    name: "more than the route takes",
    path: onboarding,
    key: keys.trade,
    bytes: 8 * mebibyte,
    status: 413,
    code: 4000
  },
  {
    name: "more than the edge takes",
    path: onboarding,
    key: keys.trade,
    bytes: 11.75 * mebibyte,
    status: 413,
    code: 4130,
    declared: true
  },
  { name: "the operator surface", path: "/operator/v1/x", key: "bok_x", bytes: 8 * mebibyte, status: 401, code: 4010 },
  { name: "a page", path: "/docs", key: keys.trade, bytes: 8 * mebibyte, status: 404, code: 4004 }
]

/** The route of a caller to the service. */
export const ways = ["the service", "an edge"] as const
export type Way = (typeof ways)[number]

/** A service, a second service whose partner has used up its request limit, and an edge in front of each. */
export const startRefusing = async () => {
  const operatorApp = Effect.succeed(HttpServerResponse.jsonUnsafe({ code: 4010 }, { status: 401 }))
  const free = await startStubServer({ operatorApp })
  const used = await startStubServer()
  used.stub.setPartner({ readPerMinute: 1, tradePerMinute: 1 })
  await used.call("POST", onboarding, { body: {} })
  const edges = { free: await startStubEdge([free]), used: await startStubEdge([used]) }
  return {
    /** The server that a refused request goes to. */
    targetOf: ({ busy }: Refused, way: Way): Running | RunningEdge => {
      if (way === "an edge") return busy === true ? edges.used : edges.free
      return busy === true ? used : free
    },
    close: async () => {
      for (const each of [edges.free, edges.used, free, used]) await each.close()
    }
  }
}
