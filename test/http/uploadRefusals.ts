/** Requests with megabytes of a body that are refused before it is read, and the servers that refuse them. */
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
  /** Of a server whose partner has used its requests up. */
  readonly busy?: true
  /** Refused by its declared length alone. */
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

/** How a caller gets to the service. */
export const ways = ["the service", "an edge"] as const
export type Way = (typeof ways)[number]

/** A service, one whose partner has used its requests up, and an edge before each of them. */
export const startRefusing = async () => {
  const operatorApp = Effect.succeed(HttpServerResponse.jsonUnsafe({ code: 4010 }, { status: 401 }))
  const free = await startStubServer({ operatorApp })
  const used = await startStubServer()
  used.stub.setPartner({ readPerMinute: 1, tradePerMinute: 1 })
  await used.call("POST", onboarding, { body: {} })
  const edges = { free: await startStubEdge([free]), used: await startStubEdge([used]) }
  return {
    /** Where a refused request goes. */
    targetOf: ({ busy }: Refused, way: Way): Running | RunningEdge => {
      if (way === "an edge") return busy === true ? edges.used : edges.free
      return busy === true ? used : free
    },
    close: async () => {
      for (const each of [edges.free, edges.used, free, used]) await each.close()
    }
  }
}
