// The route table, made from the contract by reflection, and the matcher over it: exact in case and slashes, ids
// canonical, everything else unknown (A1-01). A table of a dozen routes needs no general router on the hot path.
import { cleanText, codePointLength } from "../../machines/shared/Text.ts"
import { Context } from "effect"
import { HttpApi } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { kycLengths } from "../../machines/shared/Limits.ts"
import { PartnerApi, partnerPrefix } from "../api/PartnerApi.ts"
import { RouteRules } from "../api/RouteRules.ts"

export interface Route {
  /** `noun.verb`, as in the OpenAPI document. */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly rules: RouteRules
  /** Whether the path names a client. */
  readonly ofClient: boolean
}

export interface RouteMatch {
  readonly route: Route
  /** Null when the route names no client, or the segment can't be the id of any. */
  readonly clientId: number | null
  /** Null when the route names no item, or the segment can't be the id of any. */
  readonly itemId: number | null
  /** Null when the route has no reference, or the segment can't be one. */
  readonly partnerClientRef: string | null
}

interface Entry {
  readonly route: Route
  readonly segments: ReadonlyArray<string>
}

/** The routes under the partner prefix, in the order of the contract. */
export const partnerRoutes: ReadonlyArray<Route> = (() => {
  const routes: Array<Route> = []
  HttpApi.reflect(PartnerApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
      if (!endpoint.path.startsWith(`${partnerPrefix}/`)) return
      routes.push({
        operation: `${group.identifier}.${endpoint.identifier}`,
        method: endpoint.method,
        path: endpoint.path,
        rules: Context.get(mergedAnnotations, RouteRules),
        ofClient: endpoint.path.includes("/:clientId")
      })
    }
  })
  return routes
})()

/** By method and number of segments; literal segments before parameters, so that `by-ref` is no client id. */
const entries = ((): ReadonlyMap<string, ReadonlyArray<Entry>> => {
  const table = new Map<string, Array<Entry>>()
  for (const route of partnerRoutes) {
    const segments = route.path.slice(partnerPrefix.length + 1).split("/")
    const key = `${route.method} ${segments.length}`
    const list = table.get(key) ?? []
    list.push({ route, segments })
    table.set(key, list)
  }
  const parameters = ({ segments }: Entry) => segments.filter((segment) => segment.startsWith(":")).length
  for (const list of table.values()) list.sort((a, b) => parameters(a) - parameters(b))
  return table
})()

/** Whether a request target lies under a prefix. */
export const under = (url: string, prefix: string): boolean => {
  if (!url.startsWith(prefix)) return false
  const next = url.charCodeAt(prefix.length)
  return Number.isNaN(next) || next === 47 || next === 63
}

/** The route of a method (GET for HEAD) and a path without query; null when there is none. */
export const matchRoute = (method: string, path: string): RouteMatch | null => {
  if (!path.startsWith(`${partnerPrefix}/`)) return null
  const parts = path.slice(partnerPrefix.length + 1).split("/")
  const candidates = entries.get(`${method} ${parts.length}`)
  if (candidates === undefined) return null
  for (const { route, segments } of candidates) {
    if (
      !segments.every((segment, index) => (segment.startsWith(":") ? parts[index] !== "" : segment === parts[index]))
    ) {
      continue
    }
    let clientId: number | null = null
    let itemId: number | null = null
    let partnerClientRef: string | null = null
    for (const [index, segment] of segments.entries()) {
      if (segment === ":clientId") clientId = parseId(parts[index] ?? "") ?? null
      else if (segment === ":itemId" || segment === ":rid") itemId = parseId(parts[index] ?? "") ?? null
      else if (segment === ":partnerClientRef") partnerClientRef = referenceOf(parts[index] ?? "")
    }
    return { route, clientId, itemId, partnerClientRef }
  }
  return null
}

/** A percent-decoded reference of 1 to 64 characters (A1-18); null when nothing can have it. */
const referenceOf = (segment: string): string | null => {
  try {
    const text = cleanText(decodeURIComponent(segment))
    const length = codePointLength(text)
    return length === 0 || length > kycLengths.partnerClientRef || text.includes("\0") ? null : text
  } catch {
    return null
  }
}
